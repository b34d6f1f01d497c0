// SPDX-License-Identifier: BSD-3-Clause
// The crew of shepherds that BProc has moved to their nodes by a single call. They are children of
// this process (ghosts), and are waited for and killed like any other.
//
// Ownership: of the children. Threads: one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/bproc/library.h"

namespace lamina::launcher::bproc {

class MoveCrew final : public ShepherdCrew {
 public:
  struct Target {
    std::uint32_t host = 0;  // index in the plan
    int node = 0;
  };
  // `argv[0]` is a path on this machine, because the program is read on the front end. Position i
  // of `targets` finds i in BPROC_RANK.
  static Result<std::unique_ptr<ShepherdCrew>> StartAll(const Library& library,
                                                        std::span<const Target> targets,
                                                        std::span<const std::string> argv,
                                                        std::span<const std::string> environment);
  ~MoveCrew() override;

  int ReadyFd() const override { return epoll_; }
  std::optional<Event> Next() override;
  std::string Words() override { return {}; }

 private:
  struct Child {
    std::uint32_t host = 0;
    pid_t pid = 0;
    int handle = -1;  // pidfd; -1: it has ended
  };

  explicit MoveCrew(int epoll) : epoll_(epoll) {}
  void Watch(std::uint32_t host, pid_t pid);
  void Reap(int timeout_ms);

  int epoll_;
  std::vector<Child> children_;
  std::deque<Event> events_;
};

}  // namespace lamina::launcher::bproc
