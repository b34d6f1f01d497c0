// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/process_stat.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>

#include "runtime/base/read_file.h"
#include "runtime/base/text.h"

namespace lamina {
namespace {

// Places of fields behind the name, from 0 on.
constexpr std::size_t kState = 0, kParent = 1, kUserTicks = 11, kSystemTicks = 12, kStart = 19,
                      kPages = 21;

template <class Number>
Number Read(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

// The file reads "pid (name) state parent ...".
std::optional<ProcessStat> DecodeStat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(") ");
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  const std::vector<std::string_view> fields = Split(text.substr(close + 2), ' ');
  if (fields.size() <= kPages || fields[kState].size() != 1) return std::nullopt;
  ProcessStat stat;
  stat.name = std::string(text.substr(open + 1, close - open - 1));
  stat.state = fields[kState][0];
  stat.parent = Read<pid_t>(fields[kParent]);
  stat.cpu_ticks =
      Read<std::uint64_t>(fields[kUserTicks]) + Read<std::uint64_t>(fields[kSystemTicks]);
  stat.start_ticks = Read<std::uint64_t>(fields[kStart]);
  stat.pages = Read<std::uint64_t>(fields[kPages]);
  return stat;
}

std::optional<ProcessStat> StatOf(std::int64_t process) {
  const auto text = ReadFile("/proc/" + std::to_string(process) + "/stat");
  return text ? DecodeStat(*text) : std::nullopt;
}

std::vector<pid_t> ChildrenOf(std::int64_t process) {
  std::vector<pid_t> children;
  const std::string folder = "/proc/" + std::to_string(process) + "/task/";
  DIR* const threads = opendir(folder.c_str());
  if (threads == nullptr) return children;
  while (const dirent* thread = readdir(threads)) {
    if (thread->d_name[0] == '.') continue;
    const std::string list = ReadFile(folder + thread->d_name + "/children").value_or("");
    for (const std::string_view word : Split(list, ' '))
      if (const pid_t child = Read<pid_t>(word); child > 0) children.push_back(child);
  }
  closedir(threads);
  return children;
}

}  // namespace lamina
