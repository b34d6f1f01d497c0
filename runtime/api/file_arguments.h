// SPDX-License-Identifier: BSD-3-Clause
// Functions on files share these checks. Errors go to the file's error handler, or to that of
// MPI_FILE_NULL if there is no file.
#pragma once

#include <mpi.h>

#include "runtime/api/arguments.h"
#include "runtime/io/file.h"
#include "runtime/io/operation.h"

// Leaves a function that has an Entry called `entry` unless `handle` is an open file, and calls
// that `file`.
#define FIND_FILE(file, handle)                                      \
  REQUIRE_INITIALIZED(entry);                                        \
  ::lamina::io::File* const file = ::lamina::io::FindFile(handle);   \
  if (file == nullptr) return ::lamina::api::BadFile(entry, handle); \
  static_assert(true)

namespace lamina::api {

[[gnu::cold]] int BadFile(const Entry& entry, MPI_File handle);

// Raise a failure on a file, or on MPI_FILE_NULL, unless it is none.
int Give(const Entry& entry, io::File* file, const io::Failure& failure);
int GiveWithoutFile(const Entry& entry, const io::Failure& failure);

// Says that an output argument is null.
io::Failure CheckOutput(const char* name, const void* pointer);
// Finds an info object, which is null for MPI_INFO_NULL.
io::Failure FindFileInfo(MPI_Info handle, const core::Info** info);
// Finds the data of an access.
io::Failure FindBuffer(void* address, MPI_Count count, MPI_Datatype datatype,
                       datatype::Buffer* buffer);

}  // namespace lamina::api
