// SPDX-License-Identifier: BSD-3-Clause
// Understands hosts as a user names them: on the command line (-H) and in host files. Pure: no name
// is looked up and no file is read here.
//
// A host file has one host a line; '#' starts a comment, the first word is the host, and key=value
// follow:
//   node01.cluster  slots=4                 # four ranks
//   node02          cpu=2 max_slots=8       # cpu, cpus and slots are the same word
//   node03:4        user=ada prefix=/opt/lamina port=2222
//   node[05-08,12]  slots=4                 # five hosts
//   login           schedule=no             # known, but no rank goes there
// Files of other launchers may have further keys, but a key that looks like a misspelt one is
// refused. A host that is mentioned several times without a number has that many slots, as in a
// batch system's node file; if it is mentioned once, it has as many as it can run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

inline constexpr std::uint32_t kSlotsMax = 1u << 20;

struct HostEntry {
  std::string name;  // exactly as given, never cut at a dot
  std::string user;
  std::string prefix;
  std::optional<std::uint32_t> slots;
  std::optional<std::uint32_t> slots_max;
  bool schedule = true;
  // False for what a resource manager counted: that is a default, and more ranks than slots simply
  // share.
  bool slots_are_a_promise = true;
  std::uint32_t cpus = 0;  // CPUs the job may use there, as the resource manager says; 0: unknown
  std::map<std::string, std::string> extra;
  std::uint32_t taken = 0;  // slots in which ranks of other jobs run
  std::string where;        // "-H", "hosts.txt:3"; for messages
};

// Understands "a:2,b,ada@c:4,[fe80::1]:2,node[01-16]:8". kInvalid names the piece that is wrong.
Result<std::vector<HostEntry>> ParseHostList(std::string_view text);

// Understands the contents of a host file. `path` is for messages only, which begin "path:line: ".
// It is also kInvalid if no host is in it.
Result<std::vector<HostEntry>> ParseHostFile(std::string_view text, std::string_view path);

// Returns a sentence for each key that nobody here knows, of files for other launchers.
std::vector<std::string> UnknownKeys(const std::vector<HostEntry>& hosts);

// Makes one entry per name, in order of first mention: numbers add up, user, prefix and extra are
// taken from the first mention that has them, and one schedule=no wins.
std::vector<HostEntry> MergeHosts(const std::vector<HostEntry>& entries);

}  // namespace lamina::launcher
