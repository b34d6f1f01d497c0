// SPDX-License-Identifier: BSD-3-Clause
// These are the buffers of buffered sends that belong to a session. All communicators made from it
// that have no buffer of their own use it (MPI-5.0, section 3.6.1).
#include "runtime/api/arguments.h"
#include "runtime/core/session.h"
#include "runtime/p2p/buffered.h"

using lamina::Call;
using lamina::api::Entry;
using lamina::core::FindSession;
using lamina::core::RaiseOn;
using lamina::core::Session;

namespace p2p = lamina::p2p;

namespace {

int Attach(Call call, MPI_Session handle, void* buffer, MPI_Count size) {
  Entry entry(call);
  Session* session = FindSession(handle);
  if (session == nullptr) return BadSession(entry, handle);
  if (buffer != MPI_BUFFER_AUTOMATIC && (size < 0 || (buffer == nullptr && size > 0)))
    return RaiseOn(session, size < 0 ? MPI_ERR_ARG : MPI_ERR_BUFFER, entry.name(),
                   "buffer is %p and size is %lld, which is not a valid buffer", buffer,
                   static_cast<long long>(size));
  if (p2p::AttachBuffer(&session->send_buffer, buffer, size) != MPI_SUCCESS)
    return RaiseOn(session, MPI_ERR_BUFFER, entry.name(),
                   "a buffer is attached already; detach it first");
  return MPI_SUCCESS;
}

template <class Count>
int Detach(Call call, MPI_Session handle, void* buffer_address, Count* size) {
  Entry entry(call);
  Session* session = FindSession(handle);
  if (session == nullptr) return BadSession(entry, handle);
  if (buffer_address == nullptr || size == nullptr)
    return RaiseOn(session, MPI_ERR_ARG, entry.name(), "buffer_addr or size is a null pointer");
  void* address = nullptr;
  std::int64_t bytes = 0;
  p2p::DetachBuffer(&session->send_buffer, &address, &bytes);
  *static_cast<void**>(buffer_address) = address;
  *size = static_cast<Count>(bytes);
  // An int cannot say how large the buffer was when it was attached.
  if (*size != bytes) *size = static_cast<Count>(MPI_UNDEFINED);
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Session_attach_buffer(MPI_Session session, void* buffer, int size) {
  return Attach(Call::MPI_Session_attach_buffer, session, buffer, size);
}
PROFILED(MPI_Session_attach_buffer);

int PMPI_Session_attach_buffer_c(MPI_Session session, void* buffer, MPI_Count size) {
  return Attach(Call::MPI_Session_attach_buffer_c, session, buffer, size);
}
PROFILED(MPI_Session_attach_buffer_c);

int PMPI_Session_detach_buffer(MPI_Session session, void* buffer_addr, int* size) {
  return Detach(Call::MPI_Session_detach_buffer, session, buffer_addr, size);
}
PROFILED(MPI_Session_detach_buffer);

int PMPI_Session_detach_buffer_c(MPI_Session session, void* buffer_addr, MPI_Count* size) {
  return Detach(Call::MPI_Session_detach_buffer_c, session, buffer_addr, size);
}
PROFILED(MPI_Session_detach_buffer_c);

int PMPI_Session_flush_buffer(MPI_Session session) {
  Entry entry(Call::MPI_Session_flush_buffer);
  Session* found = FindSession(session);
  if (found == nullptr) return BadSession(entry, session);
  p2p::FlushBuffer(found->send_buffer);
  return MPI_SUCCESS;
}
PROFILED(MPI_Session_flush_buffer);

int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request* request) {
  Entry entry(Call::MPI_Session_iflush_buffer);
  Session* found = FindSession(session);
  if (found == nullptr) return BadSession(entry, session);
  if (request == nullptr)
    return RaiseOn(found, MPI_ERR_ARG, entry.name(), "request is a null pointer");
  *request = lamina::core::ToHandle<MPI_Request>(p2p::StartFlush(found->send_buffer, nullptr));
  return MPI_SUCCESS;
}
PROFILED(MPI_Session_iflush_buffer);
