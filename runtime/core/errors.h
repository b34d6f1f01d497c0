// SPDX-License-Identifier: BSD-3-Clause
// This header has error classes, codes, strings and handlers (MPI-5.0, sections 9.3 to 9.5).
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
struct Win;

struct Errhandler : Object {
  static constexpr Kind kKind = Kind::kErrhandler;
  Errhandler() : Object(kKind) {}
  enum class Action { kFatal, kAbort, kReturn, kUser };
  // This says what the handler may be set on; the predefined ones may be set on everything.
  enum class Target { kAny, kComm, kWin, kFile, kSession };
  Action action = Action::kFatal;
  Target target = Target::kAny;
  void (*function)() = nullptr;  // MPI_Comm_errhandler_function and kin, by target
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
};

// Finds MPI_ERRORS_ARE_FATAL, _ABORT, _RETURN or one of ours; returns null if it is none.
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
// Returns the handler named by the parameter, which is read from the environment when it is first
// asked for.
Errhandler* InitialErrhandler();

// This handler serves files that are not open (MPI_FILE_NULL); it is MPI_ERRORS_RETURN to begin
// with (section 14.7).
extern Errhandler* file_errhandler;

// Reports an error on `comm`. If `comm` is null, MPI_COMM_SELF's handler is called, as section 9.3
// says for errors without an object, or MPI_COMM_WORLD's if the application has set that alone, or
// the initial one while there is neither. `call` is the MPI function; the text says which argument
// and which value: Raise(comm, MPI_ERR_TAG, "MPI_Send", "tag is %d, must be 0..%d", tag, ub).
// Returns `error_class` if the handler returns.
[[gnu::format(printf, 4, 5), gnu::cold]] int Raise(Comm* comm, int error_class, const char* call,
                                                   const char* format, ...);
// Reports a Status from below, whose code gives the class.
[[gnu::cold]] int Raise(Comm* comm, const Status& status, const char* call);
// Comes before an error of which another process tells more, or sooner: if `comm`'s handler ends
// the job, this gives that process the time to do so.
void LetOthersSpeak(Comm* comm);
// True if an error on `comm` ends the job.
bool EndsJob(Comm* comm);
int ClassOf(Code code);
// These report on a session, on a window, and on MPI_FILE_NULL.
[[gnu::format(printf, 4, 5), gnu::cold]] int RaiseOn(Session* session, int error_class,
                                                     const char* call, const char* format, ...);
[[gnu::format(printf, 4, 5), gnu::cold]] int RaiseOn(Win* win, int error_class, const char* call,
                                                     const char* format, ...);
[[gnu::format(printf, 3, 4), gnu::cold]] int RaiseOnNoFile(int error_class, const char* call,
                                                           const char* format, ...);
// Reports through a handler that does not belong to an object yet, as when a session could not be
// made.
[[gnu::format(printf, 4, 5), gnu::cold]] int RaiseThrough(Errhandler* handler, int error_class,
                                                          const char* call, const char* format,
                                                          ...);

// Returns the text of a predefined class in static storage, "MPI_ERR_TAG: invalid tag", or "" if it
// is unknown.
const char* ClassText(int error_class);

// Returns what the last Raise() in this thread said if it had this predefined class, else "". A
// program that handles errors itself thus gets the call and the argument from MPI_Error_string.
// What the application has added has the application's text alone (sections 9.4 and 9.5).
const char* LastErrorText(int error_class);

// These keep the classes, codes and texts that the application adds (section 9.5); they are usable
// before initialisation. The first number given out is MPI_ERR_LASTCODE + 1. Each returns an MPI
// error class.
int AddErrorClass(int* error_class);
int AddErrorCode(int error_class, int* error_code);
int AddErrorString(int error_code, const char* text);
int RemoveErrorClass(int error_class);
int RemoveErrorCode(int error_code);
int RemoveErrorString(int error_code);
// Returns the class of a predefined or added code, or -1 if it is none.
int ClassOfErrorCode(int error_code);
// Returns the text of a predefined class or of an added class or code ("" if none was given), or
// null if it is unknown.
const char* ErrorText(int error_code);
// Returns the value of MPI_LASTUSEDCODE.
int LastUsedErrorCode();

// Ends the job: asks the launcher through PMIx if there is one, then exits with `code`.
[[noreturn]] void AbortJob(int code, const char* why);

}  // namespace lamina::core
