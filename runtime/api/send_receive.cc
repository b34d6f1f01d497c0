// SPDX-License-Identifier: BSD-3-Clause
// These are blocking, non-blocking and persistent sends and receives (MPI-5.0, sections 3.2 to
// 3.9). The forms with MPI_Count are the implementation; the int forms widen their count.
#include "runtime/api/arguments.h"
#include "runtime/api/message_arguments.h"
#include "runtime/p2p/buffered.h"
#include "runtime/p2p/short_send.h"

namespace lamina::api {
namespace {

using core::Request;
using Mode = core::Request::Mode;

// Such a send is over when its data has left.
constexpr bool IsPlain(Mode mode) { return mode == Mode::kStandard || mode == Mode::kReady; }

[[gnu::always_inline]] inline int BlockingSend(Call call, Mode mode, const void* buffer,
                                               MPI_Count count, MPI_Datatype datatype, int dest,
                                               int tag, MPI_Comm comm) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const MessageArguments found =
      FindMessageArguments(entry, buffer, count, datatype, dest, tag, comm, Side::kSend);
  if (found.error != MPI_SUCCESS) [[unlikely]]
    return found.error;
  if (dest == MPI_PROC_NULL) return MPI_SUCCESS;
  const p2p::Envelope to{found.comm, found.comm->context, dest, tag};
  if (IsPlain(mode) && p2p::TrySendNow(to, found.buffer)) [[likely]]
    return MPI_SUCCESS;
  const int error = mode == Mode::kBuffered ? p2p::SendBuffered(to, found.buffer)
                                            : p2p::Send(to, found.buffer, mode);
  if (error == MPI_SUCCESS) [[likely]]
    return error;
  return RaiseTransfer(entry.name(), found.comm, error, dest, tag, 0);
}

[[gnu::always_inline]] inline int BlockingReceive(Call call, void* buffer, MPI_Count count,
                                                  MPI_Datatype datatype, int source, int tag,
                                                  MPI_Comm comm, MPI_Status* status) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const MessageArguments found =
      FindMessageArguments(entry, buffer, count, datatype, source, tag, comm, Side::kReceive);
  if (found.error != MPI_SUCCESS) [[unlikely]]
    return found.error;
  if (source == MPI_PROC_NULL) {
    core::ProcNullStatus(status);
    return MPI_SUCCESS;
  }
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int error =
      p2p::Receive({found.comm, found.comm->context, source, tag}, found.buffer, status);
  if (error == MPI_SUCCESS) [[likely]]
    return error;
  return RaiseTransfer(entry.name(), found.comm, error, status->MPI_SOURCE, status->MPI_TAG,
                       core::StatusBytes(*status));
}

// Makes a request for an operation on MPI_PROC_NULL, which is complete from the start.
void MakeNull(Request* request) {
  request->type = Request::Type::kNull;
  request->source = MPI_PROC_NULL;
  request->tag = MPI_ANY_TAG;
  request->bytes = 0;
  request->complete = true;
}

// Starts a prepared request. A buffered send is over when its data is copied.
int StartRequest(Request* request) {
  request->active = true;
  if (request->type == Request::Type::kNull) return MPI_SUCCESS;
  if (request->activity != nullptr) {
    request->complete = false;
    const int error = request->activity->Start(request);
    request->active = error == MPI_SUCCESS;
    return error;
  }
  if (request->type == Request::Type::kSend && request->mode == Mode::kBuffered) {
    const p2p::Envelope to{request->comm, request->context, request->peer, request->match_tag};
    const int error = p2p::SendBuffered(to, request->buffer);
    request->active = error == MPI_SUCCESS;
    if (error == MPI_SUCCESS) core::Finish(request, MPI_SUCCESS);
    return error;
  }
  p2p::Start(request);
  return MPI_SUCCESS;
}

// Starts one persistent request of any kind, for MPI_Start.
int StartOne(const Entry& entry, MPI_Request handle) {
  Request* request = core::FromHandle<Request>(handle);
  REQUIRE(request != nullptr && request->persistent, nullptr, MPI_ERR_REQUEST,
          "request is null, has been freed, or is not persistent");
  REQUIRE(!request->active, request->comm, MPI_ERR_REQUEST,
          "request is active already; complete it first");
  const int error = StartRequest(request);
  if (error == MPI_SUCCESS) [[likely]]
    return error;
  return RaiseTransfer(entry.name(), request->comm, error, request->peer, request->match_tag, 0);
}

