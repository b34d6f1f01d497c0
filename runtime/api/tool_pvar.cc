// SPDX-License-Identifier: BSD-3-Clause
// These are performance variables (MPI-5.0, section 15.3.7).
#include <cstring>

#include "runtime/api/tool.h"
#include "runtime/core/comm.h"
#include "runtime/p2p/p2p.h"

namespace api = lamina::api;
namespace core = lamina::core;
namespace trace = lamina::trace;
using api::tool;
using trace::PerformanceHandle;
using trace::PerformanceSession;
using trace::PerformanceVariable;

std::uint64_t lamina::api::ReadGauge(trace::Gauge gauge, std::uint64_t context) {
  if (gauge == trace::Gauge::kState) return static_cast<std::uint64_t>(core::life);
  if (core::process == nullptr || core::process->engine == nullptr) return 0;
  switch (gauge) {
    case trace::Gauge::kCommPosted:
      return p2p::QueuedIn(ContextId{context}).posted;
    case trace::Gauge::kCommUnexpected:
      return p2p::QueuedIn(ContextId{context}).unexpected;
    case trace::Gauge::kPeers:
      return core::process->identity.job_ranks;
    case trace::Gauge::kState:
      break;
  }
  return 0;
}

namespace {

PerformanceSession* Find(MPI_T_pvar_session handle) {
  auto* session = reinterpret_cast<PerformanceSession*>(handle);
  return tool->performances.Has(session) ? session : nullptr;
}

// Finds a handle of that session; MPI_T_PVAR_ALL_HANDLES is none.
PerformanceHandle* Find(const PerformanceSession& session, MPI_T_pvar_handle handle) {
  auto* performance = reinterpret_cast<PerformanceHandle*>(handle);
  return trace::Performances::Has(session, performance) ? performance : nullptr;
}

using Verb = void (trace::Performances::*)(PerformanceHandle*);

// Does `verb` to one handle or to all. Handles for which `refuses` is true are skipped among all,
// and give `error` if asked for alone.
int Do(MPI_T_pvar_session session_handle, MPI_T_pvar_handle handle, Verb verb,
       bool (PerformanceVariable::*refuses)() const, int error) {
  TOOL_CALL();
  PerformanceSession* session = Find(session_handle);
  if (session == nullptr) return MPI_T_ERR_INVALID_SESSION;
  if (handle == MPI_T_PVAR_ALL_HANDLES) {
    for (PerformanceHandle* one = session->first; one != nullptr; one = one->next)
      if (!(one->variable->*refuses)()) (tool->performances.*verb)(one);
    return MPI_SUCCESS;
  }
  PerformanceHandle* one = Find(*session, handle);
  if (one == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if ((one->variable->*refuses)()) return error;
  (tool->performances.*verb)(one);
  return MPI_SUCCESS;
}

// Every thread that communicates changes what belongs to a communicator, so without the library
// lock only a thread that may call MPI may look.
bool Accessible(const PerformanceVariable& variable) {
  if (!variable.guarded() || core::process == nullptr) return true;
  if (core::process->thread_level >= MPI_THREAD_SERIALIZED) return true;
  int is_main = 0;
  PMPI_Is_thread_main(&is_main);
  return is_main != 0;
}

// Finds the space of the communicator that `object` points to, or 0 if `variable` is bound to none.
int ContextOf(const PerformanceVariable& variable, const void* object, std::uint64_t* context) {
  *context = 0;
  if (variable.bind != MPI_T_BIND_MPI_COMM) return MPI_SUCCESS;
  if (object == nullptr) return MPI_T_ERR_INVALID;
  if (core::process == nullptr) return MPI_T_ERR_NOT_ACCESSIBLE;
  MPI_Comm handle;
  std::memcpy(&handle, object, sizeof handle);
  const core::Comm* comm = core::FindComm(handle);
  if (comm == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  *context = lamina::Index(comm->context);
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_T_pvar_get_num(int* num_pvar) {
  TOOL_CALL();
  if (num_pvar == nullptr) return MPI_T_ERR_INVALID;
  *num_pvar = static_cast<int>(trace::PerformanceVariables().size());
  return MPI_SUCCESS;
}
PROFILED(MPI_T_pvar_get_num);

int PMPI_T_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                         MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                         int* bind, int* readonly, int* continuous, int* atomic) {
  TOOL_CALL();
  const PerformanceVariable* variable = api::At(trace::PerformanceVariables(), pvar_index);
  if (variable == nullptr) return MPI_T_ERR_INVALID_INDEX;
  api::GiveText(variable->name, name, name_len);
  api::Give(verbosity, variable->verbosity);
  api::Give(var_class, variable->var_class);
  api::Give(datatype, variable->datatype());
  api::Give(enumtype, api::HandleOf(variable->enumeration()));
  api::GiveText(variable->description, desc, desc_len);
  api::Give(bind, variable->bind);
  api::Give(readonly, variable->readonly() ? 1 : 0);
  api::Give(continuous, variable->continuous() ? 1 : 0);
  api::Give(atomic, variable->readonly() ? 0 : 1);
  return MPI_SUCCESS;
}
PROFILED(MPI_T_pvar_get_info);

int PMPI_T_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  TOOL_CALL();
  if (name == nullptr || pvar_index == nullptr) return MPI_T_ERR_INVALID;
  int index = 0;
  for (const PerformanceVariable& variable : trace::PerformanceVariables()) {
    if (std::strcmp(variable.name, name) == 0 && variable.var_class == var_class) {
      *pvar_index = index;
      return MPI_SUCCESS;
    }
    ++index;
  }
  return MPI_T_ERR_INVALID_NAME;
}
PROFILED(MPI_T_pvar_get_index);

int PMPI_T_pvar_session_create(MPI_T_pvar_session* session) {
  TOOL_CALL();
  if (session == nullptr) return MPI_T_ERR_INVALID;
  *session = reinterpret_cast<MPI_T_pvar_session>(tool->performances.MakeSession());
  return MPI_SUCCESS;
}
PROFILED(MPI_T_pvar_session_create);

int PMPI_T_pvar_session_free(MPI_T_pvar_session* session) {
  TOOL_CALL();
  if (session == nullptr) return MPI_T_ERR_INVALID;
  PerformanceSession* found = Find(*session);
  if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
  tool->performances.Free(found);
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_T_pvar_session_free);

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void* obj_handle,
                             MPI_T_pvar_handle* handle, int* count) {
  TOOL_CALL();
  PerformanceSession* found = Find(session);
  if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
  const PerformanceVariable* variable = api::At(trace::PerformanceVariables(), pvar_index);
  if (variable == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
  std::uint64_t context;
  if (const int error = ContextOf(*variable, obj_handle, &context); error != MPI_SUCCESS)
    return error;
  *handle =
      reinterpret_cast<MPI_T_pvar_handle>(tool->performances.MakeHandle(found, *variable, context));
  *count = 1;
  return MPI_SUCCESS;
}
PROFILED(MPI_T_pvar_handle_alloc);

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  TOOL_CALL();
  PerformanceSession* found = Find(session);
  if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
  if (handle == nullptr) return MPI_T_ERR_INVALID;
  PerformanceHandle* performance = Find(*found, *handle);
  if (performance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  tool->performances.Free(performance);
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_T_pvar_handle_free);

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return Do(session, handle, &trace::Performances::Start, &PerformanceVariable::continuous,
            MPI_T_ERR_PVAR_NO_STARTSTOP);
}
PROFILED(MPI_T_pvar_start);

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return Do(session, handle, &trace::Performances::Stop, &PerformanceVariable::continuous,
            MPI_T_ERR_PVAR_NO_STARTSTOP);
}
PROFILED(MPI_T_pvar_stop);

