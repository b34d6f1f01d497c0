// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/request.h"

#include <cstdlib>
#include <cstring>

namespace lamina::core {
namespace {

constexpr Request MakeOver(Request::Type type) {
  Request over;
  over.type = type;
  over.complete = over.active = true;
  return over;
}

}  // namespace

constinit Request sent_request = MakeOver(Request::Type::kSend);
constinit Request accessed_request = MakeOver(Request::Type::kOneSided);
constinit Request* request_pool = nullptr;

void HoldDerived(Request* request, const datatype::Datatype* type) {
  request->held_type = const_cast<datatype::Datatype*>(type);
  datatype::Retain(request->held_type);
}

void FreeHeld(Request* request) {
  if (request->held_type != nullptr) datatype::Release(request->held_type);
  delete request->activity;
}

void DrainRequestPool() {
  while (request_pool != nullptr) {
    Request* next = request_pool->next;
    std::free(request_pool->staging);
    delete request_pool;
    request_pool = next;
  }
}

void FinishWatched(Request* request) {
  if (request->watcher != nullptr) Notify(request->watcher);
  if (request->orphan) FreeRequest(request);
}

// MPI_Status::MPI_internal keeps the byte count in its first two words and the cancellation in the
// third.
std::int64_t StatusBytes(const MPI_Status& status) {
  std::int64_t bytes;
  std::memcpy(&bytes, &status.MPI_internal[0], sizeof bytes);
  return bytes;
}

bool StatusCancelled(const MPI_Status& status) { return status.MPI_internal[2] != 0; }

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
