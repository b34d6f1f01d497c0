// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/status.h"

#include <sys/resource.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "runtime/base/text.h"

namespace lamina {

const char* Name(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kAgain:
      return "again";
    case Code::kInvalid:
      return "invalid";
    case Code::kNotFound:
      return "not found";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kExists:
      return "exists";
    case Code::kTruncated:
      return "truncated";
    case Code::kCancelled:
      return "cancelled";
    case Code::kTimeout:
      return "timeout";
    case Code::kResource:
      return "out of resources";
    case Code::kDenied:
      return "denied";
    case Code::kPeerLost:
      return "peer lost";
    case Code::kInternal:
      return "internal";
    case Code::kAborted:
      return "aborted";
  }
  return "unknown";
}

Status Status::Within(std::string_view prefix) && {
  if (!ok()) {
    std::string text(prefix);
    text += ": ";
    state_->message.insert(0, text);
  }
  return std::move(*this);
}

Status Error(Code code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string message = FormatV(format, arguments);
  va_end(arguments);
  return Status(code, std::move(message));
}

Status SystemError(Code code, int error, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string message = FormatV(format, arguments);
  va_end(arguments);
  char buffer[128];
  message += ": ";
  message += strerror_r(error, buffer, sizeof buffer);
  rlimit files;
  if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &files) == 0)
    message += Format("; ulimit -n allows %llu", static_cast<unsigned long long>(files.rlim_cur));
  return Status(code, std::move(message));
}

}  // namespace lamina
