// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "runtime/base/descriptor.h"

namespace lamina {

std::optional<std::string> ReadFile(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0) return std::nullopt;
  std::string text;
  char piece[4096];
  for (ssize_t bytes; (bytes = read(file.value(), piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(bytes));
  return text;
}

}  // namespace lamina
