// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/debugging.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace lamina::launcher {
namespace {

// Makes a process group that of the terminal's foreground. A process in the background may do so
// only while it does not heed SIGTTOU.
bool BringToFront(pid_t group) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTTOU);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const bool done = tcsetpgrp(STDIN_FILENO, group) == 0;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return done;
}

}  // namespace

Debugging::~Debugging() {
  if (has_terminal_) BringToFront(getpgrp());
}

Status Debugging::Equip(const Plan& plan, bool here, std::vector<RankStart>* starts) {
  const std::int32_t rank = plan.options.debugged_rank;
  if (rank < 0) return {};
  const auto start = std::ranges::find(*starts, static_cast<std::uint32_t>(rank), &RankStart::rank);
  if (start == starts->end()) return Error(Code::kNotFound, "--gdb: there is no rank %d", rank);
  if (!here)
    return Error(
        Code::kUnsupported,
        "--gdb: rank %d is not a child of this process; on other hosts attach a debugger to "
        "the process of the rank",
        rank);
  words_ = plan.options.debugger;
  if (words_.empty()) words_ = {"gdb", "-q", "--args"};
  words_.insert(words_.end(), start->argv.begin(), start->argv.end());
  start->argv = words_;
  start->stdio = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  rank_ = rank;
  return {};
}

// The debugger may have tried to read before it was in the foreground, which has stopped it.
void Debugging::RanksStarted(const Job& job) {
  if (rank_ < 0 || isatty(STDIN_FILENO) == 0) return;
  const std::int64_t process = job.ProcessOf(static_cast<std::uint32_t>(rank_));
  if (process <= 0) return;
  has_terminal_ = BringToFront(static_cast<pid_t>(process));
  kill(-static_cast<pid_t>(process), SIGCONT);
}

}  // namespace lamina::launcher
