// SPDX-License-Identifier: BSD-3-Clause
// Error handlers (MPI-5.0, section 9.3).
#include "runtime/api/arguments.h"

using lamina::Call;
using lamina::api::Entry;
using lamina::core::Comm;
using lamina::core::Errhandler;
using lamina::core::FindComm;
using lamina::core::FindErrhandler;

namespace {

template <class Function>
int Create(const Entry& entry, Function* function, MPI_Errhandler* errhandler) {
  REQUIRE_POINTER(nullptr, function);
  REQUIRE_POINTER(nullptr, errhandler);
  Errhandler* made = new Errhandler;
  made->action = Errhandler::Action::kUser;
  made->function = reinterpret_cast<void (*)()>(function);
  made->handle = lamina::core::ToHandle<MPI_Errhandler>(made);
  *errhandler = made->handle;
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn,
                                MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_Comm_create_errhandler);
  return Create(entry, comm_errhandler_fn, errhandler);
}
PROFILED(MPI_Comm_create_errhandler);

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn,
                               MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_Win_create_errhandler);
  return Create(entry, win_errhandler_fn, errhandler);
}
PROFILED(MPI_Win_create_errhandler);

int PMPI_File_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn,
                                MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_File_create_errhandler);
  return Create(entry, file_errhandler_fn, errhandler);
}
PROFILED(MPI_File_create_errhandler);

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
                                   MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_Session_create_errhandler);
  return Create(entry, session_errhandler_fn, errhandler);
}
PROFILED(MPI_Session_create_errhandler);

int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_Errhandler_free);
  REQUIRE_POINTER(nullptr, errhandler);
  Errhandler* found = FindErrhandler(*errhandler);
  if (found == nullptr) return BadErrhandler(entry, *errhandler);
  Release(found);
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Errhandler_free);

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  Entry entry(Call::MPI_Comm_set_errhandler);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  Errhandler* handler = FindErrhandler(errhandler);
  if (handler == nullptr) return BadErrhandler(entry, errhandler);
  Retain(handler);
  Release(found->errhandler);
  found->errhandler = handler;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_set_errhandler);

// The caller frees what it gets, as section 9.3.1 says.
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_Comm_get_errhandler);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, errhandler);
  Retain(found->errhandler);
  *errhandler = found->errhandler->handle;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_get_errhandler);

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  Entry entry(Call::MPI_Comm_call_errhandler);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const char* text = lamina::core::ErrorText(errorcode);
  static_cast<void>(lamina::core::Raise(found, errorcode, entry.name(),
                                        "raised by the application: %s",
                                        text != nullptr ? text : "unknown error code"));
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_call_errhandler);
