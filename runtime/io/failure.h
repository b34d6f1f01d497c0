// SPDX-License-Identifier: BSD-3-Clause
// A failure is an error class of MPI and what happened, in words. Operations on files give their
// error classes by the standard (MPI-5.0, section 14.7), so a Code would not tell enough.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace lamina::io {

struct [[nodiscard]] Failure {
  int error_class = MPI_SUCCESS;
  std::string text;

  bool ok() const { return error_class == MPI_SUCCESS; }
};

[[gnu::format(printf, 2, 3)]] Failure Fail(int error_class, const char* format, ...);

// Returns the error class for a value of errno, which is MPI_ERR_IO unless the standard has a
// better one.
int ClassOfErrno(int error_number);

// Says which system call failed on which file and why.
Failure SystemFailure(const char* call, const std::string& path, int error_number);
// Does the same for a call that moves `bytes` bytes at `offset`.
Failure TransferFailure(const char* call, const std::string& path, std::int64_t offset,
                        std::int64_t bytes, int error_number);

}  // namespace lamina::io