int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return Do(session, handle, &trace::Performances::Reset, &PerformanceVariable::readonly,
            MPI_T_ERR_PVAR_NO_WRITE);
}
PROFILED(MPI_T_pvar_reset);

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  TOOL_CALL();
  const PerformanceSession* found = Find(session);
  if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
  const PerformanceHandle* performance = Find(*found, handle);
  if (performance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  if (!Accessible(*performance->variable)) return MPI_T_ERR_NOT_ACCESSIBLE;
  tool->performances.Read(*performance, buf);
  return MPI_SUCCESS;
}
PROFILED(MPI_T_pvar_read);

int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  TOOL_CALL();
  const PerformanceSession* found = Find(session);
  if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
  PerformanceHandle* performance = Find(*found, handle);
  if (performance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  if (performance->variable->readonly()) return MPI_T_ERR_PVAR_NO_ATOMIC;
  tool->performances.Read(*performance, buf);
  tool->performances.Reset(performance);
  return MPI_SUCCESS;
}
PROFILED(MPI_T_pvar_readreset);

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf) {
  TOOL_CALL();
  const PerformanceSession* found = Find(session);
  if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
  PerformanceHandle* performance = Find(*found, handle);
  if (performance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  if (performance->variable->readonly()) return MPI_T_ERR_PVAR_NO_WRITE;
  tool->performances.Write(performance, buf);
  return MPI_SUCCESS;
}
PROFILED(MPI_T_pvar_write);
