// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/criu/examine.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::checkpoint::criu {
namespace {

namespace fs = std::filesystem;

// These devices have no state, so criu opens them anew.
constexpr std::string_view kPlainDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                              "/dev/urandom"};

std::string LinkAt(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::read_symlink(path, error);
  return error ? std::string() : target.string();
}

std::string TextAt(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Returns what is wrong with an open file, or "".
std::string WrongWith(std::string_view target) {
  const std::string name(target);
  if (target == "anon_inode:[io_uring]") return "uses io_uring, by";
  if (!target.starts_with("/dev/") || target.starts_with("/dev/shm/")) return "";
  for (const std::string_view plain : kPlainDevices)
    if (target == plain) return "";
  if (target.starts_with("/dev/pts/") || target.starts_with("/dev/tty"))
    return "has the terminal " + name + " open as";
  return "has " + name + " open as";
}

// Returns what is in a folder of /proc, as far as it can be read: its process may end meanwhile.
std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  return entries;
}

std::int64_t TracerIn(std::string_view status) {
  constexpr std::string_view kWord = "TracerPid:";
  for (const std::string_view line : Split(status, '\n'))
    if (line.starts_with(kWord)) return ParseInteger(Trim(line.substr(kWord.size()))).value_or(0);
  return 0;
}

void ExamineProcess(const std::string& who, const fs::path& process,
                    std::vector<std::string>* causes) {
  const std::string own_namespace = LinkAt("/proc/self/ns/pid");
  const std::string its_namespace = LinkAt(process / "ns/pid");
  if (!its_namespace.empty() && its_namespace != own_namespace)
    causes->push_back(who + " is in another pid namespace than its shepherd");
  const std::string status = TextAt(process / "status");
  if (const std::int64_t tracer = TracerIn(status); tracer != 0)
    causes->push_back(who + Format(" is debugged by process %lld", static_cast<long long>(tracer)));
  if (TextAt(process / "maps").find(" /SYSV") != std::string::npos)
    causes->push_back(who + " uses System V shared memory");
  for (const fs::path& entry : EntriesOf(process / "fd")) {
    const std::string wrong = WrongWith(LinkAt(entry));
    if (!wrong.empty())
      causes->push_back(who + " " + wrong + " descriptor " + entry.filename().string());
  }
}

std::vector<std::string> ChildrenOf(const fs::path& process) {
  std::vector<std::string> children;
  for (const fs::path& task : EntriesOf(process / "task")) {
    const std::string text = TextAt(task / "children");
    for (const std::string_view child : Split(Trim(text), ' '))
      if (!child.empty()) children.emplace_back(child);
  }
  return children;
}

}  // namespace

std::vector<std::string> ExamineProcesses(const Subject& subject) {
  std::vector<std::string> causes;
  std::vector<std::string> found = {std::to_string(subject.process)};
  for (std::size_t at = 0; at < found.size(); ++at) {
    const fs::path process = fs::path("/proc") / found[at];
    const std::string who = Format("rank %u (process %s)", subject.rank, found[at].c_str());
    std::error_code error;
    if (fs::exists(process, error)) {
      ExamineProcess(who, process, &causes);
    } else if (at == 0) {
      causes.push_back(who + " has ended");
    }
    for (std::string& child : ChildrenOf(process)) found.push_back(std::move(child));
  }
  return causes;
}

}  // namespace lamina::checkpoint::criu
