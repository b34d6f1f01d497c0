// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point: decides how a message goes (short, eager, rendezvous) and matches it on arrival.
//
// This is what api/ and collectives/ call. A message is (context, source rank, tag) plus data;
// ranks are those of the communicator. Protocols and the header's layout are in README.md of this
// folder.
//
// Threads:    the caller holds the library lock (core::Guard) at MPI_THREAD_MULTIPLE.
// Allocation: none per message once pools are warm, except a staging copy of long non-contiguous
//             data and of unexpected payloads.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "runtime/base/ids.h"
#include "runtime/core/comm.h"
#include "runtime/core/request.h"
#include "runtime/datatype/datatype.h"
#include "runtime/waiting/waiting.h"

namespace lamina::p2p {

using core::Comm;
using core::Request;
using datatype::Buffer;
class SendBuffer;  // buffered.h

// Where a message belongs within its communicator.
struct Envelope {
  Comm* comm;
  ContextId context;  // comm->context, or comm->CollectiveContext() inside collectives
  Rank peer;          // destination; source or MPI_ANY_SOURCE for receives; never MPI_PROC_NULL
  int tag;            // or MPI_ANY_TAG for receives
};

// Blocking. Returns an MPI error class. Nothing is allocated for contiguous short messages.
int Send(const Envelope& to, const Buffer& data, Request::Mode mode);
int Receive(const Envelope& from, const Buffer& into, MPI_Status* status);

// Non-blocking: `request` is prepared (NewRequest + Prepare*) and started; it completes in
// Progress.
void PrepareSend(Request* request, const Envelope& to, const Buffer& data, Request::Mode mode);
void PrepareReceive(Request* request, const Envelope& from, const Buffer& into);
void Start(Request* request);

// Withdraws a receive that has matched nothing yet, or a send that has not left. True: it completes
// as cancelled. A send that waits for its match is asked back, and completes either way.
bool Cancel(Request* request);

// The message a receive would get, null if there is none; progresses once. Fills `status` if there
// is. `take`: out of matching, for StartMatchedReceive; else it may only be compared with null.
// WaitProbe waits for one.
struct Message;
Message* Probe(const Envelope& from, bool take, MPI_Status* status);
Message* WaitProbe(const Envelope& from, bool take, MPI_Status* status);
// Receives a message taken out before; consumes it.
void StartMatchedReceive(Request* request, Message* message, const Buffer& into);
// MPI_MESSAGE_NO_PROC excluded; null if `handle` is none.
Message* FindMessage(MPI_Message handle);
MPI_Message HandleOf(Message* message);
Comm* CommOf(const Message& message);

// True if a message that a receive from `from` would get has arrived. Does not progress.
bool IsThere(const Envelope& from);

// A context that nobody in the job has had.
ContextId NewContext();
// A context that no member of `comm` uses, for a new communicator; collective over `comm`. Returns
// an MPI error class; on failure `context` is untouched.
int AgreeContext(Comm* comm, ContextId* context);
// Forgets a freed communicator's matching spaces and what is left in them.
void DropContext(ContextId context);

// How much waits in a context, for tools.
struct Queued {
  std::uint64_t posted;
  std::uint64_t unexpected;
};
Queued QueuedIn(ContextId context);

// One round of progress over all transports, collectives included. True if anything happened.
bool Progress();

// Progresses until `done(argument)`; spins, yields, then sleeps (runtime/waiting). Releases the
// library lock while it sleeps; another thread may then ask `done`, which must be quick, must not
// progress, and is not asked again once it has answered true.
void WaitUntil(bool (*done)(void*), void* argument);
// Something was completed outside Progress that another thread may sleep for.
void Disturb();
// Until `request->complete`.
void Wait(Request* request);
// For a program that tests in a loop: a test found nothing. Lets in a thread that wants the library
// lock, and now and then gives up a CPU that a peer may need.
void TestedInVain();
// Wakes `peer` if it sleeps in WaitUntil, so that it asks its condition again.
void Nudge(PeerId peer);
// How this process waits.
const waiting::WaitPolicy& Policy();

}  // namespace lamina::p2p
