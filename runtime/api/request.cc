// SPDX-License-Identifier: BSD-3-Clause
// Completion of requests (MPI-5.0, sections 3.7.3 to 3.7.6 and 3.8.4).
#include <algorithm>

#include "runtime/api/message.h"
#include "runtime/p2p/engine.h"

namespace lamina::api {
namespace {

using core::Request;

Request* FindRequest(MPI_Request handle) { return core::FromHandle<Request>(handle); }

// Null and inactive requests count as nothing to wait for.
bool IsActive(const Request* request) { return request != nullptr && request->active; }

bool IsGood(MPI_Request handle) {
  return handle == MPI_REQUEST_NULL || FindRequest(handle) != nullptr;
}

int CheckRequests(const char* call, int count, const MPI_Request requests[]) {
  if (count < 0)
    return core::Raise(nullptr, MPI_ERR_ARG, call, "count is %d, must not be negative", count);
  for (int i = 0; i < count; ++i)
    if (!IsGood(requests[i]))
      return core::Raise(nullptr, MPI_ERR_REQUEST, call, "request %d of %d is none, or was freed",
                         i, count);
  return MPI_SUCCESS;
}

// Takes a complete request out of the user's hands: status filled, handle null unless persistent.
// Returns its error class, not yet raised.
int Retire(MPI_Request* handle, Request* request, MPI_Status* status) {
  core::FillStatus(*request, status);
  const int error = request->error;
  if (request->persistent) {
    request->active = false;
  } else {
    core::FreeRequest(request);
    *handle = MPI_REQUEST_NULL;
  }
  return error;
}

// Retires one request of a single-completion call and raises its error.
int RetireAndRaise(const Entry& entry, MPI_Request* handle, Request* request, MPI_Status* status) {
  if (request->error == MPI_SUCCESS) [[likely]]
    return Retire(handle, request, status);
  core::Comm* comm = request->comm;
  core::Retain(comm);
  const int source = request->type == Request::Type::kSend ? request->peer : request->source;
  const int tag = request->type == Request::Type::kSend ? request->match_tag : request->tag;
  const std::int64_t bytes = request->bytes;
  const int error = Retire(handle, request, status);
  const int raised = RaiseTransfer(entry.name(), comm, error, source, tag, bytes);
  static_cast<void>(core::Release(comm));
  return raised;
}

// One look at the network for a test that would otherwise fail.
void PollOnce() {
  if (!p2p::Progress()) p2p::TheEngine().TestedInVain();
}

struct Set {
  int count;
  MPI_Request* requests;
};

bool AnyComplete(void* argument) {
  const Set* set = static_cast<const Set*>(argument);
  bool active = false;
  for (int i = 0; i < set->count; ++i) {
    const Request* request = FindRequest(set->requests[i]);
    if (!IsActive(request)) continue;
    if (request->complete) return true;
    active = true;
  }
  return !active;
}

bool AllComplete(void* argument) {
  const Set* set = static_cast<const Set*>(argument);
  for (int i = 0; i < set->count; ++i) {
    const Request* request = FindRequest(set->requests[i]);
    if (IsActive(request) && !request->complete) return false;
  }
  return true;
}

MPI_Status* At(MPI_Status statuses[], int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

// Retires all of a set that is complete. An error is told in the statuses, and once by
// MPI_ERR_IN_STATUS.
int RetireAll(const Entry& entry, const Set& set, MPI_Status statuses[]) {
  core::Comm* failed = nullptr;
  for (int i = 0; i < set.count; ++i) {
    Request* request = FindRequest(set.requests[i]);
    MPI_Status* status = At(statuses, i);
    if (!IsActive(request)) {
      core::EmptyStatus(status);
      continue;
    }
    if (request->error != MPI_SUCCESS && failed == nullptr) {
      failed = request->comm;
      core::Retain(failed);
      for (int j = 0; statuses != MPI_STATUSES_IGNORE && j < set.count; ++j)
        statuses[j].MPI_ERROR = MPI_SUCCESS;
    }
    const int error = Retire(&set.requests[i], request, status);
    if (error != MPI_SUCCESS && status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
  }
  if (failed == nullptr) return MPI_SUCCESS;
  const int raised = core::Raise(failed, MPI_ERR_IN_STATUS, entry.name(),
                                 "a request of %d failed; its status has the error", set.count);
  static_cast<void>(core::Release(failed));
  return raised;
}

// Retires what is complete of a set: indices, statuses, and how many.
int RetireSome(const Entry& entry, const Set& set, int* outcount, int indices[],
               MPI_Status statuses[]) {
  int active = 0;
  int done = 0;
  int worst = MPI_SUCCESS;
  core::Comm* failed = nullptr;
  for (int i = 0; i < set.count; ++i) {
    Request* request = FindRequest(set.requests[i]);
    if (!IsActive(request)) continue;
    ++active;
    if (!request->complete) continue;
    if (request->error != MPI_SUCCESS && failed == nullptr) {
      failed = request->comm;
      core::Retain(failed);
    }
    MPI_Status* status = At(statuses, done);
    indices[done] = i;
    ++done;
    const int error = Retire(&set.requests[i], request, status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
    if (error != MPI_SUCCESS) worst = MPI_ERR_IN_STATUS;
  }
  *outcount = active == 0 ? MPI_UNDEFINED : done;
  if (worst == MPI_SUCCESS) return worst;
  const int raised = core::Raise(failed, worst, entry.name(),
                                 "a request of %d failed; its status has the error", set.count);
  static_cast<void>(core::Release(failed));
  return raised;
}

// Retires the first complete request of a set. False: there is none.
bool RetireAny(const Entry& entry, const Set& set, int* index, MPI_Status* status, int* error) {
  bool active = false;
  for (int i = 0; i < set.count; ++i) {
    Request* request = FindRequest(set.requests[i]);
    if (!IsActive(request)) continue;
    active = true;
    if (!request->complete) continue;
    *index = i;
    *error = RetireAndRaise(entry, &set.requests[i], request, status);
    return true;
  }
  if (active) return false;
  *index = MPI_UNDEFINED;
  core::EmptyStatus(status);
  *error = MPI_SUCCESS;
  return true;
}

}  // namespace
}  // namespace lamina::api

namespace api = lamina::api;
namespace core = lamina::core;
using core::Request;
using lamina::Call;

int PMPI_Wait(MPI_Request* handle, MPI_Status* status) {
  api::Entry entry(Call::MPI_Wait);
  REQUIRE_INITIALIZED(entry);
  Request* request = api::FindRequest(*handle);
  if (!api::IsActive(request)) {
    if (!api::IsGood(*handle)) return api::CheckRequests(entry.name(), 1, handle);
    core::EmptyStatus(status);
    return MPI_SUCCESS;
  }
  lamina::p2p::Wait(request);
  return api::RetireAndRaise(entry, handle, request, status);
}
PROFILED(MPI_Wait);

int PMPI_Test(MPI_Request* handle, int* flag, MPI_Status* status) {
  api::Entry entry(Call::MPI_Test);
  REQUIRE_INITIALIZED(entry);
  Request* request = api::FindRequest(*handle);
  if (!api::IsActive(request)) {
    if (!api::IsGood(*handle)) return api::CheckRequests(entry.name(), 1, handle);
    *flag = 1;
    core::EmptyStatus(status);
    return MPI_SUCCESS;
  }
  if (!request->complete) api::PollOnce();
  *flag = request->complete ? 1 : 0;
  if (!request->complete) return MPI_SUCCESS;
  return api::RetireAndRaise(entry, handle, request, status);
}
PROFILED(MPI_Test);

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  api::Entry entry(Call::MPI_Waitall);
  REQUIRE_INITIALIZED(entry);
  if (const int error = api::CheckRequests(entry.name(), count, requests); error != MPI_SUCCESS)
    return error;
  for (int i = 0; i < count; ++i)
    if (Request* request = api::FindRequest(requests[i]); api::IsActive(request))
      lamina::p2p::Wait(request);
  return api::RetireAll(entry, {count, requests}, statuses);
}
PROFILED(MPI_Waitall);

int PMPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  api::Entry entry(Call::MPI_Testall);
  REQUIRE_INITIALIZED(entry);
  if (const int error = api::CheckRequests(entry.name(), count, requests); error != MPI_SUCCESS)
    return error;
  api::Set set{count, requests};
  if (!api::AllComplete(&set)) api::PollOnce();
  *flag = api::AllComplete(&set) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  return api::RetireAll(entry, set, statuses);
}
PROFILED(MPI_Testall);

int PMPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  api::Entry entry(Call::MPI_Waitany);
  REQUIRE_INITIALIZED(entry);
  if (const int error = api::CheckRequests(entry.name(), count, requests); error != MPI_SUCCESS)
    return error;
  api::Set set{count, requests};
  lamina::p2p::WaitUntil(api::AnyComplete, &set);
  int error = MPI_SUCCESS;
  api::RetireAny(entry, set, index, status, &error);
  return error;
}
PROFILED(MPI_Waitany);

int PMPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  api::Entry entry(Call::MPI_Testany);
  REQUIRE_INITIALIZED(entry);
  if (const int error = api::CheckRequests(entry.name(), count, requests); error != MPI_SUCCESS)
    return error;
  api::Set set{count, requests};
  if (!api::AnyComplete(&set)) api::PollOnce();
  int error = MPI_SUCCESS;
  *flag = api::RetireAny(entry, set, index, status, &error) ? 1 : 0;
  if (*flag == 0) *index = MPI_UNDEFINED;
  return error;
}
PROFILED(MPI_Testany);

int PMPI_Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                  MPI_Status statuses[]) {
  api::Entry entry(Call::MPI_Waitsome);
  REQUIRE_INITIALIZED(entry);
  if (const int error = api::CheckRequests(entry.name(), incount, requests); error != MPI_SUCCESS)
    return error;
  api::Set set{incount, requests};
  lamina::p2p::WaitUntil(api::AnyComplete, &set);
  return api::RetireSome(entry, set, outcount, indices, statuses);
}
PROFILED(MPI_Waitsome);

int PMPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                  MPI_Status statuses[]) {
  api::Entry entry(Call::MPI_Testsome);
  REQUIRE_INITIALIZED(entry);
  if (const int error = api::CheckRequests(entry.name(), incount, requests); error != MPI_SUCCESS)
    return error;
  api::Set set{incount, requests};
  if (!api::AnyComplete(&set)) api::PollOnce();
  return api::RetireSome(entry, set, outcount, indices, statuses);
}
PROFILED(MPI_Testsome);

