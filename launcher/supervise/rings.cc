// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/rings.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "launcher/supervise/tuning.h"
#include "runtime/base/anonymous_file.h"
#include "runtime/base/call_names.h"
#include "runtime/base/event_ring.h"

namespace lamina::launcher {

Rings::~Rings() {
  for (const int fd : fds_) close(fd);
}

Status Rings::Make(std::size_t ranks) {
  while (fds_.size() < ranks) {
    Result<int> ring = MakeAnonymousFile("lamina-events");
    if (!ring.ok()) return std::move(ring).status().Within("cannot make an event ring");
    fds_.push_back(*ring);
    if (ftruncate(*ring, static_cast<off_t>(kEventRingBytes)) != 0)
      return SystemError(Code::kResource, errno, "cannot size an event ring");
  }
  return {};
}

LastSeen Rings::LastOf(std::uint32_t rank, const RankTrace* trace) const {
  std::array<std::uint32_t, 4> head{};
  static_assert(offsetof(EventRing, magic) == 0 && offsetof(EventRing, call) == 4 &&
                offsetof(EventRing, inside) == 8 && offsetof(EventRing, phase) == 12);
  LastSeen last;
  if (trace != nullptr && trace->head.size() == sizeof head)
    std::memcpy(head.data(), trace->head.data(), sizeof head);
  else if (rank < fds_.size() && pread(fds_[rank], head.data(), sizeof head, 0) < 0)
    return last;
  if (head[0] != EventRing::kMagic) return last;
  if (head[1] < static_cast<std::uint32_t>(Call::kCount))
    last.call = NameOf(static_cast<Call>(head[1]));
  last.inside = head[2] % 2 == 1;
  last.phase = static_cast<Phase>(head[3]);
  return last;
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
