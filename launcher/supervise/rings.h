// SPDX-License-Identifier: BSD-3-Clause
// What each rank did last, read from its event ring (runtime/base/event_ring.h). A ring is an
// anonymous file that outlives its rank.
//
// Threads: the event loop's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/spawn/spawner.h"
#include "launcher/supervise/lock_waits.h"
#include "launcher/supervise/verdict.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/status.h"
#include "runtime/base/wait_note.h"

namespace lamina::launcher {

class Rings {
 public:
  Rings() = default;
  ~Rings();
  Rings(const Rings&) = delete;
  Rings& operator=(const Rings&) = delete;

  // Makes a ring for each rank, with what lies behind it; see SizeRingFile. It is not called where
  // the Job keeps them.
  Status Make(std::size_t ranks, bool profiled, std::uint64_t trace_bytes, bool keeps_first);
  // The descriptor that the rank inherits; -1 where the Job keeps the rings.
  int Descriptor(std::uint32_t rank) const { return rank < fds_.size() ? fds_[rank] : -1; }

  // `trace`: what Job::TraceOf says of the rank, which is null where rings are kept here.
  LastSeen LastOf(std::uint32_t rank, const RankTrace* trace) const;
  WaitSeen WaitOf(std::uint32_t rank, const RankTrace* trace) const;
  LocksSeen LocksOf(std::uint32_t rank, const RankTrace* trace) const;
  // The last events as lines of text, oldest first.
  std::vector<std::string> LastEventsOf(std::uint32_t rank, const RankTrace* trace) const;

 private:
  using Head = std::array<char, kEventRingHeadBytes>;
  std::optional<Head> HeadOf(std::uint32_t rank, const RankTrace* trace) const;

  std::vector<int> fds_;  // by rank
};

}  // namespace lamina::launcher
