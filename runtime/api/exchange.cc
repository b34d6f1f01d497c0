// SPDX-License-Identifier: BSD-3-Clause
// These functions send and receive in one call (MPI-5.0, section 3.11), blocking or not.
#include "runtime/p2p/exchange.h"

#include <memory>
#include <new>
#include <utility>

#include "runtime/api/arguments.h"
#include "runtime/api/message_arguments.h"

namespace lamina::api {
namespace {

// Does both halves, the receive first, so that neither waits for the other.
int SendReceive(const Entry& entry, const MessageArguments& out, int dest, int send_tag,
                const MessageArguments& in, int source, int receive_tag, MPI_Status* status) {
  core::Comm* comm = in.comm;
  core::Request receive;
  core::Request send;
  if (source != MPI_PROC_NULL) {
    p2p::PrepareReceive(&receive, {comm, comm->context, source, receive_tag}, in.buffer);
    p2p::Start(&receive);
  }
  if (dest != MPI_PROC_NULL) {
    p2p::PrepareSend(&send, {comm, comm->context, dest, send_tag}, out.buffer,
                     core::Request::Mode::kStandard);
    p2p::Start(&send);
    p2p::Wait(&send);
  }
  if (source != MPI_PROC_NULL) {
    p2p::Wait(&receive);
    core::FillStatus(receive, status);
  } else {
    core::ProcNullStatus(status);
  }
  if (send.error != MPI_SUCCESS)
    return RaiseTransfer(entry.name(), comm, send.error, dest, send_tag, 0);
  if (receive.error != MPI_SUCCESS)
    return RaiseTransfer(entry.name(), comm, receive.error, receive.source, receive.tag,
                         receive.bytes);
  return MPI_SUCCESS;
}

// These are the arguments of both halves as objects.
struct Halves {
  MessageArguments out;
  MessageArguments in;
  int error = MPI_SUCCESS;  // the class already raised, if any
  std::unique_ptr<std::byte[]> packed;
};

Halves FindHalves(const Entry& entry, const void* send_buffer, MPI_Count send_count,
                  MPI_Datatype send_type, int dest, int send_tag, void* receive_buffer,
                  MPI_Count receive_count, MPI_Datatype receive_type, int source, int receive_tag,
                  MPI_Comm comm) {
  Halves halves;
  halves.out = FindMessageArguments(entry, send_buffer, send_count, send_type, dest, send_tag, comm,
                                    Side::kSend);
  halves.error = halves.out.error;
  if (halves.error != MPI_SUCCESS) return halves;
  halves.in = FindMessageArguments(entry, receive_buffer, receive_count, receive_type, source,
                                   receive_tag, comm, Side::kReceive);
  halves.error = halves.in.error;
  return halves;
}

// This is for the functions that replace: a packed copy of what is sent makes the buffer free for
// what comes.
Halves FindReplaced(const Entry& entry, void* buffer, MPI_Count count, MPI_Datatype datatype,
                    int dest, int send_tag, int source, int receive_tag, MPI_Comm comm) {
  Halves halves = FindHalves(entry, buffer, count, datatype, dest, send_tag, buffer, count,
                             datatype, source, receive_tag, comm);
  if (halves.error != MPI_SUCCESS || dest == MPI_PROC_NULL) return halves;
  const std::int64_t bytes = halves.out.buffer.bytes();
  halves.packed.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
  if (halves.packed == nullptr) {
    halves.error = core::Raise(halves.out.comm, MPI_ERR_NO_MEM, entry.name(),
                               "no memory for a copy of %lld bytes", static_cast<long long>(bytes));
    return halves;
  }
  datatype::Pack(halves.out.buffer, 0, {halves.packed.get(), static_cast<std::size_t>(bytes)});
  halves.out.buffer = {halves.packed.get(), bytes, datatype::FindDatatype(MPI_BYTE)};
  return halves;
}

// Starts both halves as one request.
int Start(Halves halves, int dest, int send_tag, int source, int receive_tag,
          MPI_Request* request) {
  core::Comm* comm = halves.in.comm;
  *request = core::ToHandle<MPI_Request>(
      p2p::StartExchange({.to = {comm, comm->context, dest, send_tag},
                          .out = halves.out.buffer,
                          .from = {comm, comm->context, source, receive_tag},
                          .in = halves.in.buffer,
                          .packed = std::move(halves.packed)}));
  return MPI_SUCCESS;
}

// What enters a call is inlined into the function of MPI, so that the profile sees who calls that.
[[gnu::always_inline]] inline int SendReceive(Call call, const void* send_buffer,
                                              MPI_Count send_count, MPI_Datatype send_type,
                                              int dest, int send_tag, void* receive_buffer,
                                              MPI_Count receive_count, MPI_Datatype receive_type,
                                              int source, int receive_tag, MPI_Comm comm,
                                              MPI_Status* status) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const Halves halves =
      FindHalves(entry, send_buffer, send_count, send_type, dest, send_tag, receive_buffer,
                 receive_count, receive_type, source, receive_tag, comm);
  if (halves.error != MPI_SUCCESS) return halves.error;
  return SendReceive(entry, halves.out, dest, send_tag, halves.in, source, receive_tag, status);
}

[[gnu::always_inline]] inline int Replace(Call call, void* buffer, MPI_Count count,
                                          MPI_Datatype datatype, int dest, int send_tag, int source,
                                          int receive_tag, MPI_Comm comm, MPI_Status* status) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const Halves halves =
      FindReplaced(entry, buffer, count, datatype, dest, send_tag, source, receive_tag, comm);
  if (halves.error != MPI_SUCCESS) return halves.error;
  return SendReceive(entry, halves.out, dest, send_tag, halves.in, source, receive_tag, status);
}

