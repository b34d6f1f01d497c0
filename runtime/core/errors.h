// SPDX-License-Identifier: BSD-3-Clause
// Error classes, codes, strings and handlers (MPI-5.0, section 9.3 to 9.5).
//
// Every failing MPI function ends in one call of Raise(), which prints or stores the text, invokes
// the right handler and gives the value to return.
#pragma once

#include <mpi.h>

#include <string>
#include <tuple>

#include "runtime/base/param.h"
#include "runtime/base/status.h"
#include "runtime/object/object.h"

namespace lamina::core {

struct Comm;
struct Session;

struct Errhandler : Object {
  static constexpr Kind kKind = Kind::kErrhandler;
  Errhandler() : Object(kKind) {}
  enum class Action { kFatal, kAbort, kReturn, kUser };
  // What it may be set on; the predefined ones on everything.
  enum class Target { kAny, kComm, kWin, kFile, kSession };
  Action action = Action::kFatal;
  Target target = Target::kAny;
  void (*function)() = nullptr;  // MPI_Comm_errhandler_function and kin, by target
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
};

// MPI_ERRORS_ARE_FATAL, _ABORT, _RETURN or one of ours; null if it is none.
Errhandler* FindErrhandler(MPI_Errhandler handle);
void Retain(Errhandler* handler);
void Release(Errhandler* handler);

struct ErrorParams {
  std::string initial_handler = "mpi_errors_are_fatal";
};
inline constexpr std::tuple kErrorFields{param::Describe(
    "core.errors.initial_handler", &ErrorParams::initial_handler,
    "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",
    "Error handler of MPI_COMM_WORLD and MPI_COMM_SELF to begin with, and of errors "
    "while there is neither.")};
// The one named by the parameter, read from the environment when it is first asked for.
Errhandler* InitialErrhandler();

// Of files that are not open, MPI_FILE_NULL: MPI_ERRORS_RETURN to begin with (section 14.7).
extern Errhandler* file_errhandler;

// Reports an error on `comm` (null: MPI_COMM_SELF's handler, as section 9.3 says for errors without
// an object; the initial one while there is no MPI_COMM_SELF). `call` is the MPI function, the text
// says which argument and which value: Raise(comm, MPI_ERR_TAG, "MPI_Send", "tag is %d, must be
// 0..%d", tag, ub). Returns `error_class` if the handler returns.
[[gnu::format(printf, 4, 5), gnu::cold]] int Raise(Comm* comm, int error_class, const char* call,
                                                   const char* format, ...);
// The same for a Status from below; its code gives the class.
[[gnu::cold]] int Raise(Comm* comm, const Status& status, const char* call);
// Before an error of which another process tells more, or sooner: if `comm`'s handler ends the job,
// gives that process the time to do so.
void LetOthersSpeak(Comm* comm);
int ClassOf(Code code);
// The same on a session, and on MPI_FILE_NULL.
[[gnu::format(printf, 4, 5), gnu::cold]] int RaiseOn(Session* session, int error_class,
                                                     const char* call, const char* format, ...);
[[gnu::format(printf, 3, 4), gnu::cold]] int RaiseOnNoFile(int error_class, const char* call,
                                                           const char* format, ...);
// Through a handler that is not (yet) anybody's: of a session that could not be made.
[[gnu::format(printf, 4, 5), gnu::cold]] int RaiseThrough(Errhandler* handler, int error_class,
                                                          const char* call, const char* format,
                                                          ...);

// Static storage: the text of a predefined class, "MPI_ERR_TAG: invalid tag"; "" if unknown.
const char* ClassText(int error_class);

// What the last Raise() in this thread with this class said, "" if the last one had another class.
// So a program that handles errors itself gets the call and the argument from MPI_Error_string.
const char* LastErrorText(int error_class);

// Classes, codes and texts added by the application (section 9.5); usable before initialisation.
// The first number given out is MPI_ERR_LASTCODE + 1. Each returns an MPI error class.
int AddErrorClass(int* error_class);
int AddErrorCode(int error_class, int* error_code);
int AddErrorString(int error_code, const char* text);
int RemoveErrorClass(int error_class);
int RemoveErrorCode(int error_code);
int RemoveErrorString(int error_code);
// The class of a code: predefined, added, or -1 if it is none.
int ClassOfErrorCode(int error_code);
// The text of a predefined class or of an added class or code ("" if none was given); null if
// unknown.
const char* ErrorText(int error_code);
// For MPI_LASTUSEDCODE.
int LastUsedErrorCode();

// Ends the job: asks the launcher through PMIx if there is one, then exits with `code`.
[[noreturn]] void AbortJob(int code, const char* why);

}  // namespace lamina::core
