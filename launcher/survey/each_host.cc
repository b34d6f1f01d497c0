// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survey/each_host.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <list>
#include <utility>

#include "launcher/survey/node_word.h"
#include "launcher/survey/report.h"
#include "launcher/survey/tuning.h"
#include "runtime/base/clock.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";  // of the shepherd, over there

// Returns `plan` with one rank on `host`, which does the errand.
Plan ErrandPlan(const Plan& plan, std::uint32_t host, const std::vector<std::string>& words,
                std::uint64_t timeout_ms) {
  Plan errand = plan;
  errand.hosts = {plan.hosts[host]};
  errand.apps.resize(1);
  App& app = errand.apps.front();
  app.argv = {kThisProgram, std::string(kNodeWord)};
  app.argv.insert(app.argv.end(), words.begin(), words.end());
  app.ranks = 1;
  errand.ranks.assign(1, RankPlan{});
  errand.mapping = {};
  errand.universe_slots = 1;
  errand.options = {};
  errand.options.spawner = plan.options.spawner;
  errand.options.stdin_to = StdinTo::kNone;
  errand.options.timeout_ms = timeout_ms;
  errand.options.quiet = true;  // only failures are for the table
  errand.notes.clear();
  errand.warnings.clear();
  return errand;
}

// One host being asked: a child of ours that runs the job.
class Asking {
 public:
  Asking(const Plan& errand, std::uint32_t host, const RunContext& context, std::uint64_t until_ms)
      : until_ms_(until_ms) {
    answer_.host = host;
    answer_.asked_us = WallClockUs();
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    const bool piped = pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0;
    child_ = piped ? fork() : -1;
    const int error = errno;
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      _exit(RunPlan(errand, context));
    }
    for (const int fd : {out[1], err[1]})
      if (fd >= 0) close(fd);
    fds_[0] = out[0];
    fds_[1] = err[0];
    if (child_ > 0) return;
    answer_.status = 1;
    answer_.err = Format("cannot %s: %s\n", piped ? "fork" : "make a pipe", strerror(error));
  }
  ~Asking() {
    for (const int fd : fds_)
      if (fd >= 0) close(fd);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  void AddTo(std::vector<pollfd>* ready) const {
    for (const int fd : fds_)
      if (fd >= 0) ready->push_back({fd, POLLIN, 0});
  }
  void Read(int fd) {
    for (int which = 0; which < 2; ++which) {
      if (fds_[which] != fd) continue;
      char piece[16384];
      const ssize_t bytes = read(fd, piece, sizeof piece);
      std::string& text = which == 0 ? answer_.out : answer_.err;
      if (bytes > 0 && text.size() < kAnswerBytesMax)
        text.append(piece, static_cast<std::size_t>(bytes));
      if (bytes > 0 || (bytes < 0 && errno == EINTR)) return;
      close(std::exchange(fds_[which], -1));
    }
  }
  // True once both streams have ended, and with them the job. A job that is late is ended.
  bool Done(std::uint64_t now_ms) {
    const bool ended = fds_[0] < 0 && fds_[1] < 0;
    const bool late = now_ms > until_ms_;
    if (!ended && !late) return false;
    if (child_ > 0) {
      if (!ended) kill(child_, SIGKILL);
      int status = 0;
      while (waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
      answer_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (!ended) answer_.err += "it did not end in time and was killed\n";
    answer_.answered_us = WallClockUs();
    return true;
  }
  HostAnswer Take() { return std::move(answer_); }

 private:
  HostAnswer answer_;
  std::uint64_t until_ms_;
  pid_t child_ = -1;
  int fds_[2] = {-1, -1};
};

}  // namespace

void AskEachHost(const Plan& plan, const std::vector<std::string>& words, const RunContext& context,
                 const EachHostLimits& limits, const std::function<void(HostAnswer)>& on_answer) {
  std::deque<std::uint32_t> waiting;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (plan.hosts[host].schedulable) waiting.push_back(host);
  std::list<Asking> asking;
  while (!waiting.empty() || !asking.empty()) {
    while (!waiting.empty() && asking.size() < limits.hosts_at_once) {
      const std::uint32_t host = waiting.front();
      waiting.pop_front();
      const std::uint64_t until_ms = MonotonicMs() + limits.timeout_ms + kLeaveMs;
      asking.emplace_back(ErrandPlan(plan, host, words, limits.timeout_ms), host, context,
                          until_ms);
    }
    std::vector<pollfd> ready;
    for (const Asking& each : asking) each.AddTo(&ready);
    poll(ready.data(), ready.size(), ready.empty() ? 0 : 100);
    for (const pollfd& fd : ready)
      if (fd.revents != 0)
        for (Asking& each : asking) each.Read(fd.fd);
    const std::uint64_t now_ms = MonotonicMs();
    for (auto each = asking.begin(); each != asking.end();) {
      if (!each->Done(now_ms)) {
        ++each;
        continue;
      }
      on_answer(each->Take());
      each = asking.erase(each);
    }
  }
}

}  // namespace lamina::launcher
