// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/saving/mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>

#include "launcher/wire/stream.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

Result<std::string> Mark::NewName() {
  Result<std::string> bytes = wire::RandomBytes();
  if (!bytes.ok()) return std::move(bytes).status();
  return HexOf(*bytes) + ".mark";
}

// A link that leads nowhere is made with its text in one step, on file systems of a network too.
Result<std::unique_ptr<Mark>> Mark::Leave(int directory, const std::string& name,
                                          std::uint32_t host) {
  std::unique_ptr<Mark> mark(new Mark(Descriptor(fcntl(directory, F_DUPFD_CLOEXEC, 0)), name));
  const int own = mark->directory_.value();
  mark->own_ = symlinkat(std::to_string(host).c_str(), own, name.c_str()) == 0;
  if (!mark->own_ && errno != EEXIST)
    return SystemError(Code::kDenied, errno, "cannot write in the directory of saved states");
  char text[16];
  const ssize_t bytes = readlinkat(own, name.c_str(), text, sizeof text);
  const std::string_view number(text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  const auto read = std::from_chars(number.begin(), number.end(), mark->first_);
  if (read.ec != std::errc() || read.ptr != number.end())
    return Error(Code::kInvalid, "%s is no mark of ours", name.c_str());
  return mark;
}

Mark::~Mark() {
  if (own_) unlinkat(directory_.value(), name_.c_str(), 0);
}

}  // namespace lamina::launcher