enum class When { kNow, kLater };

[[gnu::always_inline]] inline int MakeRequest(Call call, Side side, Mode mode, When when,
                                              const void* buffer, MPI_Count count,
                                              MPI_Datatype datatype, int peer, int tag,
                                              MPI_Comm comm, MPI_Request* handle) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const MessageArguments found =
      FindMessageArguments(entry, buffer, count, datatype, peer, tag, comm, side);
  if (found.error != MPI_SUCCESS) [[unlikely]]
    return found.error;
  REQUIRE(handle != nullptr, found.comm, MPI_ERR_ARG, "request is a null pointer");
  const p2p::Envelope envelope{found.comm, found.comm->context, peer, tag};
  if (side == Side::kSend && when == When::kNow && IsPlain(mode) && peer != MPI_PROC_NULL &&
      p2p::TrySendNow(envelope, found.buffer)) [[likely]] {
    *handle = core::ToHandle<MPI_Request>(&core::sent_request);
    return MPI_SUCCESS;
  }
  Request* request = core::NewRequest(found.comm);
  core::Hold(request, found.buffer.type);
  request->persistent = when == When::kLater;
  if (peer == MPI_PROC_NULL)
    MakeNull(request);
  else if (side == Side::kSend)
    p2p::PrepareSend(request, envelope, found.buffer, mode);
  else
    p2p::PrepareReceive(request, envelope, found.buffer);
  if (when == When::kNow) {
    const int error = StartRequest(request);
    if (error != MPI_SUCCESS) {
      core::FreeRequest(request);
      return RaiseTransfer(entry.name(), found.comm, error, peer, tag, 0);
    }
  }
  *handle = core::ToHandle<MPI_Request>(request);
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace lamina::api

using lamina::Call;
using lamina::api::BlockingReceive;
using lamina::api::BlockingSend;
using lamina::api::MakeRequest;
using lamina::api::Side;
using lamina::api::When;
using Mode = lamina::core::Request::Mode;

int PMPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return BlockingSend(Call::MPI_Send, Mode::kStandard, buf, count, datatype, dest, tag, comm);
}
PROFILED(MPI_Send);

int PMPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm) {
  return BlockingSend(Call::MPI_Send_c, Mode::kStandard, buf, count, datatype, dest, tag, comm);
}
PROFILED(MPI_Send_c);

int PMPI_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm) {
  return BlockingSend(Call::MPI_Bsend, Mode::kBuffered, buf, count, datatype, dest, tag, comm);
}
PROFILED(MPI_Bsend);

int PMPI_Bsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm) {
  return BlockingSend(Call::MPI_Bsend_c, Mode::kBuffered, buf, count, datatype, dest, tag, comm);
}
PROFILED(MPI_Bsend_c);

int PMPI_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm) {
  return BlockingSend(Call::MPI_Ssend, Mode::kSynchronous, buf, count, datatype, dest, tag, comm);
}
PROFILED(MPI_Ssend);

int PMPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm) {
  return BlockingSend(Call::MPI_Ssend_c, Mode::kSynchronous, buf, count, datatype, dest, tag, comm);
}
PROFILED(MPI_Ssend_c);

int PMPI_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm) {
  return BlockingSend(Call::MPI_Rsend, Mode::kReady, buf, count, datatype, dest, tag, comm);
}
PROFILED(MPI_Rsend);

int PMPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm) {
  return BlockingSend(Call::MPI_Rsend_c, Mode::kReady, buf, count, datatype, dest, tag, comm);
}
PROFILED(MPI_Rsend_c);

int PMPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status* status) {
  return BlockingReceive(Call::MPI_Recv, buf, count, datatype, source, tag, comm, status);
}
PROFILED(MPI_Recv);

int PMPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status* status) {
  return BlockingReceive(Call::MPI_Recv_c, buf, count, datatype, source, tag, comm, status);
}
PROFILED(MPI_Recv_c);

int PMPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return MakeRequest(Call::MPI_Isend, Side::kSend, Mode::kStandard, When::kNow, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Isend);

int PMPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Isend_c, Side::kSend, Mode::kStandard, When::kNow, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Isend_c);

int PMPI_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return MakeRequest(Call::MPI_Ibsend, Side::kSend, Mode::kBuffered, When::kNow, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Ibsend);

int PMPI_Ibsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Ibsend_c, Side::kSend, Mode::kBuffered, When::kNow, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Ibsend_c);

int PMPI_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return MakeRequest(Call::MPI_Issend, Side::kSend, Mode::kSynchronous, When::kNow, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Issend);

int PMPI_Issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Issend_c, Side::kSend, Mode::kSynchronous, When::kNow, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Issend_c);

int PMPI_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return MakeRequest(Call::MPI_Irsend, Side::kSend, Mode::kReady, When::kNow, buf, count, datatype,
                     dest, tag, comm, request);
}
PROFILED(MPI_Irsend);

int PMPI_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Irsend_c, Side::kSend, Mode::kReady, When::kNow, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Irsend_c);

int PMPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return MakeRequest(Call::MPI_Irecv, Side::kReceive, Mode::kStandard, When::kNow, buf, count,
                     datatype, source, tag, comm, request);
}
PROFILED(MPI_Irecv);

int PMPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Irecv_c, Side::kReceive, Mode::kStandard, When::kNow, buf, count,
                     datatype, source, tag, comm, request);
}
PROFILED(MPI_Irecv_c);

int PMPI_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Send_init, Side::kSend, Mode::kStandard, When::kLater, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Send_init);

int PMPI_Send_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Send_init_c, Side::kSend, Mode::kStandard, When::kLater, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Send_init_c);

int PMPI_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Bsend_init, Side::kSend, Mode::kBuffered, When::kLater, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Bsend_init);

int PMPI_Bsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Bsend_init_c, Side::kSend, Mode::kBuffered, When::kLater, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Bsend_init_c);

int PMPI_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Ssend_init, Side::kSend, Mode::kSynchronous, When::kLater, buf,
                     count, datatype, dest, tag, comm, request);
}
PROFILED(MPI_Ssend_init);

int PMPI_Ssend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Ssend_init_c, Side::kSend, Mode::kSynchronous, When::kLater, buf,
                     count, datatype, dest, tag, comm, request);
}
PROFILED(MPI_Ssend_init_c);

int PMPI_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Rsend_init, Side::kSend, Mode::kReady, When::kLater, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Rsend_init);

int PMPI_Rsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Rsend_init_c, Side::kSend, Mode::kReady, When::kLater, buf, count,
                     datatype, dest, tag, comm, request);
}
PROFILED(MPI_Rsend_init_c);

int PMPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return MakeRequest(Call::MPI_Recv_init, Side::kReceive, Mode::kStandard, When::kLater, buf, count,
                     datatype, source, tag, comm, request);
}
PROFILED(MPI_Recv_init);

int PMPI_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request* request) {
  return MakeRequest(Call::MPI_Recv_init_c, Side::kReceive, Mode::kStandard, When::kLater, buf,
                     count, datatype, source, tag, comm, request);
}
PROFILED(MPI_Recv_init_c);

int PMPI_Start(MPI_Request* handle) {
  lamina::api::Entry entry(Call::MPI_Start);
  REQUIRE_INITIALIZED(entry);
  REQUIRE(handle != nullptr, nullptr, MPI_ERR_ARG, "request is a null pointer");
  return lamina::api::StartOne(entry, *handle);
}
PROFILED(MPI_Start);

int PMPI_Startall(int count, MPI_Request requests[]) {
  lamina::api::Entry entry(Call::MPI_Startall);
  REQUIRE_INITIALIZED(entry);
  REQUIRE(count >= 0, nullptr, MPI_ERR_ARG, "count is %d, must not be negative", count);
  REQUIRE(count == 0 || requests != nullptr, nullptr, MPI_ERR_ARG,
          "array_of_requests is a null pointer");
  for (int i = 0; i < count; ++i)
    if (const int error = lamina::api::StartOne(entry, requests[i]); error != MPI_SUCCESS)
      return error;
  return MPI_SUCCESS;
}
PROFILED(MPI_Startall);
