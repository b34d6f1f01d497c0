// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/control_group.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// More than this is no limit: version 1 writes a number near 2^63 for it.
constexpr std::int64_t kLimitBytesMax = std::int64_t{1} << 60;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Returns the number in a file that holds one; nothing for "max" or if it is not there.
std::optional<std::int64_t> NumberIn(const std::string& path) {
  const std::string text = Read(path);
  return ParseInteger(std::string_view(text).substr(0, text.find('\n')));
}

// Returns the number behind `key` in a file with a key and a number in each line.
std::optional<std::int64_t> NumberOf(const std::string& path, std::string_view key) {
  const std::string text = Read(path);
  for (const std::string_view line : Split(text, '\n'))
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
      return ParseInteger(Trim(line.substr(key.size())));
  return std::nullopt;
}

std::string SizeText(std::int64_t bytes) {
  constexpr std::int64_t kMiB = 1 << 20;
  if (bytes % (1024 * kMiB) == 0) return Format("%lld GiB", static_cast<long long>(bytes >> 30));
  if (bytes >= kMiB) return Format("%lld MiB", static_cast<long long>((bytes + kMiB / 2) >> 20));
  return Format("%lld KiB", static_cast<long long>(bytes >> 10));
}

// Returns the path of this process's group, of which `controllers` is one of a list with commas, or
// empty for version 2.
std::optional<std::string> PathOf(const std::string& membership, std::string_view controller) {
  for (const std::string_view line : Split(membership, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    for (const std::string_view each : Split(line.substr(first + 1, second - first - 1), ','))
      if (each == controller) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

}  // namespace

ControlGroups::ControlGroups() : ControlGroups("/sys/fs/cgroup", Read("/proc/self/cgroup")) {}

ControlGroups::ControlGroups(std::string root, const std::string& membership) {
  bool first = false;
  memory_ = Find(root, membership, "memory", &memory_is_first_version_);
  processes_ = Find(root, membership, "pids", &first);
  kills_seen_ = KillsNow();
}

std::vector<ControlGroups::Group> ControlGroups::Find(const std::string& root,
                                                      const std::string& membership,
                                                      const std::string& controller,
                                                      bool* is_first_version) const {
  std::optional<std::string> path = PathOf(membership, controller);
  *is_first_version = path.has_value();
  if (!path) path = PathOf(membership, "");
  if (!path) return {};
  const std::string top = *is_first_version ? root + "/" + controller : root;
  std::vector<Group> groups;
  for (std::string name = *path; name.starts_with('/');) {
    // In a container the paths of the machine may not be there, and its own group is the top.
    const std::string folder = name == "/" ? top : top + name;
    if (access(folder.c_str(), F_OK) == 0) groups.push_back({name, folder});
    if (name == "/") break;
    name.resize(std::max<std::size_t>(name.find_last_of('/'), 1));
  }
  return groups;
}

std::uint64_t ControlGroups::KillsNow() const {
  if (memory_.empty()) return 0;
  const std::string& folder = memory_.front().folder;
  const auto kills = memory_is_first_version_ ? NumberOf(folder + "/memory.oom_control", "oom_kill")
                                              : NumberOf(folder + "/memory.events", "oom_kill");
  return static_cast<std::uint64_t>(kills.value_or(0));
}

std::string ControlGroups::MemoryShortage() {
  const std::uint64_t kills = KillsNow();
  if (kills <= kills_seen_) return {};
  kills_seen_ = kills;
  const Group* tightest = nullptr;
  std::int64_t least = kLimitBytesMax;
  for (const Group& group : memory_) {
    const auto limit = NumberIn(
        group.folder + (memory_is_first_version_ ? "/memory.limit_in_bytes" : "/memory.max"));
    if (!limit || *limit >= least) continue;
    least = *limit;
    tightest = &group;
  }
  if (tightest == nullptr) return "the lack of memory on this node";
  return Format("the memory limit of control group %s (%s)", tightest->name.c_str(),
                SizeText(least).c_str());
}

std::string ControlGroups::ProcessShortage() const {
  for (const Group& group : processes_) {
    const auto limit = NumberIn(group.folder + "/pids.max");
    const auto current = NumberIn(group.folder + "/pids.current");
    if (limit && current && *current >= *limit)
      return Format("the process limit of control group %s (%lld)", group.name.c_str(),
                    static_cast<long long>(*limit));
  }
  rlimit own{};
  if (geteuid() == 0 || getrlimit(RLIMIT_NPROC, &own) != 0 || own.rlim_cur == RLIM_INFINITY)
    return {};
  return Format("the process limit of this user (%llu, ulimit -u)",
                static_cast<unsigned long long>(own.rlim_cur));
}

Status ProcessError(int error, const std::string& what) {
  const std::string shortage = error == EAGAIN ? ControlGroups().ProcessShortage() : "";
  if (shortage.empty()) return SystemError(Code::kResource, error, "%s", what.c_str());
  return Error(Code::kResource, "%s: %s is reached", what.c_str(), shortage.c_str());
}

}  // namespace lamina::launcher
