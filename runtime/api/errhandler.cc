// SPDX-License-Identifier: BSD-3-Clause
// These are error handlers (MPI-5.0, section 9.3).
#include <string>

#include "runtime/api/arguments.h"
#include "runtime/api/file_arguments.h"
#include "runtime/api/window_arguments.h"

using lamina::Call;
using lamina::api::BadFile;
using lamina::api::Entry;
using lamina::api::HandlerFits;
using lamina::core::Comm;
using lamina::core::Errhandler;
using lamina::core::FindComm;
using lamina::core::FindErrhandler;
using lamina::core::FindWin;
using lamina::core::Win;

namespace {

using Target = Errhandler::Target;

template <class Function>
int Create(const Entry& entry, Target target, Function* function, MPI_Errhandler* errhandler) {
  REQUIRE_POINTER(nullptr, function);
  REQUIRE_POINTER(nullptr, errhandler);
  Errhandler* made = new Errhandler;
  made->action = Errhandler::Action::kUser;
  made->target = target;
  made->function = reinterpret_cast<void (*)()>(function);
  made->handle = lamina::core::ToHandle<MPI_Errhandler>(made);
  *errhandler = made->handle;
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn,
                                MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_Comm_create_errhandler);
  return Create(entry, Target::kComm, comm_errhandler_fn, errhandler);
}
PROFILED(MPI_Comm_create_errhandler);

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn,
                               MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_Win_create_errhandler);
  return Create(entry, Target::kWin, win_errhandler_fn, errhandler);
}
PROFILED(MPI_Win_create_errhandler);

int PMPI_File_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn,
                                MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_File_create_errhandler);
  return Create(entry, Target::kFile, file_errhandler_fn, errhandler);
}
PROFILED(MPI_File_create_errhandler);

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
                                   MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_Session_create_errhandler);
  return Create(entry, Target::kSession, session_errhandler_fn, errhandler);
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
  REQUIRE(handler != nullptr && HandlerFits(*handler, Target::kComm), found, MPI_ERR_ERRHANDLER,
          "errhandler is %p, which is not an error handler for communicators",
          static_cast<void*>(errhandler));
  Retain(handler);
  Release(found->errhandler);
  found->errhandler = handler;
  found->chose_errhandler = true;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_set_errhandler);

// The caller frees the handler, as section 9.3.1 says.
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

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  Entry entry(Call::MPI_Win_set_errhandler);
  REQUIRE_INITIALIZED(entry);
  Win* found = FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  Errhandler* handler = FindErrhandler(errhandler);
  REQUIRE_OF_WIN(handler != nullptr && HandlerFits(*handler, Target::kWin), found,
                 MPI_ERR_ERRHANDLER, "errhandler is %p, which is not an error handler for windows",
                 static_cast<void*>(errhandler));
  Retain(handler);
  Release(found->comm->errhandler);
  found->comm->errhandler = handler;
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_set_errhandler);

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_Win_get_errhandler);
  REQUIRE_INITIALIZED(entry);
  Win* found = FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  REQUIRE_OF_WIN(errhandler != nullptr, found, MPI_ERR_ARG, "errhandler is a null pointer");
  Retain(found->comm->errhandler);
  *errhandler = found->comm->errhandler->handle;
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_get_errhandler);

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode) {
  Entry entry(Call::MPI_Win_call_errhandler);
  REQUIRE_INITIALIZED(entry);
  Win* found = FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  const char* text = lamina::core::ErrorText(errorcode);
  static_cast<void>(lamina::core::RaiseOn(found, errorcode, entry.name(),
                                          "raised by the application: %s",
                                          text != nullptr ? text : "unknown error code"));
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_call_errhandler);

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

// The handler of MPI_FILE_NULL is that of files to come (section 14.7).
namespace {

// Finds where the handler of a file or of MPI_FILE_NULL is kept. Null means that the handle is
// neither.
Errhandler** HandlerOf(MPI_File file) {
  if (file == MPI_FILE_NULL) return &lamina::core::file_errhandler;
  lamina::io::File* found = lamina::io::FindFile(file);
  return found == nullptr ? nullptr : &found->comm->errhandler;
}

// Raises on the file, or on MPI_FILE_NULL.
int RaiseOnFile(const Entry& entry, MPI_File file, int error_class, const char* text) {
  if (file == MPI_FILE_NULL)
    return lamina::core::RaiseOnNoFile(error_class, entry.name(), "%s", text);
  return lamina::core::Raise(lamina::io::FindFile(file)->comm, error_class, entry.name(), "%s",
                             text);
}

}  // namespace

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  Entry entry(Call::MPI_File_set_errhandler);
  Errhandler** const place = HandlerOf(file);
  if (place == nullptr) return BadFile(entry, file);
  Errhandler* handler = FindErrhandler(errhandler);
  if (handler == nullptr || !HandlerFits(*handler, Target::kFile))
    return RaiseOnFile(entry, file, MPI_ERR_ERRHANDLER,
                       "errhandler is not an error handler for files");
  Retain(handler);
  if (*place != nullptr) Release(*place);
  *place = handler;
  return MPI_SUCCESS;
}
PROFILED(MPI_File_set_errhandler);

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_File_get_errhandler);
  Errhandler** const place = HandlerOf(file);
  if (place == nullptr) return BadFile(entry, file);
  if (errhandler == nullptr)
    return RaiseOnFile(entry, file, MPI_ERR_ARG, "errhandler is a null pointer");
  Errhandler* handler = *place != nullptr ? *place : FindErrhandler(MPI_ERRORS_RETURN);
  Retain(handler);
  *errhandler = handler->handle;
  return MPI_SUCCESS;
}
PROFILED(MPI_File_get_errhandler);

int PMPI_File_call_errhandler(MPI_File file, int errorcode) {
  Entry entry(Call::MPI_File_call_errhandler);
  if (HandlerOf(file) == nullptr) return BadFile(entry, file);
  const char* text = lamina::core::ErrorText(errorcode);
  const std::string words =
      std::string("raised by the application: ") + (text != nullptr ? text : "unknown error code");
  static_cast<void>(RaiseOnFile(entry, file, errorcode, words.c_str()));
  return MPI_SUCCESS;
}
PROFILED(MPI_File_call_errhandler);