int PMPI_Request_free(MPI_Request* handle) {
  api::Entry entry(Call::MPI_Request_free);
  REQUIRE_INITIALIZED(entry);
  Request* request = api::FindRequest(*handle);
  if (request == nullptr)
    return core::Raise(nullptr, MPI_ERR_REQUEST, entry.name(), "request is null, freed, or none");
  if (request->active && !request->complete)
    request->orphan = true;  // Finish() frees it
  else
    core::FreeRequest(request);
  *handle = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Request_free);

int PMPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  api::Entry entry(Call::MPI_Request_get_status);
  REQUIRE_INITIALIZED(entry);
  if (!api::IsGood(handle)) return api::CheckRequests(entry.name(), 1, &handle);
  const Request* request = api::FindRequest(handle);
  if (!api::IsActive(request)) {
    *flag = 1;
    core::EmptyStatus(status);
    return MPI_SUCCESS;
  }
  if (!request->complete) api::PollOnce();
  *flag = request->complete ? 1 : 0;
  if (request->complete) core::FillStatus(*request, status);
  return MPI_SUCCESS;
}
PROFILED(MPI_Request_get_status);

int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                MPI_Status statuses[]) {
  api::Entry entry(Call::MPI_Request_get_status_all);
  REQUIRE_INITIALIZED(entry);
  if (const int error = api::CheckRequests(entry.name(), count, requests); error != MPI_SUCCESS)
    return error;
  api::Set set{count, const_cast<MPI_Request*>(requests)};
  if (!api::AllComplete(&set)) api::PollOnce();
  *flag = api::AllComplete(&set) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    const Request* request = api::FindRequest(requests[i]);
    if (api::IsActive(request))
      core::FillStatus(*request, api::At(statuses, i));
    else
      core::EmptyStatus(api::At(statuses, i));
  }
  return MPI_SUCCESS;
}
PROFILED(MPI_Request_get_status_all);

int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                                MPI_Status* status) {
  api::Entry entry(Call::MPI_Request_get_status_any);
  REQUIRE_INITIALIZED(entry);
  if (const int error = api::CheckRequests(entry.name(), count, requests); error != MPI_SUCCESS)
    return error;
  api::Set set{count, const_cast<MPI_Request*>(requests)};
  if (!api::AnyComplete(&set)) api::PollOnce();
  *index = MPI_UNDEFINED;
  *flag = api::AnyComplete(&set) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  core::EmptyStatus(status);
  for (int i = 0; i < count; ++i) {
    const Request* request = api::FindRequest(requests[i]);
    if (!api::IsActive(request) || !request->complete) continue;
    *index = i;
    core::FillStatus(*request, status);
    break;
  }
  return MPI_SUCCESS;
}
PROFILED(MPI_Request_get_status_any);

int PMPI_Request_get_status_some(int incount, const MPI_Request requests[], int* outcount,
                                 int indices[], MPI_Status statuses[]) {
  api::Entry entry(Call::MPI_Request_get_status_some);
  REQUIRE_INITIALIZED(entry);
  if (const int error = api::CheckRequests(entry.name(), incount, requests); error != MPI_SUCCESS)
    return error;
  api::Set set{incount, const_cast<MPI_Request*>(requests)};
  if (!api::AnyComplete(&set)) api::PollOnce();
  int active = 0;
  int done = 0;
  for (int i = 0; i < incount; ++i) {
    const Request* request = api::FindRequest(requests[i]);
    if (!api::IsActive(request)) continue;
    ++active;
    if (!request->complete) continue;
    indices[done] = i;
    core::FillStatus(*request, api::At(statuses, done));
    ++done;
  }
  *outcount = active == 0 ? MPI_UNDEFINED : done;
  return MPI_SUCCESS;
}
PROFILED(MPI_Request_get_status_some);

int PMPI_Cancel(MPI_Request* handle) {
  api::Entry entry(Call::MPI_Cancel);
  REQUIRE_INITIALIZED(entry);
  Request* request = api::FindRequest(*handle);
  if (!api::IsActive(request))
    return core::Raise(nullptr, MPI_ERR_REQUEST, entry.name(), "request is null, or not active");
  lamina::p2p::Cancel(request);  // what cannot be withdrawn completes normally
  return MPI_SUCCESS;
}
PROFILED(MPI_Cancel);

int PMPI_Test_cancelled(const MPI_Status* status, int* flag) {
  *flag = core::StatusCancelled(*status) ? 1 : 0;
  return MPI_SUCCESS;
}
PROFILED(MPI_Test_cancelled);
