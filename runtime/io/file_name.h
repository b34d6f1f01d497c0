// SPDX-License-Identifier: BSD-3-Clause
// The name of a file, as MPI_File_open and MPI_File_delete get it.
#pragma once

#include <string>

#include "runtime/io/failure.h"

namespace lamina::io {

// Takes off the prefix that names a file system, and makes the rest an absolute path, because the
// program may change its folder before it closes the file. A prefix of a file system that we do not
// have is MPI_ERR_IO; any other colon is part of the name.
Failure AbsolutePath(const char* name, std::string* path);

}  // namespace lamina::io
