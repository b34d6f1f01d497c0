// SPDX-License-Identifier: BSD-3-Clause
// Implements lamina why: it asks a job for what its ranks wait.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/cli/find_job.h"
#include "launcher/cli/subcommands.h"
#include "launcher/control/ask.h"
#include "launcher/survey/job_answer.h"
#include "launcher/survey/survey.h"
#include "launcher/survey/tuning.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// One of the jobs of a run, which are those that it has spawned.
struct JobOfRun {
  control::Launcher launcher;
  JobAnswer answer;
};

// All jobs of this user, if one of them has spawned the others: that one comes first.
Result<std::vector<JobOfRun>> OnlyRun() {
  std::vector<JobOfRun> jobs;
  for (const control::Launcher& launcher : control::Launchers()) {
    if (launcher.user != geteuid()) continue;
    Result<JobAnswer> answer = AskJob(launcher, "job", kAnswerMs);
    if (answer.ok())
      jobs.push_back({launcher, *std::move(answer)});
    else if (answer.status().code() != Code::kPeerLost)  // one that has ended is no news
      return std::move(answer).status();
  }
  const auto is_spawned = [&jobs](const JobOfRun& job) {
    return std::ranges::any_of(jobs, [&job](const JobOfRun& other) {
      return static_cast<std::uint32_t>(other.launcher.process) == job.answer.parent;
    });
  };
  std::stable_partition(jobs.begin(), jobs.end(),
                        [&](const JobOfRun& job) { return !is_spawned(job); });
  if (jobs.empty()) return Error(Code::kNotFound, "no job runs here");
  if (jobs.size() < 2 || is_spawned(jobs[1])) return jobs;
  std::string processes;
  for (const JobOfRun& job : jobs)
    if (!is_spawned(job))
      processes += (processes.empty() ? "" : ", ") + std::to_string(job.launcher.process);
  return Error(Code::kNotFound, "several jobs run here: say the number of one's mpiexec (%s)",
               processes.c_str());
}

// Says who waits for whom in one job. Returns false if some host did not answer.
Result<bool> Explain(const control::Launcher& job, bool queues) {
  // The answers of the hosts bring what their ranks wait for now.
  const Result<JobAnswer> hosts = AwaitPings(job);
  if (!hosts.ok()) return Status(hosts.status().code(), std::string(hosts.status().message()));
  for (const JobAnswer::Host& host : hosts->hosts)
    if (host.state == "up" && !host.round_trip_us)
      fprintf(stderr, "lamina why: %s does not answer; what is said of its ranks may be old\n",
              host.name.c_str());
  Result<std::string> answer = control::Ask(job, queues ? "why queues" : "why", kAnswerMs);
  if (!answer.ok()) return std::move(answer).status();
  for (const std::string_view line : Split(*answer, '\n'))
    if (line.starts_with("say ")) printf("%s\n", std::string(line.substr(4)).c_str());
  return AllAnswered(*hosts);
}

}  // namespace

int Why(std::span<const std::string> arguments, const CommandContext&) {
  const auto fail = [](std::string_view why) {
    fprintf(stderr, "lamina why: %s\n", std::string(why).c_str());
    return 2;
  };
  bool queues = false;
  std::string word;
  for (const std::string& argument : arguments)
    if (argument == "--help" || argument == "-h") {
      fputs(UsageOf("why"), stdout);
      return 0;
    } else if (argument == "--queues" || argument == "-q") {
      queues = true;
    } else if (!word.empty() || argument.starts_with('-')) {
      return fail("\"" + argument + "\" does not belong here; --help tells more");
    } else {
      word = argument;
    }
  std::vector<JobOfRun> jobs;
  if (word.empty()) {
    Result<std::vector<JobOfRun>> run = OnlyRun();
    if (!run.ok()) return fail(run.status().message());
    jobs = *std::move(run);
  } else {
    const Result<control::Launcher> job = FindJob(word);
    if (!job.ok()) return fail(job.status().message());
    jobs.push_back({*job, {}});
  }
  int status = 0;
  for (const JobOfRun& job : jobs) {
    if (jobs.size() > 1)
      printf("mpiexec %d: %s\n", job.launcher.process, job.answer.command.c_str());
    const Result<bool> answered = Explain(job.launcher, queues);
    if (!answered.ok() && (jobs.size() == 1 || answered.status().code() != Code::kPeerLost))
      return fail(answered.status().message());
    if (answered.ok() && !*answered) status = 1;
  }
  return status;
}

}  // namespace lamina::launcher
