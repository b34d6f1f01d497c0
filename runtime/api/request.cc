// SPDX-License-Identifier: BSD-3-Clause
// This is the completion of requests (MPI-5.0, sections 3.7.3 to 3.7.6 and 3.8.4).
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "runtime/api/arguments.h"
#include "runtime/api/message_arguments.h"
#include "runtime/p2p/p2p.h"

namespace lamina::api {
namespace {

using core::Request;

[[gnu::always_inline]] inline Request* FindRequest(MPI_Request handle) {
  return core::FromHandle<Request>(handle);
}

// Null and inactive requests count as nothing to wait for.
bool IsActive(const Request* request) { return request != nullptr && request->active; }

bool IsGood(MPI_Request handle) {
  return handle == MPI_REQUEST_NULL || FindRequest(handle) != nullptr;
}

int CheckRequests(const char* call, int count, const MPI_Request requests[]) {
  if (count < 0)
    return core::Raise(nullptr, MPI_ERR_ARG, call, "count is %d, must not be negative", count);
  if (count > 0 && requests == nullptr)
    return core::Raise(nullptr, MPI_ERR_ARG, call, "array_of_requests is a null pointer");
  for (int i = 0; i < count; ++i)
    if (!IsGood(requests[i]))
      return core::Raise(nullptr, MPI_ERR_REQUEST, call,
                         "request %d of %d is not a request or has been freed", i, count);
  return MPI_SUCCESS;
}

// Gives the status of a complete request and returns its error class.
int Report(const Request& request, MPI_Status* status) {
  core::FillStatus(request, status);
  return request.activity == nullptr ? request.error : request.activity->Complete(request, status);
}

// Takes a complete request out of the user's hands: fills the status, and makes the handle null
// unless it is persistent. Returns its error class, not yet raised.
int Retire(MPI_Request* handle, Request* request, MPI_Status* status) {
  int error = Report(*request, status);
  if (request->persistent) {
    request->active = false;
    return error;
  }
  if (request->activity != nullptr) [[unlikely]]
    error = request->activity->Free(error);
  core::FreeRequest(request);
  *handle = MPI_REQUEST_NULL;
  return error;
}

// True if reporting the request cannot fail.
bool IsSound(const Request& request) {
  return request.error == MPI_SUCCESS && request.activity == nullptr;
}

// Retires a sound request; this is the short path.
[[gnu::always_inline]] inline void RetireSound(MPI_Request* handle, Request* request,
                                               MPI_Status* status) {
  core::FillStatus(*request, status);
  if (request->persistent) {
    request->active = false;
    return;
  }
  core::FreeRequest(request);
  *handle = MPI_REQUEST_NULL;
}

// This keeps a communicator alive although the request that refers to it goes.
class Kept {
 public:
  explicit Kept(core::Comm* comm) : comm_(comm) {
    if (comm_ != nullptr) core::Retain(comm_);
  }
  ~Kept() {
    if (comm_ != nullptr) static_cast<void>(core::Release(comm_));
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  core::Comm* get() const { return comm_; }

 private:
  core::Comm* const comm_;
};

// Returns what a request that failed says of it itself, before it is retired.
std::string WordsOf(const Request& request) {
  const bool speaks = request.activity != nullptr && request.error != MPI_SUCCESS;
  return speaks ? request.activity->Explain() : std::string();
}

// Raises the error of one request, in words.
int RaiseOne(const Entry& entry, core::Comm* comm, const Request& request, int error,
             const std::string& words) {
  if (!words.empty()) return core::Raise(comm, error, entry.name(), "%s", words.c_str());
  if (request.type == Request::Type::kCollective) return RaiseCollective(entry.name(), comm, error);
  const bool is_send = request.type == Request::Type::kSend;
  return RaiseTransfer(entry.name(), comm, error, is_send ? request.peer : request.source,
                       is_send ? request.match_tag : request.tag, request.bytes);
}

// Retires one request of a single-completion call and raises its error.
int RetireAndRaise(const Entry& entry, MPI_Request* handle, Request* request, MPI_Status* status) {
  if (IsSound(*request)) [[likely]] {
    RetireSound(handle, request, status);
    return MPI_SUCCESS;
  }
  const Kept comm(request->comm);
  Request copy;  // the words are made of this copy
  copy.type = request->type;
  copy.peer = request->peer;
  copy.match_tag = request->match_tag;
  copy.source = request->source;
  copy.tag = request->tag;
  copy.bytes = request->bytes;
  const std::string words = WordsOf(*request);
  const int error = Retire(handle, request, status);
  return error == MPI_SUCCESS ? error : RaiseOne(entry, comm.get(), copy, error, words);
}

// An active non-blocking collective, partitioned transfer or access to a window may be neither
// freed nor cancelled.
bool MustComplete(const Request& request) {
  return (request.type == Request::Type::kCollective && !request.persistent) ||
         request.type == Request::Type::kOneSided ||
         (request.activity != nullptr && request.activity->MustComplete());
}

// Looks at the network once, for a test that would otherwise fail.
void PollOnce() {
  if (!p2p::Progress()) p2p::TestedInVain();
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

// This is the part of a set that has not been seen to be complete yet. A thread that waits for all
// of it is woken once, not for every request.
struct Rest {
  int next;
  const int count;
  const MPI_Request* const requests;
};

bool RestComplete(void* argument) {
  Rest* rest = static_cast<Rest*>(argument);
  for (; rest->next < rest->count; ++rest->next) {
    const Request* request = FindRequest(rest->requests[rest->next]);
    if (IsActive(request) && !request->complete) return false;
  }
  return true;
}

// The first request that is open stands for all that are waited for together.
const Request* AwaitedBy(bool (*done)(void*), const void* argument) {
  std::span<const MPI_Request> requests;
  if (done == RestComplete) {
    const Rest& rest = *static_cast<const Rest*>(argument);
    requests = {rest.requests, static_cast<std::size_t>(rest.count)};
  } else if (done == AnyComplete) {
    const Set& set = *static_cast<const Set*>(argument);
    requests = {set.requests, static_cast<std::size_t>(set.count)};
  }
  for (const MPI_Request handle : requests)
    if (const Request* const request = FindRequest(handle); IsActive(request) && !request->complete)
      return request;
  return nullptr;
}

MPI_Status* At(MPI_Status statuses[], int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

// These are the errors of a call that completes several requests: they are told in the statuses,
// and once by MPI_ERR_IN_STATUS. The statuses have their MPI_ERROR set only if one of the requests
// has an error.
class Errors {
 public:
  Errors(const Entry& entry, int count, MPI_Status statuses[])
      : entry_(entry), count_(count), statuses_(statuses) {}
  ~Errors() {
    if (comm_ != nullptr) static_cast<void>(core::Release(comm_));
  }
  Errors(const Errors&) = delete;
  Errors& operator=(const Errors&) = delete;

  // Keeps the communicator of a request that may fail before it is retired.
  void Expect(const Request& request) {
    if (failed_ || comm_ == request.comm) return;
    if (comm_ != nullptr) static_cast<void>(core::Release(comm_));
    comm_ = request.comm;
    if (comm_ != nullptr) core::Retain(comm_);
  }
  // Adds the result of request number `request`, which has status number `i`; calls come in order.
  void Add(int i, int error, int request) {
    if (error != MPI_SUCCESS) ++failures_;
    if (error != MPI_SUCCESS && !failed_) {
      failed_ = true;
      first_ = request;
      first_error_ = error;
      if (statuses_ != MPI_STATUSES_IGNORE)
        for (int before = 0; before < i; ++before) statuses_[before].MPI_ERROR = MPI_SUCCESS;
    }
    if (failed_ && statuses_ != MPI_STATUSES_IGNORE) statuses_[i].MPI_ERROR = error;
  }
  bool any() const { return failed_; }
  int Raise() const {
    if (!failed_) return MPI_SUCCESS;
    const char* const known = core::ErrorText(first_error_);
    const char* const text = known != nullptr && *known != '\0' ? known : "an error without a name";
    if (failures_ == 1)
      return core::Raise(comm_, MPI_ERR_IN_STATUS, entry_.name(),
                         "request %d of %d, counted from 0, has failed with %s", first_, count_,
                         text);
    return core::Raise(comm_, MPI_ERR_IN_STATUS, entry_.name(),
                       "%d of %d requests have failed, the first of them, counted from 0, is "
                       "request %d with %s",
                       failures_, count_, first_, text);
  }

 private:
  const Entry& entry_;
  const int count_;
  MPI_Status* const statuses_;
  core::Comm* comm_ = nullptr;  // of the first one that failed
  bool failed_ = false;
  int failures_ = 0;
  int first_ = 0;
  int first_error_ = MPI_SUCCESS;
};

// Retires all of a set, all of which are complete or inactive.
int RetireAll(const Entry& entry, const Set& set, MPI_Status statuses[]) {
  Errors errors(entry, set.count, statuses);
  for (int i = 0; i < set.count; ++i) {
    Request* request = FindRequest(set.requests[i]);
    MPI_Status* status = At(statuses, i);
    int error = MPI_SUCCESS;
    if (!IsActive(request)) {
      core::EmptyStatus(status);
    } else if (IsSound(*request)) [[likely]] {
      RetireSound(&set.requests[i], request, status);
      if (!errors.any()) continue;
    } else {
      errors.Expect(*request);
      error = Retire(&set.requests[i], request, status);
    }
    errors.Add(i, error, i);
  }
  return errors.Raise();
}

// Retires what is complete of a set: indices, statuses, and how many.
int RetireSome(const Entry& entry, const Set& set, int* outcount, int indices[],
               MPI_Status statuses[]) {
  Errors errors(entry, set.count, statuses);
  bool active = false;
  int done = 0;
  for (int i = 0; i < set.count; ++i) {
    Request* request = FindRequest(set.requests[i]);
    if (!IsActive(request)) continue;
    active = true;
    if (!request->complete) continue;
    if (!IsSound(*request)) [[unlikely]]
      errors.Expect(*request);
    errors.Add(done, Retire(&set.requests[i], request, At(statuses, done)), i);
    indices[done++] = i;
  }
  *outcount = active ? done : MPI_UNDEFINED;
  return errors.Raise();
}

// Retires the first complete request of a set. Returns false if there is none.
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

// Gives the empty status whole, with its MPI_ERROR (section 3.7.3). Calls that complete requests
// leave that field alone unless one has failed (section 3.2.5); calls that only look are free to.
void GiveEmptyStatus(MPI_Status* status) {
  core::EmptyStatus(status);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
}

}  // namespace

void DescribeWaits() { p2p::awaited_by = AwaitedBy; }

}  // namespace lamina::api

namespace api = lamina::api;
namespace core = lamina::core;
using core::Request;
using lamina::Call;

int PMPI_Wait(MPI_Request* handle, MPI_Status* status) {
  api::Entry entry(Call::MPI_Wait);
  REQUIRE_INITIALIZED(entry);
  REQUIRE(handle != nullptr, nullptr, MPI_ERR_ARG, "request is a null pointer");
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
  REQUIRE(handle != nullptr, nullptr, MPI_ERR_ARG, "request is a null pointer");
  REQUIRE_POINTER(nullptr, flag);
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
  if (requests == nullptr && count > 0) [[unlikely]]
    return api::CheckRequests(entry.name(), count, requests);
  // This looks at each once, for what is pending and for whether there is one that is none.
  int pending = count;
  bool good = count >= 0;
  for (int i = count - 1; i >= 0; --i) {
    const Request* request = api::FindRequest(requests[i]);
    if (request == nullptr)
      good = good && requests[i] == MPI_REQUEST_NULL;
    else if (request->active && !request->complete)
      pending = i;
  }
  if (!good) [[unlikely]]
    return api::CheckRequests(entry.name(), count, requests);
  if (pending < count) {
    api::Rest rest{pending, count, requests};
    lamina::p2p::WaitUntil(api::RestComplete, &rest);
  }
  return api::RetireAll(entry, {count, requests}, statuses);
}
PROFILED(MPI_Waitall);

int PMPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  api::Entry entry(Call::MPI_Testall);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, flag);
  if (const int error = api::CheckRequests(entry.name(), count, requests); error != MPI_SUCCESS)
    return error;
  api::Rest rest{0, count, requests};
  if (!api::RestComplete(&rest)) api::PollOnce();
  *flag = api::RestComplete(&rest) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  return api::RetireAll(entry, {count, requests}, statuses);
}
PROFILED(MPI_Testall);

int PMPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  api::Entry entry(Call::MPI_Waitany);
  REQUIRE_INITIALIZED(entry);
  REQUIRE(index != nullptr, nullptr, MPI_ERR_ARG, "indx is a null pointer");
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
  REQUIRE(index != nullptr, nullptr, MPI_ERR_ARG, "indx is a null pointer");
  REQUIRE_POINTER(nullptr, flag);
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
  REQUIRE_POINTER(nullptr, outcount);
  REQUIRE(incount <= 0 || indices != nullptr, nullptr, MPI_ERR_ARG,
          "array_of_indices is a null pointer");
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
  REQUIRE_POINTER(nullptr, outcount);
  REQUIRE(incount <= 0 || indices != nullptr, nullptr, MPI_ERR_ARG,
          "array_of_indices is a null pointer");
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
  REQUIRE(handle != nullptr, nullptr, MPI_ERR_ARG, "request is a null pointer");
  Request* request = api::FindRequest(*handle);
  REQUIRE(request != nullptr, nullptr, MPI_ERR_REQUEST,
          "request is null, has been freed, or is not a request");
  // An access to a window stays active until it is waited for (section 12.3.5).
  if (request->active && (!request->complete || request->type == Request::Type::kOneSided)) {
    REQUIRE(!api::MustComplete(*request), request->comm, MPI_ERR_REQUEST,
            "request is active and must be completed first");
    request->orphan = true;  // Finish() frees it
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  const api::Kept comm(request->comm);
  const int error =
      request->activity == nullptr ? MPI_SUCCESS : request->activity->Free(MPI_SUCCESS);
  core::FreeRequest(request);
  *handle = MPI_REQUEST_NULL;
  REQUIRE(error == MPI_SUCCESS, comm.get(), error, "the function that frees the request failed");
  return MPI_SUCCESS;
}
PROFILED(MPI_Request_free);

int PMPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  api::Entry entry(Call::MPI_Request_get_status);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, flag);
  if (!api::IsGood(handle)) return api::CheckRequests(entry.name(), 1, &handle);
  const Request* request = api::FindRequest(handle);
  if (!api::IsActive(request)) {
    *flag = 1;
    api::GiveEmptyStatus(status);
    return MPI_SUCCESS;
  }
  if (!request->complete) api::PollOnce();
  *flag = request->complete ? 1 : 0;
  if (!request->complete) return MPI_SUCCESS;
  const int error = api::Report(*request, status);
  if (error == MPI_SUCCESS) return error;
  return api::RaiseOne(entry, request->comm, *request, error, api::WordsOf(*request));
}
PROFILED(MPI_Request_get_status);

