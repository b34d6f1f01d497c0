// SPDX-License-Identifier: BSD-3-Clause
// Checks the chapters share. Each names the call, the argument and its value, and goes through the
// error handler of the communicator concerned (none: MPI_COMM_SELF's).
#pragma once

#include <mpi.h>

#include "runtime/api/api.h"
#include "runtime/core/info.h"
#include "runtime/datatype/datatype.h"
#include "runtime/datatype/op.h"

// Within a function that has an Entry called `entry`: leaves with the error unless `condition`
// holds.
#define REQUIRE(condition, comm, error_class, ...)                                \
  do {                                                                            \
    if (__builtin_expect(!(condition), 0))                                        \
      return ::lamina::core::Raise(comm, error_class, entry.name(), __VA_ARGS__); \
  } while (false)

// An output argument must not be null.
#define REQUIRE_POINTER(comm, pointer) \
  REQUIRE((pointer) != nullptr, comm, MPI_ERR_ARG, "%s is a null pointer", #pointer)

namespace lamina::api {

// For handles that are not one: says which argument it was and what is wrong with it.
[[gnu::cold]] int BadComm(const char* call, MPI_Comm handle);
inline int BadComm(const Entry& entry, MPI_Comm handle) { return BadComm(entry.name(), handle); }
[[gnu::cold]] int BadGroup(const Entry& entry, MPI_Group handle);
[[gnu::cold]] int BadDatatype(const Entry& entry, MPI_Datatype handle);
[[gnu::cold]] int BadOp(const Entry& entry, MPI_Op handle);
// `comm`: whose error handler is called; null: that of no object in particular.
[[gnu::cold]] int BadInfo(const Entry& entry, MPI_Info handle, core::Comm* comm = nullptr);
[[gnu::cold]] int BadErrhandler(const Entry& entry, MPI_Errhandler handle);
[[gnu::cold]] int BadSession(const Entry& entry, MPI_Session handle);

// May the handler be set on this kind of object?
inline bool HandlerFits(const core::Errhandler& handler, core::Errhandler::Target target) {
  return handler.target == core::Errhandler::Target::kAny || handler.target == target;
}

// Which half of a message or of a collective an argument belongs to.
enum class Side { kSend, kReceive };

// Copies `text`, cut to `bytes_max` with its end mark, and gives its length.
void CopyText(const char* text, char* into, int bytes_max, int* length);

}  // namespace lamina::api
