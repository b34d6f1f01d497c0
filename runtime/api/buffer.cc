// SPDX-License-Identifier: BSD-3-Clause
// These are the buffers of buffered sends, which belong to the process, a communicator or a session
// (MPI-5.0, section 3.6.1).
#include "runtime/api/arguments.h"
#include "runtime/p2p/buffered.h"

namespace lamina::api {
namespace {

using p2p::SendBuffer;

// `place` is where the buffer of the object hangs; errors go to `comm`'s handler.
int Attach(const Entry& entry, core::Comm* comm, SendBuffer** place, void* buffer, MPI_Count size) {
  if (buffer != MPI_BUFFER_AUTOMATIC) {
    REQUIRE(size >= 0, comm, MPI_ERR_ARG, "size is %lld, must not be negative",
            static_cast<long long>(size));
    REQUIRE(buffer != nullptr || size == 0, comm, MPI_ERR_BUFFER,
            "buffer is null, but size is %lld", static_cast<long long>(size));
  }
  REQUIRE(p2p::AttachBuffer(place, buffer, size) == MPI_SUCCESS, comm, MPI_ERR_BUFFER,
          "a buffer is attached already; detach it first");
  return MPI_SUCCESS;
}

template <class Count>
int Detach(const Entry& entry, core::Comm* comm, SendBuffer** place, void* buffer_address,
           Count* size) {
  REQUIRE_POINTER(comm, buffer_address);
  REQUIRE_POINTER(comm, size);
  void* address = nullptr;
  std::int64_t bytes = 0;
  p2p::DetachBuffer(place, &address, &bytes);
  *static_cast<void**>(buffer_address) = address;
  *size = static_cast<Count>(bytes);
  // An int cannot say how large the buffer was when it was attached.
  if (*size != bytes) *size = static_cast<Count>(MPI_UNDEFINED);
  return MPI_SUCCESS;
}

int StartFlush(const Entry& entry, core::Comm* comm, SendBuffer* buffer, MPI_Request* request) {
  REQUIRE_POINTER(comm, request);
  *request = core::ToHandle<MPI_Request>(p2p::StartFlush(buffer, comm));
  return MPI_SUCCESS;
}

int AttachToComm(Call call, MPI_Comm handle, void* buffer, MPI_Count size) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  core::Comm* comm = core::FindComm(handle);
  if (comm == nullptr) return BadComm(entry, handle);
  return Attach(entry, comm, &comm->send_buffer, buffer, size);
}

template <class Count>
int DetachFromComm(Call call, MPI_Comm handle, void* buffer_address, Count* size) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  core::Comm* comm = core::FindComm(handle);
  if (comm == nullptr) return BadComm(entry, handle);
  return Detach(entry, comm, &comm->send_buffer, buffer_address, size);
}

}  // namespace
}  // namespace lamina::api

namespace api = lamina::api;
namespace core = lamina::core;
namespace p2p = lamina::p2p;
using api::Entry;
using lamina::Call;

int PMPI_Buffer_attach(void* buffer, int size) {
  Entry entry(Call::MPI_Buffer_attach);
  REQUIRE_INITIALIZED(entry);
  return api::Attach(entry, nullptr, p2p::ProcessBuffer(), buffer, size);
}
PROFILED(MPI_Buffer_attach);

int PMPI_Buffer_attach_c(void* buffer, MPI_Count size) {
  Entry entry(Call::MPI_Buffer_attach_c);
  REQUIRE_INITIALIZED(entry);
  return api::Attach(entry, nullptr, p2p::ProcessBuffer(), buffer, size);
}
PROFILED(MPI_Buffer_attach_c);

int PMPI_Buffer_detach(void* buffer_address, int* size) {
  Entry entry(Call::MPI_Buffer_detach);
  REQUIRE_INITIALIZED(entry);
  return api::Detach(entry, nullptr, p2p::ProcessBuffer(), buffer_address, size);
}
PROFILED(MPI_Buffer_detach);

int PMPI_Buffer_detach_c(void* buffer_address, MPI_Count* size) {
  Entry entry(Call::MPI_Buffer_detach_c);
  REQUIRE_INITIALIZED(entry);
  return api::Detach(entry, nullptr, p2p::ProcessBuffer(), buffer_address, size);
}
PROFILED(MPI_Buffer_detach_c);

int PMPI_Buffer_flush(void) {
  Entry entry(Call::MPI_Buffer_flush);
  REQUIRE_INITIALIZED(entry);
  p2p::FlushBuffer(*p2p::ProcessBuffer());
  return MPI_SUCCESS;
}
PROFILED(MPI_Buffer_flush);

int PMPI_Buffer_iflush(MPI_Request* request) {
  Entry entry(Call::MPI_Buffer_iflush);
  REQUIRE_INITIALIZED(entry);
  return api::StartFlush(entry, nullptr, *p2p::ProcessBuffer(), request);
}
PROFILED(MPI_Buffer_iflush);

int PMPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, int size) {
  return api::AttachToComm(Call::MPI_Comm_attach_buffer, comm, buffer, size);
}
PROFILED(MPI_Comm_attach_buffer);

int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void* buffer, MPI_Count size) {
  return api::AttachToComm(Call::MPI_Comm_attach_buffer_c, comm, buffer, size);
}
PROFILED(MPI_Comm_attach_buffer_c);

int PMPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_address, int* size) {
  return api::DetachFromComm(Call::MPI_Comm_detach_buffer, comm, buffer_address, size);
}
PROFILED(MPI_Comm_detach_buffer);

int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void* buffer_address, MPI_Count* size) {
  return api::DetachFromComm(Call::MPI_Comm_detach_buffer_c, comm, buffer_address, size);
}
PROFILED(MPI_Comm_detach_buffer_c);

int PMPI_Comm_flush_buffer(MPI_Comm handle) {
  Entry entry(Call::MPI_Comm_flush_buffer);
  REQUIRE_INITIALIZED(entry);
  core::Comm* comm = core::FindComm(handle);
  if (comm == nullptr) return api::BadComm(entry, handle);
  p2p::FlushBuffer(comm->send_buffer);
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_flush_buffer);

int PMPI_Comm_iflush_buffer(MPI_Comm handle, MPI_Request* request) {
  Entry entry(Call::MPI_Comm_iflush_buffer);
  REQUIRE_INITIALIZED(entry);
  core::Comm* comm = core::FindComm(handle);
  if (comm == nullptr) return api::BadComm(entry, handle);
  return api::StartFlush(entry, comm, comm->send_buffer, request);
}
PROFILED(MPI_Comm_iflush_buffer);
