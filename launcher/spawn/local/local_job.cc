// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/local/local_job.h"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "launcher/spawn/local/start_process.h"
#include "launcher/spawn/local/tuning.h"
#include "runtime/base/log.h"
#include "runtime/base/process_stat.h"
#include "runtime/base/text.h"

namespace lamina::launcher::local {
namespace {

// Every process started here has this in its environment: the name of this node's PMIx server,
// which begins with the job's random one. The job's alone would not do, because hosts may share a
// process table (`ip netns exec`).
std::string MarkOf(std::span<const RankStart> starts) {
  for (const std::string& assignment : starts.front().own_environment)
    if (assignment.starts_with("PMIX_SERVER_URI2="))
      return assignment.substr(0, assignment.find(';'));
  return "";
}

// Signals a rank's group, or the rank itself if it has left that. `rank` is not reaped yet, so the
// number is still the rank's, dead or alive.
void SignalGroup(pid_t rank, int signal) {
  if (kill(-rank, signal) != 0 || signal == SIGKILL) kill(rank, signal);
}

Status CannotEnter(const Status& why) {
  return Error(why.code(), "%s", std::string(why.message()).c_str());
}

}  // namespace

Result<std::unique_ptr<Job>> LocalJob::Start(std::span<const RankStart> starts) {
  std::unique_ptr<LocalJob> job(new LocalJob(starts.front().space));
  if (Status status = job->Prepare(starts.size()); !status.ok()) return status;
  if (Status status = job->PostGuard(starts); !status.ok())
    Log(Level::kWarn, "local", "%s; children of ranks may survive a kill of mpiexec",
        std::string(status.message()).c_str());
  job->StartAll(starts);
  return std::unique_ptr<Job>(std::move(job));
}

Status LocalJob::Prepare(std::size_t ranks) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;  // inherited as ignored, children would vanish unseen
  sigaction(SIGCHLD, &plain, nullptr);
  child_fd_ = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (child_fd_ < 0) return SystemError(Code::kResource, errno, "cannot watch for children");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return SystemError(Code::kUnsupported, errno, "cannot become a subreaper");
  if (space_ == nullptr) strangers_ = ChildrenOf(getpid());
  running_.reserve(ranks);
  rank_of_.reserve(ranks);
  return {};
}

// Takes over a rank that an engine has revived. Where it may run is no part of a saved state.
void LocalJob::Adopt(const RankStart& start) {
  if (start.revived == RankStart::kHadEnded) {
    events_.emplace_back().rank = start.rank;
    return;
  }
  Keep(start.rank, static_cast<pid_t>(start.revived));
  const auto cpus = ParseCpuList(start.cpuset);
  if (!cpus.has_value() || cpus->empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : *cpus)
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  std::error_code error;
  const std::string threads = "/proc/" + std::to_string(start.revived) + "/task";
  for (std::filesystem::directory_iterator at(threads, error), end; !error && at != end;
       at.increment(error))
    sched_setaffinity(static_cast<pid_t>(ParseInteger(at->path().filename().string()).value_or(-1)),
                      sizeof set, &set);
}

void LocalJob::Keep(std::uint32_t rank, pid_t process) {
  running_.emplace(rank, process);
  rank_of_.emplace(process, rank);
  if (guard_ != nullptr) guard_->Watch(process);
}

void LocalJob::StartAll(std::span<const RankStart> starts) {
  for (const RankStart& start : starts)
    if (start.revived != 0) Adopt(start);
  ProcessStarter starter;
  bool failed = false;
  const ProcessSpace::Inside inside(space_);
  for (const RankStart& start : starts) {
    if (start.revived != 0) continue;
    Result<pid_t> process = Error(Code::kCancelled, "%s", "");
    if (!failed)
      process = inside.status().ok() ? starter.Start(start) : CannotEnter(inside.status());
    if (process.ok()) {
      Keep(start.rank, *process);
      continue;
    }
    failed = true;  // the others would fail alike, and the job ends anyway
    RankEvent event;
    event.kind = RankEvent::Kind::kStartFailed;
    event.rank = start.rank;
    event.code = process.status().code() == Code::kNotFound ? 127 : 126;
    event.why = std::string(process.status().message());
    events_.push_back(std::move(event));
  }
}

// The guard comes before the ranks: on a loaded machine they may have children long before we get
// on.
Status LocalJob::PostGuard(std::span<const RankStart> starts) {
  const std::string mark = MarkOf(starts);
  if (mark.empty()) return {};
  Result<std::unique_ptr<Guard>> guard = Guard::Post(mark, starts.size());
  if (!guard.ok()) return std::move(guard).status();
  guard_ = *std::move(guard);
  return {};
}

LocalJob::~LocalJob() {
  for (const auto& [rank, process] : running_) SignalGroup(process, SIGKILL);
  Sweep();
  guard_.reset();
  if (child_fd_ >= 0) close(child_fd_);
}

std::optional<RankEvent> LocalJob::Next() {
  if (events_.empty()) Reap();
  if (events_.empty()) return std::nullopt;
  RankEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void LocalJob::Reap() {
  signalfd_siginfo unused;
  while (read(child_fd_, &unused, sizeof unused) > 0) continue;
  int status = 0;
  if (space_ != nullptr) {
    // Orphans belong to the space, and an engine's programs to whoever has started them.
    for (const auto& [rank, process] : std::unordered_map(running_))
      if (waitpid(process, &status, WNOHANG) > 0) Reaped(process, status);
    return;
  }
  for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0;) {
    std::erase(strangers_, process);
    Reaped(process, status);
  }
}

void LocalJob::Reaped(pid_t process, int status) {
  const auto found = rank_of_.find(process);
  if (found == rank_of_.end()) return;  // an orphan of some rank, or a failed start
  RankEvent event;
  event.rank = found->second;
  event.process = process;
  if (WIFSIGNALED(status)) {
    event.kind = RankEvent::Kind::kKilled;
    event.signal = WTERMSIG(status);
    if (event.signal == SIGKILL) event.why = groups_.MemoryShortage();
  } else {
    event.code = WEXITSTATUS(status);
  }
  if (guard_ != nullptr) guard_->Forget(process);
  running_.erase(event.rank);
  rank_of_.erase(found);
  events_.push_back(std::move(event));
}

void LocalJob::Signal(std::uint32_t rank, int signal) {
  const auto found = running_.find(rank);
  if (found != running_.end()) SignalGroup(found->second, signal);
}

std::int64_t LocalJob::ProcessOf(std::uint32_t rank) const {
  const auto found = running_.find(rank);
  return found != running_.end() ? found->second : 0;
}

// Does one round, and returns whether something was there to kill.
bool LocalJob::KillLeftovers() {
  bool any = false;
  for (const pid_t child : ChildrenOf(getpid())) {
    if (guard_ != nullptr && child == guard_->process()) continue;
    if (std::find(strangers_.begin(), strangers_.end(), child) != strangers_.end()) continue;
    any = true;
    kill(child, SIGKILL);
  }
  return any;
}

// Killing a process makes its children ours, so each generation takes a round.
void LocalJob::Sweep() {
  if (space_ != nullptr) {
    space_->End();
    return Reap();
  }
  for (int round = 0; round < kSweepRounds; ++round) {
    Reap();
    if (!KillLeftovers()) return;
    pollfd children{child_fd_, POLLIN, 0};
    poll(&children, 1, kSweepRoundMs);
  }
  Log(Level::kWarn, "local", "some processes that ranks have left behind could not be killed");
}

}  // namespace lamina::launcher::local
