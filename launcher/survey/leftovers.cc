// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survey/leftovers.h"

#include <dirent.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "launcher/control/ask.h"
#include "launcher/shepherd/shepherd_word.h"
#include "launcher/survey/tuning.h"
#include "runtime/base/process_stat.h"
#include "runtime/base/read_file.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

std::string ReadAll(const std::string& path) { return ReadFile(path).value_or(""); }

// It may be called "mpiexec.lamina" if several launchers are installed side by side.
bool IsLauncher(const ProcessSeen& seen) {
  const std::string_view stem = std::string_view(seen.name).substr(0, seen.name.find('.'));
  return seen.listens || stem == "mpiexec" || stem == "mpirun" || stem == "lamina";
}

// Is `word` in a list that zero bytes separate?
bool HasWord(std::string_view list, std::string_view word) {
  for (const std::string_view each : Split(list, '\0'))
    if (each == word) return true;
  return false;
}

// Returns the value of a variable; `name` ends with "=".
std::string Variable(std::string_view list, std::string_view name) {
  for (const std::string_view each : Split(list, '\0'))
    if (each.starts_with(name)) return std::string(each.substr(name.size()));
  return "";
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  DIR* opened = opendir(directory.c_str());
  if (opened == nullptr) return names;
  while (const dirent* entry = readdir(opened))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      names.emplace_back(entry->d_name);
  closedir(opened);
  return names;
}

std::vector<std::string> ProcessDirectories() {
  std::vector<std::string> directories;
  for (const std::string& name : NamesIn("/proc"))
    if (ParseInteger(name)) directories.push_back("/proc/" + name);
  return directories;
}

// Returns everything that some process has mapped or open, as far as it may be seen.
std::string PathsInUse() {
  std::string paths;
  for (const std::string& process : ProcessDirectories()) {
    paths += ReadAll(process + "/maps");
    for (const std::string& fd : NamesIn(process + "/fd")) {
      char target[4096];
      const ssize_t bytes = readlink((process + "/fd/" + fd).c_str(), target, sizeof target);
      if (bytes > 0) paths += std::string(target, static_cast<std::size_t>(bytes)) + "\n";
    }
  }
  return paths;
}

bool StillThere(const ProcessSeen& orphan) {
  const std::optional<ProcessStat> now = StatOf(orphan.process);
  return now && now->name == orphan.name && now->state != 'Z';
}

int KillAll(const std::vector<ProcessSeen>& orphans) {
  for (const ProcessSeen& orphan : orphans)
    if (StillThere(orphan)) kill(orphan.process, SIGKILL);
  for (int round = 0;; ++round) {
    const auto left = std::count_if(orphans.begin(), orphans.end(), StillThere);
    if (left == 0 || round == kRounds) return static_cast<int>(left);
    poll(nullptr, 0, kRoundMs);
  }
}

}  // namespace

std::vector<ProcessSeen> Orphans(std::span<const ProcessSeen> seen, uid_t user) {
  std::map<pid_t, const ProcessSeen*> by_process;
  for (const ProcessSeen& each : seen) by_process[each.process] = &each;
  const auto has_launcher = [&by_process](const ProcessSeen& of) {
    std::set<pid_t> passed;  // the table is no snapshot: it may even go round in circles
    for (pid_t above = of.parent; passed.insert(above).second;) {
      const auto found = by_process.find(above);
      if (found == by_process.end()) return false;
      if (IsLauncher(*found->second) && found->second->state != 'Z') return true;
      above = found->second->parent;
    }
    return false;
  };
  std::vector<ProcessSeen> orphans;
  for (const ProcessSeen& each : seen) {
    if (each.user != user || each.state == 'Z') continue;
    const bool lost_shepherd = each.shepherd && each.parent == 1 && each.state == 'T';
    const bool lost_rank = each.of_rank && !IsLauncher(each) && !has_launcher(each);
    if (lost_shepherd || lost_rank) orphans.push_back(each);
  }
  return orphans;
}

bool IsOurKindOfFile(std::string_view name) { return name.starts_with("ucx_shm_posix_"); }

std::vector<ProcessSeen> LookAtProcesses() {
  const std::vector<control::Launcher> listening = control::Launchers();
  std::vector<ProcessSeen> seen;
  for (const std::string& directory : ProcessDirectories()) {
    ProcessSeen process;
    struct stat status {};
    process.process = static_cast<pid_t>(ParseInteger(directory.substr(6)).value_or(0));
    const std::optional<ProcessStat> its = StatOf(process.process);
    if (stat(directory.c_str(), &status) != 0 || !its) continue;
    process.name = its->name;
    process.state = its->state;
    process.parent = its->parent;
    process.user = status.st_uid;
    const std::string environment = ReadAll(directory + "/environ");
    process.job = Variable(environment, "PMIX_NAMESPACE=");
    process.of_rank = !process.job.empty() && !Variable(environment, "LAMINA_EVENT_FD=").empty();
    process.rank =
        static_cast<std::uint32_t>(ParseInteger(Variable(environment, "PMIX_RANK=")).value_or(0));
    if (process.of_rank)
      process.has_mpi = ReadAll(directory + "/maps").find("/libmpi_abi.so") != std::string::npos;
    process.listens = std::any_of(
        listening.begin(), listening.end(),
        [&process](const control::Launcher& each) { return each.process == process.process; });
    process.shepherd =
        IsLauncher(process) && HasWord(ReadAll(directory + "/cmdline"), kShepherdWord);
    seen.push_back(std::move(process));
  }
  return seen;
}

std::vector<std::string> LookAtFiles(uid_t user) {
  std::vector<std::string> found;
  for (const std::string& name : NamesIn("/dev/shm")) {
    const std::string path = "/dev/shm/" + name;
    struct stat status {};
    if (IsOurKindOfFile(name) && lstat(path.c_str(), &status) == 0 && status.st_uid == user)
      found.push_back(path);
  }
  if (found.empty()) return found;
  const std::string in_use = PathsInUse();
  std::erase_if(found,
                [&in_use](const std::string& path) { return in_use.find(path) != in_use.npos; });
  return found;
}

int CleanHere(bool dry) {
  const uid_t user = geteuid();
  const std::vector<ProcessSeen> orphans = Orphans(LookAtProcesses(), user);
  for (const ProcessSeen& orphan : orphans)
    printf("process %d (%s), %s\n", orphan.process, orphan.name.c_str(),
           orphan.shepherd ? "a stopped shepherd of nobody's" : "a rank without a launcher");
  int left = dry ? static_cast<int>(orphans.size()) : KillAll(orphans);
  for (const std::string& path : LookAtFiles(user)) {
    printf("file %s, which nobody uses\n", path.c_str());
    if (dry || (unlink(path.c_str()) != 0 && errno != ENOENT)) ++left;
  }
  fflush(stdout);
  return left;
}

}  // namespace lamina::launcher
