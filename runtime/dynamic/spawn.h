// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_spawn and its kin, and what children do in MPI_Init to meet their parents.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/core/comm.h"
#include "runtime/dynamic/meeting.h"
#include "runtime/dynamic/order.h"

namespace lamina::dynamic {

// What the root was asked for. An error class other than MPI_SUCCESS says that it makes no sense.
struct Wish {
  std::vector<Program> programs;
  int error_class = MPI_SUCCESS;
  std::string why;
};
// Collective over `comm`; `wish` counts at `root` alone.
Encounter Spawn(core::Comm* comm, int root, const Wish& wish);

// Called by every rank of a job that was spawned, in MPI_Init. Leaves core::parent null if nobody
// spawned it.
Status MeetParents();

// Called in MPI_Finalize.
void Finish();

}  // namespace lamina::dynamic
