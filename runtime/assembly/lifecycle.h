// SPDX-License-Identifier: BSD-3-Clause
// From nothing to a process that can communicate, and back.
//
// The world model and every session are users of one process. It comes up with the first; with the
// last it goes to rest, because peers may hold endpoints to it and another session may follow. What
// rests is taken down when the program exits.
//
// Threads: any; calls that meet are put in order.
#pragma once

#include "runtime/base/status.h"

namespace lamina::assembly {

// MPI_Init*: MPI_COMM_WORLD and MPI_COMM_SELF. On failure nothing is left behind that a second try
// would trip over.
Status OpenWorld(int thread_level);
// MPI_Finalize: runs the delete functions of MPI_COMM_SELF, completes what is pending.
Status CloseWorld();

// MPI_Session_init and MPI_Session_finalize; each Open that succeeded is followed by one Close.
Status OpenSession(int thread_level);
Status CloseSession();

}  // namespace lamina::assembly
