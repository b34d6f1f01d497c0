// SPDX-License-Identifier: BSD-3-Clause
// Send and receive in one call (MPI-5.0, section 3.10), and the buffer of buffered sends (3.6).
#include <memory>
#include <new>

#include "runtime/api/message.h"
#include "runtime/p2p/buffered.h"

namespace lamina::api {
namespace {

// Both halves, the receive first, so that neither waits for the other.
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

int SendReceive(Call call, const void* send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                int dest, int send_tag, void* receive_buffer, MPI_Count receive_count,
                MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm,
                MPI_Status* status) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const MessageArguments out = FindMessageArguments(entry, send_buffer, send_count, send_type, dest,
                                                    send_tag, comm, Side::kSend);
  if (out.error != MPI_SUCCESS) return out.error;
  const MessageArguments in =
      FindMessageArguments(entry, receive_buffer, receive_count, receive_type, source, receive_tag,
                           comm, Side::kReceive);
  if (in.error != MPI_SUCCESS) return in.error;
  return SendReceive(entry, out, dest, send_tag, in, source, receive_tag, status);
}

// A packed copy of what is sent makes the buffer free for what comes.
int Replace(Call call, void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int send_tag,
            int source, int receive_tag, MPI_Comm comm, MPI_Status* status) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  MessageArguments out =
      FindMessageArguments(entry, buffer, count, datatype, dest, send_tag, comm, Side::kSend);
  if (out.error != MPI_SUCCESS) return out.error;
  const MessageArguments in = FindMessageArguments(entry, buffer, count, datatype, source,
                                                   receive_tag, comm, Side::kReceive);
  if (in.error != MPI_SUCCESS) return in.error;
  const std::int64_t bytes = out.buffer.bytes();
  const std::unique_ptr<std::byte[]> packed(new (std::nothrow) std::byte[bytes]);
  if (packed == nullptr)
    return core::Raise(out.comm, MPI_ERR_NO_MEM, entry.name(), "no memory for a copy of %lld bytes",
                       static_cast<long long>(bytes));
  datatype::Pack(out.buffer, 0, {packed.get(), static_cast<std::size_t>(bytes)});
  out.buffer = {packed.get(), bytes, datatype::FindDatatype(MPI_BYTE)};
  return SendReceive(entry, out, dest, send_tag, in, source, receive_tag, status);
}

int Attach(Call call, void* buffer, MPI_Count size) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  if (size < 0)
    return core::Raise(nullptr, MPI_ERR_BUFFER, entry.name(), "size is %lld, must not be negative",
                       static_cast<long long>(size));
  if (p2p::AttachBuffer(buffer, size) == MPI_SUCCESS) return MPI_SUCCESS;
  return core::Raise(nullptr, MPI_ERR_BUFFER, entry.name(),
                     "a buffer is attached already; detach it first");
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

int PMPI_Buffer_attach(void* buffer, int size) {
  return lamina::api::Attach(Call::MPI_Buffer_attach, buffer, size);
}
PROFILED(MPI_Buffer_attach);

int PMPI_Buffer_attach_c(void* buffer, MPI_Count size) {
  return lamina::api::Attach(Call::MPI_Buffer_attach_c, buffer, size);
}
PROFILED(MPI_Buffer_attach_c);

int PMPI_Buffer_detach_c(void* buffer_address, MPI_Count* size) {
  lamina::api::Entry entry(Call::MPI_Buffer_detach_c);
  REQUIRE_INITIALIZED(entry);
  return lamina::p2p::DetachBuffer(static_cast<void**>(buffer_address), size);
}
PROFILED(MPI_Buffer_detach_c);

int PMPI_Buffer_detach(void* buffer_address, int* size) {
  lamina::api::Entry entry(Call::MPI_Buffer_detach);
  REQUIRE_INITIALIZED(entry);
  MPI_Count bytes = 0;
  const int error = lamina::p2p::DetachBuffer(static_cast<void**>(buffer_address), &bytes);
  *size = bytes > 0x7fffffff ? MPI_UNDEFINED : static_cast<int>(bytes);
  return error;
}
PROFILED(MPI_Buffer_detach);

int PMPI_Buffer_flush(void) {
  lamina::api::Entry entry(Call::MPI_Buffer_flush);
  REQUIRE_INITIALIZED(entry);
  lamina::p2p::FlushBuffered();
  return MPI_SUCCESS;
}
PROFILED(MPI_Buffer_flush);
