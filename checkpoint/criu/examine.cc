// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/criu/examine.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "checkpoint/criu/processes.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint::criu {
namespace {

namespace fs = std::filesystem;

// These devices have no state, so criu opens them anew.
constexpr std::string_view kPlainDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                              "/dev/urandom"};

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

}  // namespace

std::vector<std::string> ExamineProcesses(const Subject& subject) {
  std::vector<std::string> causes;
  const std::vector<std::string> found = ProcessesFrom(subject.process);
  for (const std::string& one : found) {
    const fs::path process = fs::path("/proc") / one;
    const std::string who = Format("rank %u (process %s)", subject.rank, one.c_str());
    std::error_code error;
    if (fs::exists(process, error)) {
      ExamineProcess(who, process, &causes);
    } else if (one == found.front()) {
      causes.push_back(who + " has ended");
    }
  }
  return causes;
}

}  // namespace lamina::checkpoint::criu
