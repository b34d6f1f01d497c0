// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point: decides how a message goes (short, eager, rendezvous) and matches it on arrival.
//
// This is what the other rooms call. A message is (context, source rank, tag) plus data, and ranks
// are those of the communicator. README.md of this folder describes the protocols and the frames.
//
// Threads:    the caller holds the library lock (core::Guard) at MPI_THREAD_MULTIPLE.
// Allocation: none per message once pools are warm, except for copies of unexpected payloads and of
//             long data that is not contiguous.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "runtime/base/ids.h"
#include "runtime/core/comm.h"
#include "runtime/core/request.h"
#include "runtime/datatype/datatype.h"
#include "runtime/waiting/waiting.h"

namespace lamina::transport {
class OneSided;
}

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

// Both block and return an MPI error class. Nothing is allocated for contiguous short messages.
int Send(const Envelope& to, const Buffer& data, Request::Mode mode);
int Receive(const Envelope& from, const Buffer& into, MPI_Status* status);

// An operation that does not block: its request is made by NewRequest, prepared, and started. It
// completes in Progress.
void PrepareSend(Request* request, const Envelope& to, const Buffer& data, Request::Mode mode);
void PrepareReceive(Request* request, const Envelope& from, const Buffer& into);
void Start(Request* request);

// Withdraws a receive that has matched nothing yet, or a send that has not left. True: the request
// completes as cancelled. A send that waits for its match is asked back, and completes either way.
bool Cancel(Request* request);

// The message that a receive would get, or null if there is none. Fills `status` if there is one.
// With `take` the message is out of matching and belongs to StartMatchedReceive; without, the
// answer may only be compared with null. Probe progresses once; WaitProbe waits for a message, and
// answers null if IsGone().
struct Message;
Message* Probe(const Envelope& from, bool take, MPI_Status* status);
Message* WaitProbe(const Envelope& from, bool take, MPI_Status* status);
// Receives a message that was taken out before. It is gone afterwards.
void StartMatchedReceive(Request* request, Message* message, const Buffer& into);
// Null if `handle` is no message. MPI_MESSAGE_NO_PROC must not be asked for.
Message* FindMessage(MPI_Message handle);
MPI_Message HandleOf(Message* message);
Comm* CommOf(const Message& message);

// True if a message that a receive from `from` would get has arrived. Does not progress.
bool IsThere(const Envelope& from);
// True if `from` names a process that is lost, so that no message will come any more.
bool IsGone(const Envelope& from);
// True if a process of another job that `comm` names has failed. Whoever has heard of that need not
// take part in its collectives to the end, so those who are waited for may not come.
bool IsBroken(const core::Comm& comm);

// A context that nobody in the job has had.
ContextId NewContext();
// Agrees on a context for a new communicator, which no member of `comm` uses. Collective over
// `comm`. Returns an MPI error class; on failure `context` is untouched.
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

// Progresses until `done(argument)`. It polls, yields, and then sleeps (runtime/waiting), and gives
// up the library lock while it sleeps. Another thread may ask `done` meanwhile: it must be quick,
// must not progress, and is not asked again once it has answered true.
void WaitUntil(bool (*done)(void*), void* argument);
// Where the process is profiled, this says for which request a caller of WaitUntil waits, perhaps
// among others; null: for none, or that is not known. The pointer itself may be null.
using AwaitedBy = const core::Request* (*)(bool (*done)(void*), const void* argument);
extern AwaitedBy awaited_by;
// Says that something was completed outside Progress that another thread may sleep for.
void Disturb();
// Waits until `request` is complete.
void Wait(Request* request);
// Says that a test found nothing, which a program may do in a loop. Lets in a thread that wants the
// library lock, and now and then gives up a CPU that a peer may need.
void TestedInVain();
// Wakes `peer` if it sleeps in WaitUntil, so that it asks its condition again.
void Nudge(PeerId peer);
// How the peer's memory is reached without its processor; null if it is not.
transport::OneSided* OneSidedTo(PeerId peer);
// How this process waits.
const waiting::WaitPolicy& Policy();

}  // namespace lamina::p2p
