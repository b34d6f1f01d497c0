// SPDX-License-Identifier: BSD-3-Clause
// Several chapters share these checks. Each names the call, the argument and its value, and goes
// through the error handler of the communicator concerned, or MPI_COMM_SELF's if there is none.
#pragma once

#include <mpi.h>

#include "runtime/api/api.h"
#include "runtime/core/info.h"
#include "runtime/datatype/datatype.h"
#include "runtime/datatype/op.h"

// Leaves a function that has an Entry called `entry` with the error unless `condition` holds.
#define REQUIRE(condition, comm, error_class, ...)                                \
  do {                                                                            \
    if (__builtin_expect(!(condition), 0))                                        \
      return ::lamina::core::Raise(comm, error_class, entry.name(), __VA_ARGS__); \
  } while (false)

// Requires that an output argument is not null.
#define REQUIRE_POINTER(comm, pointer) \
  REQUIRE((pointer) != nullptr, comm, MPI_ERR_ARG, "%s is a null pointer", #pointer)

namespace lamina::api {

// From now on the profile learns for which requests a call waits. A process that is not profiled
// does without.
void DescribeWaits();

// These are for handles that are not valid: they say which argument it was and what is wrong with
// it.
[[gnu::cold]] int BadComm(const char* call, MPI_Comm handle);
inline int BadComm(const Entry& entry, MPI_Comm handle) { return BadComm(entry.name(), handle); }
[[gnu::cold]] int BadGroup(const Entry& entry, MPI_Group handle);
[[gnu::cold]] int BadDatatype(const Entry& entry, MPI_Datatype handle);
[[gnu::cold]] int BadOp(const Entry& entry, MPI_Op handle);
// The error handler of `comm` is called; null means that no object in particular is concerned.
[[gnu::cold]] int BadInfo(const Entry& entry, MPI_Info handle, core::Comm* comm = nullptr);
[[gnu::cold]] int BadErrhandler(const Entry& entry, MPI_Errhandler handle);
[[gnu::cold]] int BadSession(const Entry& entry, MPI_Session handle);

// True if the handler may be set on this kind of object.
inline bool HandlerFits(const core::Errhandler& handler, core::Errhandler::Target target) {
  return handler.target == core::Errhandler::Target::kAny || handler.target == target;
}

// This says which half of a message or of a collective an argument belongs to.
enum class Side { kSend, kReceive };

// Copies `text`, cut to `bytes_max` with its end mark, and gives its length.
void CopyText(const char* text, char* into, int bytes_max, int* length);

}  // namespace lamina::api
