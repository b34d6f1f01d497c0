// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/failure.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <system_error>

namespace lamina::io {
namespace {

std::string Words(int error_number) { return std::generic_category().message(error_number); }

}  // namespace

Failure Fail(int error_class, const char* format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return {error_class, text};
}

int ClassOfErrno(int error_number) {
  switch (error_number) {
    case 0:
      return MPI_SUCCESS;
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case ENAMETOOLONG:
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
      return MPI_ERR_BAD_FILE;
    case EBUSY:
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    case ESPIPE:
    case EOPNOTSUPP:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    default:
      return MPI_ERR_IO;
  }
}

Failure SystemFailure(const char* call, const std::string& path, int error_number) {
  return Fail(ClassOfErrno(error_number), "%s of %s: %s", call, path.c_str(),
              Words(error_number).c_str());
}

Failure TransferFailure(const char* call, const std::string& path, std::int64_t offset,
                        std::int64_t bytes, int error_number) {
  return Fail(ClassOfErrno(error_number), "%s of %s, %lld bytes at offset %lld: %s", call,
              path.c_str(), static_cast<long long>(bytes), static_cast<long long>(offset),
              Words(error_number).c_str());
}

}  // namespace lamina::io
