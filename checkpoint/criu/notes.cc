// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/criu/notes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/descriptor.h"

namespace lamina::checkpoint::criu {

Status WriteNote(int folder, const char* name, std::string_view text) {
  const Descriptor note(
      openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (note.value() >= 0 &&
      write(note.value(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return {};
  return SystemError(Code::kResource, errno, "cannot write %s", name);
}

std::string ReadNote(int folder, const char* name) {
  const Descriptor note(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::string text;
  char piece[4096];
  for (ssize_t got; note.value() >= 0 && (got = read(note.value(), piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(got));
  return text;
}

}  // namespace lamina::checkpoint::criu
