// SPDX-License-Identifier: BSD-3-Clause
// A request is one operation in flight, or a persistent one between two flights.
//
//   made ──start──> active ──Finish()──> complete ──wait/test──> freed, or inactive if persistent
//
// Requests come from a pool, so starting an operation allocates nothing once the pool is warm.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/core/activity.h"
#include "runtime/core/comm.h"
#include "runtime/datatype/datatype.h"
#include "runtime/object/object.h"
#include "runtime/trace/trace.h"
#include "transports/transport.h"

namespace lamina::p2p {
struct Loan;
}

namespace lamina::core {

// What matching and delivery touch stands in the first cache line, the rest of a short message in
// the second; what only long messages need comes behind.
struct alignas(64) Request : Object {
  static constexpr Kind kKind = Kind::kRequest;
  constexpr Request() : Object(kKind) {}

  // With kCollective and kActivity, `activity` says what the request does. kOneSided is an access
  // to a window. kNull does nothing, as on MPI_PROC_NULL.
  enum class Type : std::uint8_t { kSend, kReceive, kCollective, kActivity, kOneSided, kNull };
  enum class Mode : std::uint8_t { kStandard, kBuffered, kSynchronous, kReady };

  Type type = Type::kNull;
  Mode mode = Mode::kStandard;
  bool complete = false;  // set by Finish() only
  bool active = false;    // false: persistent and not started
  bool persistent = false;
  bool orphan = false;  // MPI_Request_free was called; freed by Finish()
  bool cancelled = false;
  bool lent = false;        // a send whose buffer a transport has borrowed
  bool asked_back = false;  // a send that MPI_Cancel wants back from its receiver

  // This is the result, which is valid once the request is complete and becomes the MPI_Status.
  int error = MPI_SUCCESS;  // class
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;

  // This is what was asked.
  Rank peer = MPI_PROC_NULL;  // destination, or source as asked (may be MPI_ANY_SOURCE)
  int match_tag = MPI_ANY_TAG;

  // These are links of runtime/p2p, and nobody else looks at them.
  PeerId from = kNoPeer;    // matched sender
  Request* next = nullptr;  // also of the pool
  Request* previous = nullptr;
  std::uint64_t serial = 0;  // order of posting, for wildcards

  std::int64_t bytes = 0;  // received
  datatype::Buffer buffer;
  Comm* comm = nullptr;  // held by reference while the request lives
  ContextId context{};
  Activity* activity = nullptr;  // owned; null for plain messages
  Activity* watcher = nullptr;   // notified when this one ends; not owned

  // This is the type of `buffer`, held by reference because the application may free it while this
  // is pending.
  datatype::Datatype* held_type = nullptr;

  // This is the progress of a long message in runtime/p2p.
  std::int64_t moved = 0;            // bytes sent or received so far
  std::int64_t wanted = 0;           // bytes that the receiver has asked to be pushed
  std::uint64_t remote_request = 0;  // the peer's token for it
  std::byte* staging = nullptr;      // packed copy of a non-contiguous buffer, from the heap
  struct OwnedCompletion : transport::Completion {
    Request* owner = nullptr;
  };
  OwnedCompletion completion;
  // What lends `buffer` to a transport. Null: it has come back, or nobody waits for it any more.
  p2p::Loan* loan = nullptr;
};

// Every plain send that is over when it has begun shares this request, which is always complete and
// is never freed. So such a send needs no request of its own.
extern Request sent_request;
// The same for accesses to windows.
extern Request accessed_request;

// Free requests are linked through `next`. The library lock guards them.
extern Request* request_pool;

// Takes a request from the pool and retains `comm` (which may be null) and nothing else. Members
// that are always set before they are read keep the values of their last use.
[[gnu::always_inline]] inline Request* NewRequest(Comm* comm) {
  Request* request = request_pool;
  if (request != nullptr) [[likely]] {
    request_pool = request->next;
    request->kind = Kind::kRequest;
    request->type = Request::Type::kNull;
    request->mode = Request::Mode::kStandard;
    request->complete = request->active = request->persistent = false;
    request->orphan = request->cancelled = false;
    request->error = MPI_SUCCESS;
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->bytes = 0;
    request->activity = request->watcher = nullptr;
    request->held_type = nullptr;
  } else {
    request = new Request;
  }
  request->comm = comm;
  if (comm != nullptr) Retain(comm);
  trace::Raise(trace::Level::kRequests, 1);
  return request;
}

// Keeps `type` alive until the request is freed. Predefined types live for ever.
void HoldDerived(Request* request, const datatype::Datatype* type);
inline void Hold(Request* request, const datatype::Datatype* type) {
  if (!type->predefined) HoldDerived(request, type);
}

// Lets go of what is held beside the communicator: a datatype and an activity.
void FreeHeld(Request* request);
[[gnu::always_inline]] inline void FreeRequest(Request* request) {
  if (request == &sent_request || request == &accessed_request) return;
  trace::Lower(trace::Level::kRequests, 1);
  if (request->held_type != nullptr || request->activity != nullptr) [[unlikely]]
    FreeHeld(request);
  request->kind = Kind::kFreed;
  request->next = request_pool;
  request_pool = request;
  if (request->comm != nullptr) static_cast<void>(Release(request->comm));
}

// Returns the pool's memory, at finalisation.
void DrainRequestPool();

// Ends the operation: sets `complete`, notifies the watcher, or frees an orphan. Every arriving
// message ends here.
void FinishWatched(Request* request);
[[gnu::always_inline]] inline void Finish(Request* request, int error_class) {
  request->error = error_class;
  request->complete = true;
  if (request->watcher != nullptr || request->orphan) [[unlikely]]
    FinishWatched(request);
}

// These are the byte count and the cancellation, which are kept in MPI_Status::MPI_internal.
std::int64_t StatusBytes(const MPI_Status& status);
inline void SetStatusBytes(MPI_Status* status, std::int64_t bytes) {
  __builtin_memcpy(&status->MPI_internal[0], &bytes, sizeof bytes);
}
bool StatusCancelled(const MPI_Status& status);
inline void SetStatusCancelled(MPI_Status* status, bool cancelled) {
  status->MPI_internal[2] = cancelled ? 1 : 0;
}

// Fills `status` from a complete request. MPI_STATUS_IGNORE is allowed; MPI_ERROR is not touched.
inline void FillStatus(const Request& request, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = request.source;
  status->MPI_TAG = request.tag;
  SetStatusBytes(status, request.bytes);
  SetStatusCancelled(status, request.cancelled);
}
// Gives the status of an operation on MPI_PROC_NULL and of inactive or null requests (section
// 3.7.3).
void ProcNullStatus(MPI_Status* status);
void EmptyStatus(MPI_Status* status);

}  // namespace lamina::core
