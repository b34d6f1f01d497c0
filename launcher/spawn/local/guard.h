// SPDX-License-Identifier: BSD-3-Clause
// A guard outlives a launcher that is killed, just long enough to kill what its ranks have started.
//
// Ranks die with the launcher by themselves (parent-death signal), but their own children do not:
// think of a shell script as rank. The guard is a small forked process that waits on a pipe; when
// the launcher is gone it kills the ranks' process groups, and every process whose environment
// carries the job's random name, until none is left. In a normal end it is simply dismissed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "runtime/base/status.h"

namespace lamina::launcher::local {

class Guard {
 public:
  // A process belongs to the job if its environment contains `mark`, which has at least 16
  // characters. `groups_max` bounds the process groups that the guard may be told of.
  static Result<std::unique_ptr<Guard>> Post(const std::string& mark, std::size_t groups_max);
  ~Guard();  // dismisses it
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  pid_t process() const { return process_; }
  void Watch(pid_t group);
  void Forget(pid_t group);

 private:
  Guard() = default;

  pid_t process_ = -1;
  int lifeline_ = -1;                     // closes with us
  std::atomic<pid_t>* groups_ = nullptr;  // shared with the guard
  std::size_t groups_count_ = 0;
};

}  // namespace lamina::launcher::local
