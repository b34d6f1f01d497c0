// SPDX-License-Identifier: BSD-3-Clause
// These are probe and matched probe (MPI-5.0, section 3.8).
#include "runtime/api/arguments.h"
#include "runtime/api/message_arguments.h"
#include "runtime/p2p/awaited.h"
#include "runtime/p2p/p2p.h"

namespace lamina::api {
namespace {

int MatchedReceive(const Entry& entry, void* buffer, MPI_Count count, MPI_Datatype datatype,
                   MPI_Message* handle, MPI_Request* request_handle) {
  REQUIRE(handle != nullptr, nullptr, MPI_ERR_ARG, "message is a null pointer");
  REQUIRE(request_handle != nullptr, nullptr, MPI_ERR_ARG, "request is a null pointer");
  p2p::Message* message = p2p::FindMessage(*handle);
  const datatype::Datatype* type = datatype::FindDatatype(datatype);
  if (message == nullptr && *handle != MPI_MESSAGE_NO_PROC)
    return core::Raise(
        nullptr, MPI_ERR_REQUEST, entry.name(),
        "message is MPI_MESSAGE_NULL, has been received already, or is not a message");
  core::Comm* comm = message != nullptr ? p2p::CommOf(*message) : core::self_comm;
  if (Checking() && !BufferIsGood(buffer, count, type))
    return RaiseBadMessage(entry.name(), comm, buffer, count, type, 0, 0, Side::kReceive);
  core::Request* request = core::NewRequest(comm);
  if (message == nullptr) {
    request->type = core::Request::Type::kNull;
    request->active = true;
    request->source = MPI_PROC_NULL;
    request->complete = true;
  } else {
    core::Hold(request, type);
    p2p::StartMatchedReceive(request, message, {buffer, count, type});
  }
  *handle = MPI_MESSAGE_NULL;
  *request_handle = core::ToHandle<MPI_Request>(request);
  return MPI_SUCCESS;
}

// This is a matched receive that waits.
int MatchedReceiveNow(const Entry& entry, void* buffer, MPI_Count count, MPI_Datatype datatype,
                      MPI_Message* handle, MPI_Status* status) {
  MPI_Request request_handle;
  if (const int error = MatchedReceive(entry, buffer, count, datatype, handle, &request_handle);
      error != MPI_SUCCESS)
    return error;
  auto* request = core::FromHandle<core::Request>(request_handle);
  p2p::Wait(request);
  core::FillStatus(*request, status);
  int error = request->error;
  if (error != MPI_SUCCESS)
    error = RaiseTransfer(entry.name(), request->comm, error, request->source, request->tag,
                          request->bytes);
  core::FreeRequest(request);
  return error;
}

enum class Until { kOnce, kThere };
enum class Take { kNo, kYes };

// Probes, without looking at a buffer. `flag` is for a probe that looks once; `message` for one
// that takes the message. It is inlined, so that the profile sees who calls.
[[gnu::always_inline]] inline int ProbeFor(Call call, Until until, Take take, int source, int tag,
                                           MPI_Comm comm, int* flag, MPI_Message* message,
                                           MPI_Status* status) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const MessageArguments found =
      FindMessageArguments(entry, nullptr, 0, MPI_BYTE, source, tag, comm, Side::kReceive);
  if (found.error != MPI_SUCCESS) return found.error;
  if (until == Until::kOnce) REQUIRE_POINTER(found.comm, flag);
  if (take == Take::kYes) REQUIRE_POINTER(found.comm, message);
  MPI_Message taken = MPI_MESSAGE_NO_PROC;
  bool there = true;
  if (source == MPI_PROC_NULL) {
    core::ProcNullStatus(status);
  } else {
    const p2p::Envelope from{found.comm, found.comm->context, source, tag};
    p2p::Message* const first =
        (until == Until::kOnce ? p2p::Probe : p2p::WaitProbe)(from, take == Take::kYes, status);
    there = first != nullptr;
    taken = p2p::HandleOf(first);
    if (!there && p2p::IsGone(from))
      return RaiseTransfer(entry.name(), found.comm, MPI_ERR_PROC_ABORTED, source, tag, 0);
    if (!there) {
      const p2p::Awaited awaited{p2p::Awaited::Kind::kProbe, found.comm, source, tag, 0};
      const p2p::Awaiting awaiting(awaited);
      p2p::TestedInVain();
    }
  }
  if (until == Until::kOnce) *flag = there ? 1 : 0;
  if (take == Take::kYes && there) *message = taken;
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace lamina::api

namespace api = lamina::api;
using lamina::Call;
using lamina::api::Take;
using lamina::api::Until;

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return api::ProbeFor(Call::MPI_Iprobe, Until::kOnce, Take::kNo, source, tag, comm, flag, nullptr,
                       status);
}
PROFILED(MPI_Iprobe);

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return api::ProbeFor(Call::MPI_Probe, Until::kThere, Take::kNo, source, tag, comm, nullptr,
                       nullptr, status);
}
PROFILED(MPI_Probe);

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                 MPI_Status* status) {
  return api::ProbeFor(Call::MPI_Improbe, Until::kOnce, Take::kYes, source, tag, comm, flag,
                       message, status);
}
PROFILED(MPI_Improbe);

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return api::ProbeFor(Call::MPI_Mprobe, Until::kThere, Take::kYes, source, tag, comm, nullptr,
                       message, status);
}
PROFILED(MPI_Mprobe);

int PMPI_Imrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                  MPI_Request* request) {
  api::Entry entry(Call::MPI_Imrecv_c);
  REQUIRE_INITIALIZED(entry);
  return api::MatchedReceive(entry, buf, count, datatype, message, request);
}
PROFILED(MPI_Imrecv_c);

int PMPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
                MPI_Request* request) {
  api::Entry entry(Call::MPI_Imrecv);
  REQUIRE_INITIALIZED(entry);
  return api::MatchedReceive(entry, buf, count, datatype, message, request);
}
PROFILED(MPI_Imrecv);

int PMPI_Mrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                 MPI_Status* status) {
  api::Entry entry(Call::MPI_Mrecv_c);
  REQUIRE_INITIALIZED(entry);
  return api::MatchedReceiveNow(entry, buf, count, datatype, message, status);
}
PROFILED(MPI_Mrecv_c);

int PMPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
               MPI_Status* status) {
  api::Entry entry(Call::MPI_Mrecv);
  REQUIRE_INITIALIZED(entry);
  return api::MatchedReceiveNow(entry, buf, count, datatype, message, status);
}
PROFILED(MPI_Mrecv);
