// SPDX-License-Identifier: BSD-3-Clause
// What a process notes in its event ring about locks that somebody waits for. mpiexec reads it
// there for `lamina ps`.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE. If several threads wait, the
//          last one's note is seen.
#pragma once

#include <cstdint>

#include "runtime/base/event_ring.h"
#include "runtime/base/ids.h"
#include "runtime/core/comm.h"

namespace lamina::rma {

inline constexpr Rank kNobody = -1;

// This tells who keeps a lock from others, as far as the process knows.
struct Keeper {
  Rank holder = kNobody;      // has it exclusively
  std::uint32_t sharers = 0;  // have it together
};

// `window`: its private communicator. `type`: of MPI_Win_lock, or kLockAllOfNode.
void Note(LockNote* note, const core::Comm& window, int type, Rank target, const Keeper& keeper);
// Does away with the note if it is about this window.
void Forget(LockNote* note, const core::Comm& window);

}  // namespace lamina::rma
