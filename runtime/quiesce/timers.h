// SPDX-License-Identifier: BSD-3-Clause
// The program's timers that are descriptors (timerfd_create) across an image: the kernel says of
// one that has expired, and was not read yet, that nothing is left of its time, which revives it as
// one that is not set.
//
// Threads: the agent's.
#pragma once

#include <sys/timerfd.h>

#include <vector>

namespace lamina::quiesce {

class Timers {
 public:
  // Notes those that go off again and again.
  void Note();
  // Sets those that were noted and have stopped.
  void Restore();

 private:
  struct Timer {
    int fd;
    itimerspec setting;
  };
  std::vector<Timer> timers_;
};

}  // namespace lamina::quiesce
