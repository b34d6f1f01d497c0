// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/api/arguments.h"

#include <algorithm>
#include <cstring>

namespace lamina::api {
namespace {

int BadHandle(const char* call, int error_class, const char* argument, const void* handle,
              const void* null, const char* null_name, core::Comm* comm = nullptr) {
  if (handle == null) return core::Raise(comm, error_class, call, "%s is %s", argument, null_name);
  return core::Raise(comm, error_class, call,
                     "%s is %p, which is not a valid handle or has been freed", argument, handle);
}

}  // namespace

int BadComm(const char* call, MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF)
    return core::Raise(nullptr, MPI_ERR_COMM, call,
                       "the communicator is %s, which exists only between MPI_Init and "
                       "MPI_Finalize",
                       handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
  return BadHandle(call, MPI_ERR_COMM, "the communicator", handle, MPI_COMM_NULL, "MPI_COMM_NULL");
}
int BadGroup(const Entry& entry, MPI_Group handle) {
  return BadHandle(entry.name(), MPI_ERR_GROUP, "the group", handle, MPI_GROUP_NULL,
                   "MPI_GROUP_NULL");
}
int BadDatatype(const Entry& entry, MPI_Datatype handle) {
  return BadHandle(entry.name(), MPI_ERR_TYPE, "the datatype", handle, MPI_DATATYPE_NULL,
                   "MPI_DATATYPE_NULL");
}
int BadOp(const Entry& entry, MPI_Op handle) {
  return BadHandle(entry.name(), MPI_ERR_OP, "the operation", handle, MPI_OP_NULL, "MPI_OP_NULL");
}
int BadInfo(const Entry& entry, MPI_Info handle, core::Comm* comm) {
  return BadHandle(entry.name(), MPI_ERR_INFO, "the info", handle, MPI_INFO_NULL, "MPI_INFO_NULL",
                   comm);
}
int BadErrhandler(const Entry& entry, MPI_Errhandler handle) {
  return BadHandle(entry.name(), MPI_ERR_ERRHANDLER, "the error handler", handle,
                   MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL");
}
int BadSession(const Entry& entry, MPI_Session handle) {
  return BadHandle(entry.name(), MPI_ERR_SESSION, "the session", handle, MPI_SESSION_NULL,
                   "MPI_SESSION_NULL");
}

void CopyText(const char* text, char* into, int bytes_max, int* length) {
  const std::size_t bytes = std::min(std::strlen(text), static_cast<std::size_t>(bytes_max - 1));
  std::memcpy(into, text, bytes);
  into[bytes] = '\0';
  *length = static_cast<int>(bytes);
}

}  // namespace lamina::api
