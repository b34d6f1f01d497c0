// SPDX-License-Identifier: BSD-3-Clause
// The three ways to carry out a collective call.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include "collectives/call/invocation.h"
#include "runtime/core/request.h"

namespace lamina::collective {

// Blocking. Returns an MPI error class.
int Run(const Invocation& invocation);

// Non-blocking: makes a request that completes in p2p::Progress. Returns MPI_SUCCESS, or an error
// class and no request.
int Start(const Invocation& invocation, core::Request** request);

// Persistent: makes a request that is not active. It is planned and has all the memory it needs.
int Init(const Invocation& invocation, core::Request** request);

// True if there are requests whose progress may call a function of the application, the operation
// of a reduction.
bool MayCallBack();

}  // namespace lamina::collective
