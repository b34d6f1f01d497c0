// SPDX-License-Identifier: BSD-3-Clause
// How a process becomes one that can communicate, and how that ends.
//
// The world model and every session are users of one process. It comes up with the first user.
// After the last user it rests, because peers may hold endpoints to it and another session may
// follow. A resting process is taken down when the program exits.
//
// Threads: any thread may call; calls that meet run one after the other.
#pragma once

#include "runtime/base/status.h"

namespace lamina::assembly {

// Implements MPI_Init*: makes MPI_COMM_WORLD and MPI_COMM_SELF. If it fails, a second try is
// possible.
Status OpenWorld(int thread_level);
// Implements MPI_Finalize: runs the delete functions of MPI_COMM_SELF and completes what is
// pending.
Status CloseWorld();

// Implement MPI_Session_init and MPI_Session_finalize. One Close follows each Open that succeeded.
Status OpenSession(int thread_level);
Status CloseSession();

}  // namespace lamina::assembly