int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                MPI_Status statuses[]) {
  api::Entry entry(Call::MPI_Request_get_status_all);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, flag);
  if (const int error = api::CheckRequests(entry.name(), count, requests); error != MPI_SUCCESS)
    return error;
  api::Rest rest{0, count, requests};
  if (!api::RestComplete(&rest)) api::PollOnce();
  *flag = api::RestComplete(&rest) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  api::Errors errors(entry, count, statuses);
  for (int i = 0; i < count; ++i) {
    const Request* request = api::FindRequest(requests[i]);
    int error = MPI_SUCCESS;
    if (api::IsActive(request)) {
      errors.Expect(*request);
      error = api::Report(*request, api::At(statuses, i));
    } else {
      core::EmptyStatus(api::At(statuses, i));
    }
    errors.Add(i, error, i);
  }
  return errors.Raise();
}
PROFILED(MPI_Request_get_status_all);

int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                                MPI_Status* status) {
  api::Entry entry(Call::MPI_Request_get_status_any);
  REQUIRE_INITIALIZED(entry);
  REQUIRE(index != nullptr, nullptr, MPI_ERR_ARG, "indx is a null pointer");
  REQUIRE_POINTER(nullptr, flag);
  if (const int error = api::CheckRequests(entry.name(), count, requests); error != MPI_SUCCESS)
    return error;
  api::Set set{count, const_cast<MPI_Request*>(requests)};
  if (!api::AnyComplete(&set)) api::PollOnce();
  *index = MPI_UNDEFINED;
  *flag = api::AnyComplete(&set) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    const Request* request = api::FindRequest(requests[i]);
    if (!api::IsActive(request) || !request->complete) continue;
    *index = i;
    const int error = api::Report(*request, status);
    if (error == MPI_SUCCESS) return error;
    return api::RaiseOne(entry, request->comm, *request, error, api::WordsOf(*request));
  }
  api::GiveEmptyStatus(status);
  return MPI_SUCCESS;
}
PROFILED(MPI_Request_get_status_any);

