// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/request.h"

#include <cstring>

#include "runtime/base/check.h"
#include "runtime/core/comm.h"
#include "runtime/trace/trace.h"

namespace lamina::core {
namespace {

// Free requests, linked through `next`. Guarded by the library lock.
constinit Request* pool = nullptr;

}  // namespace

Request* NewRequest(Comm* comm) {
  Request* request = pool;
  if (request != nullptr) {
    pool = request->next;
    *request = Request();
  } else {
    request = new Request;
  }
  request->comm = comm;
  if (comm != nullptr) Retain(comm);
  trace::Raise(trace::Level::kRequests, 1);
  return request;
}

void Hold(Request* request, const datatype::Datatype* type) {
  if (type->predefined) return;
  request->held_type = const_cast<datatype::Datatype*>(type);
  datatype::Retain(request->held_type);
}

void FreeRequest(Request* request) {
  DCHECK(request->kind == Kind::kRequest);
  trace::Lower(trace::Level::kRequests, 1);
  Comm* comm = request->comm;
  if (request->held_type != nullptr) datatype::Release(request->held_type);
  delete request->activity;
  request->kind = Kind::kFreed;
  request->next = pool;
  pool = request;
  if (comm != nullptr) static_cast<void>(Release(comm));
}

void DrainRequestPool() {
  while (pool != nullptr) {
    Request* next = pool->next;
    delete pool;
    pool = next;
  }
}

void Finish(Request* request, int error_class) {
  request->error = error_class;
  request->complete = true;
  if (request->watcher != nullptr) [[unlikely]]
    Notify(request->watcher);
  if (request->orphan) FreeRequest(request);
}

// The bytes of MPI_Status::MPI_internal: [0..1] byte count, [2] cancelled.
std::int64_t StatusBytes(const MPI_Status& status) {
  std::int64_t bytes;
  std::memcpy(&bytes, &status.MPI_internal[0], sizeof bytes);
  return bytes;
}

void SetStatusBytes(MPI_Status* status, std::int64_t bytes) {
  std::memcpy(&status->MPI_internal[0], &bytes, sizeof bytes);
}

bool StatusCancelled(const MPI_Status& status) { return status.MPI_internal[2] != 0; }
void SetStatusCancelled(MPI_Status* status, bool cancelled) {
  status->MPI_internal[2] = cancelled ? 1 : 0;
}

void FillStatus(const Request& request, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = request.source;
  status->MPI_TAG = request.tag;
  SetStatusBytes(status, request.bytes);
  SetStatusCancelled(status, request.cancelled);
}

void ProcNullStatus(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_PROC_NULL;
  status->MPI_TAG = MPI_ANY_TAG;
  SetStatusBytes(status, 0);
  SetStatusCancelled(status, false);
}

void EmptyStatus(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  SetStatusBytes(status, 0);
  SetStatusCancelled(status, false);
}

}  // namespace lamina::core
