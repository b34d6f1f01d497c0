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

// For a profile, returns how often a plan was looked for on a communicator.
std::uint64_t Searches(const core::Comm& comm);
// Returns the name of what has carried out the last call there, before which plans were looked for
// that often. "": that is not known.
const char* CarriedOutBy(const core::Comm& comm, std::uint64_t searches_before);

// True if there are requests whose progress may call a function of the application, the operation
// of a reduction.
bool MayCallBack();

}  // namespace lamina::collective
