// SPDX-License-Identifier: BSD-3-Clause
// A request: one operation in flight, or a persistent one between two flights.
//
//   made ──start──> active ──Finish()──> complete ──wait/test──> freed, or inactive if persistent
//
// Requests come from a pool, so starting an operation allocates nothing once the pool is warm.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/core/activity.h"
#include "runtime/core/object.h"
#include "runtime/datatype/datatype.h"
#include "transports/transport.h"

namespace lamina::core {

struct Comm;

struct Request : Object {
  static constexpr Kind kKind = Kind::kRequest;
  Request() : Object(kKind) {}

  // kCollective, kActivity: `activity` says what it does; kNull: nothing, as on MPI_PROC_NULL.
  enum class Type : std::uint8_t { kSend, kReceive, kCollective, kActivity, kNull };
  enum class Mode : std::uint8_t { kStandard, kBuffered, kSynchronous, kReady };

  Type type = Type::kNull;
  Mode mode = Mode::kStandard;
  bool complete = false;  // set by Finish() only
  bool active = false;    // false: persistent and not started
  bool persistent = false;
  bool orphan = false;  // MPI_Request_free was called; freed by Finish()
  bool cancelled = false;

  // Result, valid once complete: becomes the MPI_Status.
  int error = MPI_SUCCESS;  // class
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
  std::int64_t bytes = 0;  // received

  // What was asked.
  Comm* comm = nullptr;  // held by reference while the request lives
  ContextId context{};
  Rank peer = MPI_PROC_NULL;  // destination, or source as asked (may be MPI_ANY_SOURCE)
  int match_tag = MPI_ANY_TAG;
  datatype::Buffer buffer;
  // Of `buffer`, held by reference: the application may free it while this is pending.
  datatype::Datatype* held_type = nullptr;

  // Links and progress of runtime/p2p; nobody else looks.
  Request* next = nullptr;
  Request* previous = nullptr;
  PeerId from = kNoPeer;             // matched sender
  std::int64_t moved = 0;            // bytes sent or received so far
  std::uint64_t remote_request = 0;  // the peer's token for it
  std::uint64_t serial = 0;          // order of posting, for wildcards
  std::byte* staging = nullptr;      // packed copy of a non-contiguous buffer, from the heap
  transport::Region region{};
  struct OwnedCompletion : transport::Completion {
    Request* owner = nullptr;
  };
  OwnedCompletion completion;

  Activity* activity = nullptr;  // owned; null for plain messages
  Activity* watcher = nullptr;   // notified when this one ends; not owned
};

// Request pool. Retains `comm` and nothing else.
Request* NewRequest(Comm* comm);
// Keeps `type` alive until the request is freed.
void Hold(Request* request, const datatype::Datatype* type);
void FreeRequest(Request* request);
// Returns the pool's memory; at finalisation.
void DrainRequestPool();

// The operation has ended: sets `complete`, notifies the watcher, or frees an orphan. Arrival walks
// end here.
void Finish(Request* request, int error_class);

// Fills `status` from a complete request (MPI_STATUS_IGNORE is allowed; MPI_ERROR is not touched).
void FillStatus(const Request& request, MPI_Status* status);
// The status of an operation on MPI_PROC_NULL, and of inactive or null requests (section 3.7.3).
void ProcNullStatus(MPI_Status* status);
void EmptyStatus(MPI_Status* status);
// Byte count kept in MPI_Status::MPI_internal.
std::int64_t StatusBytes(const MPI_Status& status);
void SetStatusBytes(MPI_Status* status, std::int64_t bytes);
bool StatusCancelled(const MPI_Status& status);
void SetStatusCancelled(MPI_Status* status, bool cancelled);

}  // namespace lamina::core
