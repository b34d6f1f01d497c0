// SPDX-License-Identifier: BSD-3-Clause
// Counts the MPI calls of this process for the launcher, if the job is profiled: how often, how
// long, how much of that was waiting, how many bytes.
//
// A profiled process takes the library lock as at MPI_THREAD_MULTIPLE, and the profile is kept
// where the lock is taken and given up. A process that is not profiled pays nothing for it on that
// path.
//
// Threads:    The caller holds the library lock, except in BeginCall.
// Allocation: Nothing is allocated.
#pragma once

#include <cstdint>

#include "runtime/base/call_names.h"
#include "runtime/base/clock.h"
#include "runtime/base/profile_table.h"

namespace lamina::trace {

extern ProfileTable* profile;  // null: this process is not profiled

// Begins to count if the launcher has made room for that.
void StartProfile();
// MPI is not up any more, or (false) is up again.
void SetProfileFinalized(bool finalized);

// Returns the time at which a call began, which EnterCall is told once the lock is taken; 0: the
// process is not profiled.
inline std::uint64_t BeginCall() { return profile != nullptr ? MonotonicNs() : 0; }
// A function that another one calls counts as part of that. `place` is where the program called.
void EnterCall(Call call, const void* place, std::uint64_t began_ns);
void LeaveCall();
// Says how many bytes a collective call is given and gives back, whichever way they go.
void NoteCollective(std::uint64_t sent_bytes, std::uint64_t received_bytes);

// A wait, as part of a call. What has to be waited for within another wait counts once.
class Waiting {
 public:
  Waiting() = default;
  ~Waiting() { Busy(); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  // Nothing has arrived.
  void Idle() {
    if (profile != nullptr && since_ns_ == 0) [[unlikely]]
      Begin();
  }
  void Busy() {
    if (since_ns_ != 0) [[unlikely]]
      End();
  }

 private:
  void Begin();
  void End();
  std::uint64_t since_ns_ = 0;
};

}  // namespace lamina::trace
