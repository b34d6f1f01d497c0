// SPDX-License-Identifier: BSD-3-Clause
// Says in sentences who waits for whom in a job, from the wait notes of its ranks
// (runtime/base/wait_note.h).
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/event_ring.h"
#include "runtime/base/wait_note.h"

namespace lamina::launcher {

// What is known of a rank.
struct RankView {
  bool running = true;
  bool stopped = false;  // by a signal
  Phase phase = Phase::kStarted;
  std::string call;     // the MPI function that it is in, or was in last; "": none
  bool inside = false;  // within that call
  WaitSeen wait;
  // It waits for a lock of a window: of whom, and who is known to hold it.
  std::optional<std::uint32_t> lock_of;
  bool locks_all = false;  // of all members, and lock_of is one whose lock it takes first
  std::optional<std::uint32_t> lock_holder;
};

// What one rank does: "waits in MPI_Recv for a message from rank 1 with tag 5". `ranks`: how many
// the job has.
std::string DoesWords(const RankView& view, std::size_t ranks);

// True if some rank waits for a process of another job, which may well compute.
bool AnyAwaitsAnotherJob(std::span<const RankView> ranks);

// Returns lines for people: first what is wrong, then what each rank does; equal ranks share a
// line. `now_ms` is by the clock of the notes. With `queues` all that is open follows for each
// rank.
std::vector<std::string> ExplainWaits(std::span<const RankView> ranks, std::uint64_t now_ms,
                                      bool queues);

}  // namespace lamina::launcher
