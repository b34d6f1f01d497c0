// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/rings.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "launcher/supervise/tuning.h"
#include "runtime/base/anonymous_file.h"
#include "runtime/base/call_names.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/trace_table.h"

namespace lamina::launcher {
namespace {

template <class Value, class Head>
Value At(const Head& head, std::size_t offset) {
  Value value;
  std::memcpy(&value, head.data() + offset, sizeof value);
  return value;
}

}  // namespace

Rings::~Rings() {
  for (const int fd : fds_) close(fd);
}

Status Rings::Make(std::size_t ranks, bool profiled, std::uint64_t trace_bytes, bool keeps_first) {
  while (fds_.size() < ranks) {
    Result<int> ring = MakeAnonymousFile("lamina-events");
    if (!ring.ok()) return std::move(ring).status().Within("cannot make an event ring");
    fds_.push_back(*ring);
    if (!SizeRingFile(*ring, profiled, trace_bytes, keeps_first))
      return SystemError(Code::kResource, errno, "cannot size an event ring");
  }
  return {};
}

std::optional<Rings::Head> Rings::HeadOf(std::uint32_t rank, const RankTrace* trace) const {
  Head head{};
  if (trace != nullptr && trace->head.size() >= head.size())
    std::ranges::copy(std::string_view(trace->head).substr(0, head.size()), head.begin());
  else if (rank < fds_.size() && pread(fds_[rank], head.data(), head.size(), 0) < 0)
    return std::nullopt;
  if (At<std::uint32_t>(head, offsetof(EventRing, magic)) != EventRing::kMagic) return std::nullopt;
  return head;
}

LastSeen Rings::LastOf(std::uint32_t rank, const RankTrace* trace) const {
  LastSeen last;
  const std::optional<Head> head = HeadOf(rank, trace);
  if (!head) return last;
  const auto call = At<std::uint32_t>(*head, offsetof(EventRing, call));
  if (call < static_cast<std::uint32_t>(Call::kCount)) last.call = NameOf(static_cast<Call>(call));
  last.inside = At<std::uint32_t>(*head, offsetof(EventRing, inside)) % 2 == 1;
  last.phase = At<Phase>(*head, offsetof(EventRing, phase));
  return last;
}

// A head is followed by the note, if there is one.
WaitSeen Rings::WaitOf(std::uint32_t rank, const RankTrace* trace) const {
  if (trace == nullptr)
    return rank < fds_.size() ? DecodeWaitNote(CopyWaitNote(fds_[rank])) : WaitSeen{};
  if (trace->head.size() <= kEventRingHeadBytes) return {};
  return DecodeWaitNote(std::string_view(trace->head).substr(kEventRingHeadBytes));
}

LocksSeen Rings::LocksOf(std::uint32_t rank, const RankTrace* trace) const {
  const std::optional<Head> head = HeadOf(rank, trace);
  if (!head) return {};
  return {At<LockSeen>(*head, offsetof(EventRing, waits)),
          At<LockSeen>(*head, offsetof(EventRing, queued))};
}

std::vector<std::string> Rings::LastEventsOf(std::uint32_t rank, const RankTrace* trace) const {
  if (trace != nullptr) {
    const auto ring = std::make_unique<EventRing>();
    std::uint64_t next = 0;
    for (const std::string& event : trace->events)
      if (event.size() == sizeof(Event) && next < EventRing::kEvents)
        std::memcpy(&ring->events[next++], event.data(), sizeof(Event));
    ring->next = next;
    return LastEvents(*ring, kEventsShown);
  }
  if (rank >= fds_.size()) return {};
  void* memory = mmap(nullptr, kEventRingBytes, PROT_READ, MAP_SHARED, fds_[rank], 0);
  if (memory == MAP_FAILED) return {};
  const auto* ring = static_cast<const EventRing*>(memory);
  std::vector<std::string> events = LastEvents(*ring, kEventsShown);
  munmap(memory, kEventRingBytes);
  return events;
}

}  // namespace lamina::launcher
