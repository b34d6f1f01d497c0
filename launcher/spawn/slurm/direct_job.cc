// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/slurm/direct_job.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "launcher/plan/control_group.h"
#include "runtime/base/anonymous_file.h"
#include "runtime/base/pointers.h"
#include "runtime/base/text.h"

namespace lamina::launcher::slurm {
namespace {

[[noreturn]] void BecomeSrun(char** argv, char** environment, pid_t parent, int input,
                             int rank_hosts) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  if (input >= 0) dup2(input, STDIN_FILENO);
  fcntl(rank_hosts, F_SETFD, 0);  // srun reads it under this number
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(argv[0], argv, environment);
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<Job>> DirectJob::Start(const CommandLine& command,
                                              std::vector<std::string> environment,
                                              const std::string& rank_hosts, std::uint32_t ranks,
                                              int input) {
  Result<int> made = MakeAnonymousFile("hosts of ranks");
  if (!made.ok()) return std::move(made).status();
  const int file = *made;
  if (write(file, rank_hosts.data(), rank_hosts.size()) != static_cast<ssize_t>(rank_hosts.size()))
    return SystemError(Code::kResource, errno, "cannot write the list of hosts for srun");
  environment.push_back(Format("SLURM_HOSTFILE=/proc/self/fd/%d", file));
  const std::vector<char*> argv = Pointers(command);
  const std::vector<char*> variables = Pointers(environment);
  std::unique_ptr<DirectJob> job(new DirectJob);
  job->ranks_ = ranks;
  const pid_t parent = getpid();
  job->process_ = fork();
  if (job->process_ == 0)
    BecomeSrun(const_cast<char**>(argv.data()), const_cast<char**>(variables.data()), parent, input,
               file);
  const int error = errno;
  close(file);
  if (job->process_ < 0) {
    job->process_ = 0;
    return ProcessError(error, "cannot start srun");
  }
  job->handle_ = static_cast<int>(syscall(SYS_pidfd_open, job->process_, 0));
  if (job->handle_ < 0) return SystemError(Code::kResource, errno, "cannot watch srun");
  return std::unique_ptr<Job>(std::move(job));
}

DirectJob::~DirectJob() {
  if (process_ != 0) {
    kill(process_, SIGKILL);  // Slurm ends the step of an srun that has gone
    waitpid(process_, nullptr, 0);
  }
  if (handle_ >= 0) close(handle_);
}

std::optional<RankEvent> DirectJob::Next() {
  int status = 0;
  if (process_ != 0 && waitpid(process_, &status, WNOHANG) == process_) {
    process_ = 0;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      RankEvent event;
      event.rank = rank;
      // srun itself has said which rank it was; to blame one here would be a guess.
      if (code != 0) event.kind = RankEvent::Kind::kStartFailed;
      if (code != 0 && rank == 0) event.why = Format("srun ended with status %d", code);
      event.code = code;
      events_.push_back(std::move(event));
    }
  }
  if (events_.empty()) return std::nullopt;
  RankEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

// srun passes signals on to all ranks, so one of them stands for all.
void DirectJob::Signal(std::uint32_t rank, int signal) {
  if (rank == 0 && process_ != 0) kill(process_, signal);
}

}  // namespace lamina::launcher::slurm