[[gnu::always_inline]] inline int StartSendReceive(
    Call call, const void* send_buffer, MPI_Count send_count, MPI_Datatype send_type, int dest,
    int send_tag, void* receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
    int source, int receive_tag, MPI_Comm comm, MPI_Request* request) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, request);
  Halves halves =
      FindHalves(entry, send_buffer, send_count, send_type, dest, send_tag, receive_buffer,
                 receive_count, receive_type, source, receive_tag, comm);
  if (halves.error != MPI_SUCCESS) return halves.error;
  return Start(std::move(halves), dest, send_tag, source, receive_tag, request);
}

[[gnu::always_inline]] inline int StartReplace(Call call, void* buffer, MPI_Count count,
                                               MPI_Datatype datatype, int dest, int send_tag,
                                               int source, int receive_tag, MPI_Comm comm,
                                               MPI_Request* request) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, request);
  Halves halves =
      FindReplaced(entry, buffer, count, datatype, dest, send_tag, source, receive_tag, comm);
  if (halves.error != MPI_SUCCESS) return halves.error;
  return Start(std::move(halves), dest, send_tag, source, receive_tag, request);
}

}  // namespace
}  // namespace lamina::api

using lamina::Call;

int PMPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status* status) {
  return lamina::api::SendReceive(Call::MPI_Sendrecv, sendbuf, sendcount, sendtype, dest, sendtag,
                                  recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}
PROFILED(MPI_Sendrecv);

int PMPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return lamina::api::SendReceive(Call::MPI_Sendrecv_c, sendbuf, sendcount, sendtype, dest, sendtag,
                                  recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}
PROFILED(MPI_Sendrecv_c);

int PMPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                          int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return lamina::api::Replace(Call::MPI_Sendrecv_replace, buf, count, datatype, dest, sendtag,
                              source, recvtag, comm, status);
}
PROFILED(MPI_Sendrecv_replace);

int PMPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
                            int sendtag, int source, int recvtag, MPI_Comm comm,
                            MPI_Status* status) {
  return lamina::api::Replace(Call::MPI_Sendrecv_replace_c, buf, count, datatype, dest, sendtag,
                              source, recvtag, comm, status);
}
PROFILED(MPI_Sendrecv_replace_c);

int PMPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   MPI_Comm comm, MPI_Request* request) {
  return lamina::api::StartSendReceive(Call::MPI_Isendrecv, sendbuf, sendcount, sendtype, dest,
                                       sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
                                       request);
}
PROFILED(MPI_Isendrecv);

int PMPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                     int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  return lamina::api::StartSendReceive(Call::MPI_Isendrecv_c, sendbuf, sendcount, sendtype, dest,
                                       sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
                                       request);
}
PROFILED(MPI_Isendrecv_c);

int PMPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  return lamina::api::StartReplace(Call::MPI_Isendrecv_replace, buf, count, datatype, dest, sendtag,
                                   source, recvtag, comm, request);
}
PROFILED(MPI_Isendrecv_replace);

int PMPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest,
                             int sendtag, int source, int recvtag, MPI_Comm comm,
                             MPI_Request* request) {
  return lamina::api::StartReplace(Call::MPI_Isendrecv_replace_c, buf, count, datatype, dest,
                                   sendtag, source, recvtag, comm, request);
}
PROFILED(MPI_Isendrecv_replace_c);