int PMPI_Request_get_status_some(int incount, const MPI_Request requests[], int* outcount,
                                 int indices[], MPI_Status statuses[]) {
  api::Entry entry(Call::MPI_Request_get_status_some);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, outcount);
  REQUIRE(incount <= 0 || indices != nullptr, nullptr, MPI_ERR_ARG,
          "array_of_indices is a null pointer");
  if (const int error = api::CheckRequests(entry.name(), incount, requests); error != MPI_SUCCESS)
    return error;
  api::Set set{incount, const_cast<MPI_Request*>(requests)};
  if (!api::AnyComplete(&set)) api::PollOnce();
  api::Errors errors(entry, incount, statuses);
  bool active = false;
  int done = 0;
  for (int i = 0; i < incount; ++i) {
    const Request* request = api::FindRequest(requests[i]);
    if (!api::IsActive(request)) continue;
    active = true;
    if (!request->complete) continue;
    errors.Expect(*request);
    errors.Add(done, api::Report(*request, api::At(statuses, done)), i);
    indices[done++] = i;
  }
  *outcount = active ? done : MPI_UNDEFINED;
  return errors.Raise();
}
PROFILED(MPI_Request_get_status_some);

int PMPI_Cancel(MPI_Request* handle) {
  api::Entry entry(Call::MPI_Cancel);
  REQUIRE_INITIALIZED(entry);
  REQUIRE(handle != nullptr, nullptr, MPI_ERR_ARG, "request is a null pointer");
  Request* request = api::FindRequest(*handle);
  REQUIRE(api::IsActive(request), nullptr, MPI_ERR_REQUEST, "request is null or not active");
  REQUIRE(!api::MustComplete(*request), request->comm, MPI_ERR_REQUEST,
          "requests of this kind cannot be cancelled");
  // What cannot be withdrawn completes normally.
  if (request->activity == nullptr) {
    lamina::p2p::Cancel(request);
    return MPI_SUCCESS;
  }
  const api::Kept comm(request->comm);
  const int error = request->activity->Cancel(request);
  REQUIRE(error == MPI_SUCCESS, comm.get(), error, "the function that cancels the request failed");
  return MPI_SUCCESS;
}
PROFILED(MPI_Cancel);

int PMPI_Test_cancelled(const MPI_Status* status, int* flag) {
  api::Entry entry(Call::MPI_Test_cancelled);
  REQUIRE(status != MPI_STATUS_IGNORE, nullptr, MPI_ERR_ARG, "status is MPI_STATUS_IGNORE");
  REQUIRE_POINTER(nullptr, flag);
  *flag = core::StatusCancelled(*status) ? 1 : 0;
  return MPI_SUCCESS;
}
PROFILED(MPI_Test_cancelled);
