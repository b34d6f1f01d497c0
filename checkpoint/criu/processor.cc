// SPDX-License-Identifier: BSD-3-Clause
// The note is text: the instructions, each with a space behind it.
#include "checkpoint/criu/processor.h"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <vector>

#include "checkpoint/criu/notes.h"
#include "checkpoint/criu/words.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint::criu {
namespace {

constexpr const char* kNote = "processor";

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
  return WriteNote(folder, kNote, text);
}

std::string LackedBy(int folder) {
  const std::vector<std::string> here = InstructionsHere();
  std::string lacking;
  for (const std::string& one : InstructionsIn(ReadNote(folder, kNote)))
    if (std::find(here.begin(), here.end(), one) == here.end())
      lacking += (lacking.empty() ? "" : ", ") + one;
  return lacking.empty() ? "" : "the processor here lacks " + lacking + ", which it may use";
}

}  // namespace lamina::checkpoint::criu
