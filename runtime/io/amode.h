// SPDX-License-Identifier: BSD-3-Clause
// The access mode of a file (MPI-5.0, section 14.2.1).
#pragma once

#include "runtime/io/failure.h"

namespace lamina::io {

// MPI_ERR_AMODE if the bits contradict one another or are unknown.
Failure CheckAmode(int amode);

// Returns the flags of open(2) for it, without those that create the file.
int OpenFlags(int amode);

inline bool Reads(int amode) { return (amode & MPI_MODE_WRONLY) == 0; }
inline bool Writes(int amode) { return (amode & MPI_MODE_RDONLY) == 0; }
inline bool IsSequential(int amode) { return (amode & MPI_MODE_SEQUENTIAL) != 0; }

}  // namespace lamina::io
