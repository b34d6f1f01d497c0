// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/errors.h"

#include <poll.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/check.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/log.h"
#include "runtime/core/process.h"
#include "runtime/core/session.h"
#include "runtime/core/win.h"

namespace lamina::core {
namespace {

constexpr int kOthersKnowBetterMs = 2000;

// These are the texts by class, from MPI_SUCCESS on without gaps; errors_test checks that.
constexpr const char* kClassTexts[] = {
    "MPI_SUCCESS: no error",
    "MPI_ERR_BUFFER: invalid buffer pointer",
    "MPI_ERR_COUNT: invalid count argument",
    "MPI_ERR_TYPE: invalid datatype argument",
    "MPI_ERR_TAG: invalid tag argument",
    "MPI_ERR_COMM: invalid communicator",
    "MPI_ERR_RANK: invalid rank",
    "MPI_ERR_REQUEST: invalid request",
    "MPI_ERR_ROOT: invalid root",
    "MPI_ERR_GROUP: invalid group",
    "MPI_ERR_OP: invalid reduction operation",
    "MPI_ERR_TOPOLOGY: invalid topology",
    "MPI_ERR_DIMS: invalid dimensions",
    "MPI_ERR_ARG: invalid argument of some other kind",
    "MPI_ERR_UNKNOWN: unknown error",
    "MPI_ERR_TRUNCATE: message longer than the receive buffer",
    "MPI_ERR_OTHER: known error not in this list",
    "MPI_ERR_INTERN: internal error of the library",
    "MPI_ERR_PENDING: the operation has neither failed nor completed",
    "MPI_ERR_IN_STATUS: the error is in the status of each request",
    "MPI_ERR_ACCESS: permission denied",
    "MPI_ERR_AMODE: invalid access mode of a file",
    "MPI_ERR_ASSERT: invalid assertion",
    "MPI_ERR_BAD_FILE: invalid file name",
    "MPI_ERR_BASE: invalid base of memory to be freed",
    "MPI_ERR_CONVERSION: a data conversion function failed",
    "MPI_ERR_DISP: invalid displacement",
    "MPI_ERR_DUP_DATAREP: the data representation is already registered",
    "MPI_ERR_FILE_EXISTS: the file exists",
    "MPI_ERR_FILE_IN_USE: the file is open elsewhere",
    "MPI_ERR_FILE: invalid file handle",
    "MPI_ERR_INFO_KEY: info key too long or empty",
    "MPI_ERR_INFO_NOKEY: no such info key",
    "MPI_ERR_INFO_VALUE: info value too long",
    "MPI_ERR_INFO: invalid info object",
    "MPI_ERR_IO: input or output failed",
    "MPI_ERR_KEYVAL: invalid attribute key",
    "MPI_ERR_LOCKTYPE: invalid lock type",
    "MPI_ERR_NAME: no such service name",
    "MPI_ERR_NO_MEM: out of memory",
    "MPI_ERR_NOT_SAME: a collective argument differs between processes",
    "MPI_ERR_NO_SPACE: no space left",
    "MPI_ERR_NO_SUCH_FILE: the file does not exist",
    "MPI_ERR_PORT: invalid port name",
    "MPI_ERR_QUOTA: quota exceeded",
    "MPI_ERR_READ_ONLY: read-only file or file system",
    "MPI_ERR_RMA_ATTACH: memory cannot be attached to the window",
    "MPI_ERR_RMA_CONFLICT: conflicting accesses to a window",
    "MPI_ERR_RMA_RANGE: target memory is not part of the window",
    "MPI_ERR_RMA_SHARED: memory cannot be shared",
    "MPI_ERR_RMA_SYNC: wrong synchronisation of one-sided calls",
    "MPI_ERR_SERVICE: invalid service name",
    "MPI_ERR_SIZE: invalid size",
    "MPI_ERR_SPAWN: processes could not be spawned",
    "MPI_ERR_UNSUPPORTED_DATAREP: unsupported data representation",
    "MPI_ERR_UNSUPPORTED_OPERATION: unsupported operation",
    "MPI_ERR_WIN: invalid window",
    "MPI_ERR_RMA_FLAVOR: wrong flavour of window",
    "MPI_ERR_PROC_ABORTED: a process is gone",
    "MPI_ERR_VALUE_TOO_LARGE: the value does not fit",
    "MPI_ERR_SESSION: invalid session",
    "MPI_ERR_ERRHANDLER: invalid error handler",
    "MPI_ERR_ABI: wrong or unknown application binary interface",
};
constexpr int kClasses = static_cast<int>(std::size(kClassTexts));
static_assert(kClasses == MPI_ERR_ABI + 1);

// The classes of the tool interface stand apart (MPI-5.0, section 15.3.10).
constexpr const char* kToolTexts[] = {
    "MPI_T_ERR_CANNOT_INIT: the tool interface cannot be initialized",
    "MPI_T_ERR_NOT_ACCESSIBLE: not accessible now",
    "MPI_T_ERR_NOT_INITIALIZED: the tool interface is not initialized",
    "MPI_T_ERR_NOT_SUPPORTED: not supported",
    "MPI_T_ERR_MEMORY: out of memory",
    "MPI_T_ERR_INVALID: invalid argument",
    "MPI_T_ERR_INVALID_INDEX: there is nothing of that index",
    "MPI_T_ERR_INVALID_ITEM: the enumeration has no such item",
    "MPI_T_ERR_INVALID_SESSION: invalid performance session",
    "MPI_T_ERR_INVALID_HANDLE: invalid handle",
    "MPI_T_ERR_INVALID_NAME: nothing is called that",
    "MPI_T_ERR_OUT_OF_HANDLES: no more handles",
    "MPI_T_ERR_OUT_OF_SESSIONS: no more sessions",
    "MPI_T_ERR_CVAR_SET_NOT_NOW: the variable cannot be set any more",
    "MPI_T_ERR_CVAR_SET_NEVER: the variable cannot be set",
    "MPI_T_ERR_PVAR_NO_WRITE: the variable cannot be written or reset",
    "MPI_T_ERR_PVAR_NO_STARTSTOP: the variable cannot be started or stopped",
    "MPI_T_ERR_PVAR_NO_ATOMIC: the variable cannot be read and reset at once",
};
static_assert(MPI_T_ERR_CANNOT_INIT + std::size(kToolTexts) == MPI_T_ERR_PVAR_NO_ATOMIC + 1);

// Returns null if it is no predefined class.
const char* PredefinedText(int error_class) {
  if (error_class >= 0 && error_class < kClasses) return kClassTexts[error_class];
  if (error_class >= MPI_T_ERR_CANNOT_INIT && error_class <= MPI_T_ERR_PVAR_NO_ATOMIC)
    return kToolTexts[error_class - MPI_T_ERR_CANNOT_INIT];
  return nullptr;
}

std::string ClassName(int error_class) {
  const char* text = PredefinedText(error_class);
  if (text == nullptr) return "class " + std::to_string(error_class);
  return std::string(text, std::strchr(text, ':'));
}

// These are the classes and codes that the application added, indexed by number - MPI_ERR_LASTCODE
// - 1. A removed one leaves a hole that is refilled only from the end, as section 9.5 asks of
// MPI_LASTUSEDCODE.
struct Added {
  int error_class;  // equal to the number for a class
  bool removed = false;
  std::string text;
};
constinit std::vector<Added>* added = nullptr;
// A mutex of its own guards them, because any thread may call these functions at any time, with or
// without the library lock.
constinit std::mutex added_lock;
using AddedGuard = std::lock_guard<std::mutex>;
constexpr int kFirstAdded = MPI_ERR_LASTCODE + 1;

Added* FindAdded(int error_code) {
  const int index = error_code - kFirstAdded;
  if (added == nullptr || index < 0 || index >= static_cast<int>(added->size())) return nullptr;
  Added* found = &(*added)[index];
  return found->removed ? nullptr : found;
}

int Add(int error_class, bool is_class) {
  if (added == nullptr) added = new std::vector<Added>;
  const int number = kFirstAdded + static_cast<int>(added->size());
  added->push_back(Added{is_class ? number : error_class, false, {}});
  return number;
}

int Remove(int error_code) {
  FindAdded(error_code)->removed = true;
  while (!added->empty() && added->back().removed) added->pop_back();
  return MPI_SUCCESS;
}

struct LastError {
  int error_class = MPI_SUCCESS;
  char text[MPI_MAX_ERROR_STRING] = "";
};
constinit thread_local LastError last_error;

std::string NameOf(const Comm* comm) {
  if (comm == nullptr || comm == self_comm) return "MPI_COMM_SELF";
  if (comm == world) return "MPI_COMM_WORLD";
  return comm->name.empty() ? "a communicator" : comm->name;
}

// An Owner is the object that an error is raised on: who handles the error, and how it is told.
struct Owner {
  Errhandler* handler;
  void* handle;  // where the object's handle is; user functions get it
  std::string name;
};

// Errors without an object belong to MPI_COMM_SELF (section 9.3). Before MPI-4.0 they belonged to
// MPI_COMM_WORLD, so that is where they go if the application has chosen a handler for it alone.
Comm* OwnerWithoutObject() {
  const bool as_before = self_comm != nullptr && !self_comm->chose_errhandler && world != nullptr &&
                         world->chose_errhandler;
  return as_before ? world : self_comm;
}

Owner OwnerOf(Comm* comm) {
  if (comm == nullptr) comm = OwnerWithoutObject();
  if (comm != nullptr && comm->inter != nullptr) comm = comm->inter;  // the application knows that
  if (comm != nullptr) return {comm->errhandler, &comm->handle, NameOf(comm)};
  static MPI_Comm none = MPI_COMM_NULL;
  return {
      InitialErrhandler(), &none,
      process == nullptr ? "errors outside MPI_Init...MPI_Finalize" : "errors without an object"};
}

Owner OwnerOf(Session* session) { return {session->errhandler, &session->handle, "a session"}; }

Owner OwnerOf(Win* win) {
  return {win->comm->errhandler, &win->handle, win->name.empty() ? "a window" : win->name};
}

Owner NoFile() {
  static MPI_File none = MPI_FILE_NULL;
  return {file_errhandler != nullptr ? file_errhandler : FindErrhandler(MPI_ERRORS_RETURN), &none,
          "MPI_FILE_NULL"};
}

void CallUser(const Errhandler& handler, void* handle, int code) {
  switch (handler.target) {
    case Errhandler::Target::kAny:
    case Errhandler::Target::kComm:
      return reinterpret_cast<MPI_Comm_errhandler_function*>(handler.function)(
          static_cast<MPI_Comm*>(handle), &code);
    case Errhandler::Target::kWin:
      return reinterpret_cast<MPI_Win_errhandler_function*>(handler.function)(
          static_cast<MPI_Win*>(handle), &code);
    case Errhandler::Target::kFile:
      return reinterpret_cast<MPI_File_errhandler_function*>(handler.function)(
          static_cast<MPI_File*>(handle), &code);
    case Errhandler::Target::kSession:
      return reinterpret_cast<MPI_Session_errhandler_function*>(handler.function)(
          static_cast<MPI_Session*>(handle), &code);
  }
}

bool Ends(const Errhandler& handler) {
  return handler.action == Errhandler::Action::kFatal ||
         handler.action == Errhandler::Action::kAbort;
}

int Handle(const Owner& owner, int error_class, const char* call, const char* text) {
  last_error.error_class = error_class;
  snprintf(last_error.text, sizeof last_error.text, "%s: %s", call, text);
  switch (owner.handler->action) {
    case Errhandler::Action::kReturn:
      RecordEvent("%s: %s (%s), returned", call, text, ClassName(error_class).c_str());
      return error_class;
    case Errhandler::Action::kUser:
      RecordEvent("%s: %s (%s), handed to the application", call, text,
                  ClassName(error_class).c_str());
      CallUser(*owner.handler, owner.handle, error_class);
      return error_class;
    case Errhandler::Action::kFatal:
    case Errhandler::Action::kAbort:
      // MPI_ERRORS_ARE_FATAL ends all connected processes, and MPI_ERRORS_ABORT those of the
      // communicator (section 9.3). The latter ends the job too: all its processes are connected
      // and none could go on without those that are gone, and the standard's advice for MPI_Abort
      // is then to end them all.
      break;
  }
  // The launcher learns of the lost process at this moment, names the cause and ends us. This
  // process reports the error only if the launcher does not.
  if (error_class == MPI_ERR_PROC_ABORTED) poll(nullptr, 0, kOthersKnowBetterMs);
  const bool fatal = owner.handler->action == Errhandler::Action::kFatal;
  // Without a text it is another process that says what is wrong.
  if (text[0] != '\0')
    Log(Level::kError, call, "%s (%s); the job is ended: %s on %s", text,
        ClassName(error_class).c_str(), fatal ? "MPI_ERRORS_ARE_FATAL" : "MPI_ERRORS_ABORT",
        owner.name.c_str());
  AbortJob(error_class, call);
}

#define FORMAT_TEXT(text, format)                  \
  char text[400];                                  \
  va_list arguments;                               \
  va_start(arguments, format);                     \
  vsnprintf(text, sizeof text, format, arguments); \
  va_end(arguments)

}  // namespace

constinit Errhandler* file_errhandler = nullptr;

Errhandler* InitialErrhandler() {
  static Errhandler* const initial = [] {
    ErrorParams params;
    const Environment environment = Environment::OfThisProcess();
    // Initialisation reports a bad value together with all others.
    if (!param::Load(param::Settings::FromEnvironment(environment), kErrorFields, &params).ok())
      return FindErrhandler(MPI_ERRORS_ARE_FATAL);
    return FindErrhandler(params.initial_handler == "mpi_errors_return"  ? MPI_ERRORS_RETURN
                          : params.initial_handler == "mpi_errors_abort" ? MPI_ERRORS_ABORT
                                                                         : MPI_ERRORS_ARE_FATAL);
  }();
  return initial;
}

Errhandler* FindErrhandler(MPI_Errhandler handle) {
  struct Predefined {
    Errhandler fatal, abort, give_back;
    Predefined() {
      fatal.handle = MPI_ERRORS_ARE_FATAL;
      abort.handle = MPI_ERRORS_ABORT;
      abort.action = Errhandler::Action::kAbort;
      give_back.handle = MPI_ERRORS_RETURN;
      give_back.action = Errhandler::Action::kReturn;
    }
  };
  static Predefined predefined;
  if (handle == MPI_ERRORS_ARE_FATAL) return &predefined.fatal;
  if (handle == MPI_ERRORS_ABORT) return &predefined.abort;
  if (handle == MPI_ERRORS_RETURN) return &predefined.give_back;
  return FromHandle<Errhandler>(handle);
}

void Retain(Errhandler* handler) {
  if (!IsPredefined(handler->handle)) ++handler->references;
}

void Release(Errhandler* handler) {
  CHECK(handler->references > 0);
  if (IsPredefined(handler->handle) || --handler->references > 0) return;
  handler->kind = Kind::kFreed;
  delete handler;
}

int Raise(Comm* comm, int error_class, const char* call, const char* format, ...) {
  FORMAT_TEXT(text, format);
  return Handle(OwnerOf(comm), error_class, call, text);
}

bool EndsJob(Comm* comm) { return Ends(*OwnerOf(comm).handler); }

void LetOthersSpeak(Comm* comm) {
  if (EndsJob(comm)) poll(nullptr, 0, kOthersKnowBetterMs);
}

int Raise(Comm* comm, const Status& status, const char* call) {
  const std::string text(status.message());
  return Handle(OwnerOf(comm), ClassOf(status.code()), call, text.c_str());
}

int RaiseOn(Session* session, int error_class, const char* call, const char* format, ...) {
  FORMAT_TEXT(text, format);
  return Handle(OwnerOf(session), error_class, call, text);
}

int RaiseOn(Win* win, int error_class, const char* call, const char* format, ...) {
  FORMAT_TEXT(text, format);
  return Handle(OwnerOf(win), error_class, call, text);
}

int RaiseOnNoFile(int error_class, const char* call, const char* format, ...) {
  FORMAT_TEXT(text, format);
  return Handle(NoFile(), error_class, call, text);
}

int RaiseThrough(Errhandler* handler, int error_class, const char* call, const char* format, ...) {
  FORMAT_TEXT(text, format);
  static MPI_Session no_session = MPI_SESSION_NULL;
  static MPI_Comm no_comm = MPI_COMM_NULL;
  void* const none = handler->target == Errhandler::Target::kComm ? static_cast<void*>(&no_comm)
                                                                  : static_cast<void*>(&no_session);
  return Handle({handler, none, "an object that could not be made"}, error_class, call, text);
}

int ClassOf(Code code) {
  switch (code) {
    case Code::kOk:
      return MPI_SUCCESS;
    case Code::kInvalid:
      return MPI_ERR_ARG;
    case Code::kUnsupported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case Code::kTruncated:
      return MPI_ERR_TRUNCATE;
    case Code::kResource:
      return MPI_ERR_NO_MEM;
    case Code::kDenied:
      return MPI_ERR_ACCESS;
    case Code::kPeerLost:
    case Code::kAborted:
      return MPI_ERR_PROC_ABORTED;
    case Code::kInternal:
      return MPI_ERR_INTERN;
    case Code::kAgain:
    case Code::kNotFound:
    case Code::kExists:
    case Code::kCancelled:
    case Code::kTimeout:
      return MPI_ERR_OTHER;
  }
  return MPI_ERR_UNKNOWN;
}

const char* ClassText(int error_class) {
  const char* text = PredefinedText(error_class);
  return text != nullptr ? text : "";
}

const char* LastErrorText(int error_class) {
  if (error_class == MPI_SUCCESS || PredefinedText(error_class) == nullptr) return "";
  return last_error.error_class == error_class ? last_error.text : "";
}

int AddErrorClass(int* error_class) {
  const AddedGuard guard(added_lock);
  *error_class = Add(0, true);
  return MPI_SUCCESS;
}

int AddErrorCode(int error_class, int* error_code) {
  if (ClassOfErrorCode(error_class) != error_class) return MPI_ERR_ARG;
  const AddedGuard guard(added_lock);
  *error_code = Add(error_class, false);
  return MPI_SUCCESS;
}

int AddErrorString(int error_code, const char* text) {
  const AddedGuard guard(added_lock);
  Added* found = FindAdded(error_code);
  if (found == nullptr) return MPI_ERR_ARG;
  found->text.assign(text, strnlen(text, MPI_MAX_ERROR_STRING - 1));
  return MPI_SUCCESS;
}

int RemoveErrorClass(int error_class) {
  const AddedGuard guard(added_lock);
  const Added* found = FindAdded(error_class);
  if (found == nullptr || found->error_class != error_class) return MPI_ERR_ARG;
  if (!found->text.empty()) return MPI_ERR_OTHER;
  for (std::size_t index = 0; index < added->size(); ++index) {
    const Added& other = (*added)[index];
    const bool is_itself = kFirstAdded + static_cast<int>(index) == error_class;
    if (!other.removed && !is_itself && other.error_class == error_class) return MPI_ERR_OTHER;
  }
  return Remove(error_class);
}

int RemoveErrorCode(int error_code) {
  const AddedGuard guard(added_lock);
  const Added* found = FindAdded(error_code);
  if (found == nullptr || found->error_class == error_code) return MPI_ERR_ARG;
  if (!found->text.empty()) return MPI_ERR_OTHER;
  return Remove(error_code);
}

int RemoveErrorString(int error_code) {
  const AddedGuard guard(added_lock);
  Added* found = FindAdded(error_code);
  if (found == nullptr || found->text.empty()) return MPI_ERR_ARG;
  found->text.clear();
  return MPI_SUCCESS;
}

int ClassOfErrorCode(int error_code) {
  if (PredefinedText(error_code) != nullptr) return error_code;
  if (error_code == MPI_ERR_LASTCODE) return error_code;
  const AddedGuard guard(added_lock);
  const Added* found = FindAdded(error_code);
  return found != nullptr ? found->error_class : -1;
}

const char* ErrorText(int error_code) {
  if (const char* text = PredefinedText(error_code); text != nullptr) return text;
  if (error_code == MPI_ERR_LASTCODE) return "MPI_ERR_LASTCODE: the last predefined error code";
  const AddedGuard guard(added_lock);
  const Added* found = FindAdded(error_code);
  return found != nullptr ? found->text.c_str() : nullptr;
}

int LastUsedErrorCode() {
  const AddedGuard guard(added_lock);
  return MPI_ERR_LASTCODE + (added == nullptr ? 0 : static_cast<int>(added->size()));
}

void AbortJob(int code, const char* why) {
  // Flushing saves what the application has printed.
  fflush(stdout);
  if (core::process != nullptr && core::process->bootstrap != nullptr)
    core::process->bootstrap->Abort(code, why);
  const int status = code & 0xff;
  _exit(status != 0 ? status : 1);
}

}  // namespace lamina::core
