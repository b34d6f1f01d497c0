// SPDX-License-Identifier: BSD-3-Clause
// Tells which limit of a control group has ended a process or kept one from starting. The kernel
// itself says only "signal 9" and "try again".
//
// Both versions of the interface are understood. With `root` and `membership` tests bring groups of
// their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

class ControlGroups {
 public:
  // The groups of this process. `root` is where they are mounted, and `membership` has the text of
  // /proc/self/cgroup; the deaths that the kernel has counted until now are no news.
  ControlGroups();
  ControlGroups(std::string root, const std::string& membership);

  // Has the kernel killed a process of this group, or below it, for want of memory since the last
  // call? Returns what was short, "the memory limit of control group /job (512 MiB)", or "".
  std::string MemoryShortage();

  // Returns "the process limit of control group /job (20)" if that many processes are there, or the
  // user's limit if that may be the reason, or "".
  std::string ProcessShortage() const;

 private:
  // The folders from this process's own group of a kind up to the root.
  struct Group {
    std::string name;    // "/job"
    std::string folder;  // below `root`
  };
  std::vector<Group> Find(const std::string& root, const std::string& membership,
                          const std::string& controller, bool* is_first_version) const;
  std::uint64_t KillsNow() const;

  bool memory_is_first_version_ = false;
  std::vector<Group> memory_;
  std::vector<Group> processes_;
  std::uint64_t kills_seen_ = 0;
};

// Returns the failure to make a process, of which `error` is the errno: `what` and the limit that
// was reached, or what errno says.
Status ProcessError(int error, const std::string& what);

}  // namespace lamina::launcher
