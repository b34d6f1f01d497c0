// SPDX-License-Identifier: BSD-3-Clause
// The note is text: the instructions, each with a space behind it.
#include "checkpoint/criu/processor.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <vector>

#include "checkpoint/criu/words.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint::criu {
namespace {

constexpr const char* kNote = "processor";
constexpr std::size_t kNoteBytesMax = 16384;

// All processors of a machine are taken to be alike.
std::vector<std::string> InstructionsHere() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags") && line.find(':') != line.npos)
      return InstructionsIn(std::string_view(line).substr(line.find(':') + 1));
  return {};
}

}  // namespace

Status NoteProcessor(int folder) {
  std::string text;
  for (const std::string& one : InstructionsHere()) text += one + " ";
  const Descriptor note(
      openat(folder, kNote, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (note.value() >= 0 &&
      write(note.value(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return {};
  return SystemError(Code::kResource, errno, "cannot write %s", kNote);
}

std::string LackedBy(int folder) {
  const Descriptor note(openat(folder, kNote, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::string text(kNoteBytesMax, '\0');
  const ssize_t bytes = note.value() < 0 ? 0 : read(note.value(), text.data(), text.size());
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  const std::vector<std::string> here = InstructionsHere();
  std::string lacking;
  for (const std::string& one : InstructionsIn(text))
    if (std::find(here.begin(), here.end(), one) == here.end())
      lacking += (lacking.empty() ? "" : ", ") + one;
  return lacking.empty() ? "" : "the processor here lacks " + lacking + ", which it may use";
}

}  // namespace lamina::checkpoint::criu
