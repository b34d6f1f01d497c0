// SPDX-License-Identifier: BSD-3-Clause
// The note is text: the number of each group, with a space behind it.
#include "checkpoint/criu/groups.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "checkpoint/criu/notes.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint::criu {
namespace {

constexpr const char* kNote = "groups";

std::string GroupsHere() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
  getgroups(static_cast<int>(groups.size()), groups.data());
  std::sort(groups.begin(), groups.end());
  std::string text;
  for (const gid_t group : groups) text += Format("%u ", group);
  return text;
}

long CountOf(const std::string& groups) { return std::count(groups.begin(), groups.end(), ' '); }

}  // namespace

Status NoteGroups(int folder) { return WriteNote(folder, kNote, GroupsHere()); }

std::string OtherGroups(int folder) {
  const std::string then = ReadNote(folder, kNote), now = GroupsHere();
  if (then.empty() || then == now) return "";
  return Format(
      "it had other supplementary groups (%ld, and %ld here), which only root can change; the "
      "command id tells them",
      CountOf(then), CountOf(now));
}

}  // namespace lamina::checkpoint::criu
