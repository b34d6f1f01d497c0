// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/usage/usage.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/counters.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/process_stat.h"

namespace lamina::launcher {
namespace {

// A rank that starts processes without end is not followed to that.
constexpr std::size_t kProcessesMax = 256;

// The kernel forbids it where a rank is somebody else's, or nobody may look into another process.
bool ReadNumbers(pid_t process, std::uint64_t address, trace::Numbers* numbers) {
  const iovec here{numbers, sizeof *numbers};
  const iovec there{reinterpret_cast<void*>(address), sizeof *numbers};
  return process_vm_readv(process, &here, 1, &there, 1, 0) ==
             static_cast<ssize_t>(sizeof *numbers) &&
         numbers->magic == trace::Numbers::kMagic;
}

void TakeNumbers(const trace::Numbers& numbers, RankUsage* usage) {
  using trace::Counter;
  const auto sum = [&](Counter eager, Counter rendezvous) {
    return numbers.counters[trace::Index(eager)] + numbers.counters[trace::Index(rendezvous)];
  };
  usage->counted = true;
  usage->sent_messages = sum(Counter::kEagerSent, Counter::kRendezvousSent);
  usage->sent_bytes = sum(Counter::kEagerSentBytes, Counter::kRendezvousSentBytes);
  usage->received_messages = sum(Counter::kEagerReceived, Counter::kRendezvousReceived);
  usage->received_bytes = sum(Counter::kEagerReceivedBytes, Counter::kRendezvousReceivedBytes);
  usage->unexpected = numbers.levels[trace::Index(trace::Level::kUnexpected)];
}

}  // namespace

// The process that calls MPI may be one that the rank has started, as where that is a script.
RankUsage MeasureRank(std::uint32_t rank, std::int64_t process, int ring) {
  const auto tick_ns = static_cast<std::uint64_t>(1'000'000'000 / sysconf(_SC_CLK_TCK));
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  RankUsage usage;
  usage.rank = rank;
  usage.taken_ns = MonotonicNs();
  std::uint64_t address = 0;
  if (pread(ring, &address, sizeof address, offsetof(EventRing, counters)) != sizeof address)
    address = 0;
  std::vector<pid_t> all;
  if (process > 0) all.push_back(static_cast<pid_t>(process));
  trace::Numbers numbers;
  for (std::size_t at = 0; at < all.size() && at < kProcessesMax; ++at) {
    const std::optional<ProcessStat> stat = StatOf(all[at]);
    if (!stat) continue;
    // A script that waits for the program is not what people want to know.
    if (at == 0 || stat->state == 'R') usage.state = stat->state;
    usage.cpu_ns += stat->cpu_ticks * tick_ns;
    usage.memory_bytes += stat->pages * page_bytes;
    if (address != 0 && !usage.counted && ReadNumbers(all[at], address, &numbers))
      TakeNumbers(numbers, &usage);
    const std::vector<pid_t> children = ChildrenOf(all[at]);
    all.insert(all.end(), children.begin(), children.end());
  }
  return usage;
}

}  // namespace lamina::launcher
