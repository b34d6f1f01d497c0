// SPDX-License-Identifier: BSD-3-Clause
// Implements lamina ps: it asks the launchers on this machine for the running jobs of this user.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/cli/subcommands.h"
#include "launcher/control/ask.h"
#include "launcher/survey/job_answer.h"
#include "launcher/survey/survey.h"
#include "launcher/survey/table.h"
#include "launcher/survey/tuning.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

struct Wanted {
  bool ping = false;
  bool all = false;
  std::vector<pid_t> processes;
};

std::optional<Wanted> Parse(std::span<const std::string> arguments) {
  Wanted wanted;
  for (const std::string& word : arguments) {
    const auto process = ParseInteger(word);
    if (word == "--ping" || word == "-p") {
      wanted.ping = true;
    } else if (word == "--all" || word == "-a") {
      wanted.all = true;
    } else if (process && *process > 0 && *process <= INT32_MAX) {
      wanted.processes.push_back(static_cast<pid_t>(*process));
    } else {
      fprintf(stderr,
              "lamina ps: \"%s\" is neither an option nor the number of a process; "
              "--help tells more\n",
              word.c_str());
      return std::nullopt;
    }
  }
  return wanted;
}

std::string AgeText(std::uint64_t ms) {
  const std::uint64_t seconds = ms / 1000;
  if (seconds < 60) return Format("%.1f s", static_cast<double>(ms) / 1000);
  return Format("%llu:%02llu:%02llu h", static_cast<unsigned long long>(seconds / 3600),
                static_cast<unsigned long long>(seconds / 60 % 60),
                static_cast<unsigned long long>(seconds % 60));
}

std::vector<std::string> HostRow(const JobAnswer::Host& host, bool ping) {
  std::string sign = host.state;
  if (host.state == "up")
    sign += Format(", heard of %.1f s ago", static_cast<double>(host.silent_ms) / 1000);
  if (ping && host.state == "up")
    sign = host.round_trip_us
               ? Format("answered in %.2f ms", static_cast<double>(*host.round_trip_us) / 1000)
               : Format("no answer within %g s", kPingMs / 1000.0);
  return {"    " + host.name, Format("%u of %u ranks running", host.running, host.ranks), sign};
}

void Show(const control::Launcher& launcher, const JobAnswer& answer, bool ping) {
  const std::string parent =
      answer.parent != 0 ? Format(", spawned by %u", answer.parent) : std::string();
  printf("%d  %u of %u ranks running on %zu %s, since %s, by %s%s: %s\n", launcher.process,
         answer.running, answer.ranks, answer.hosts.size(),
         answer.hosts.size() == 1 ? "host" : "hosts", AgeText(answer.age_ms).c_str(),
         answer.spawner.c_str(), parent.c_str(), answer.command.c_str());
  std::vector<std::vector<std::string>> rows;
  for (const JobAnswer::Host& host : answer.hosts) rows.push_back(HostRow(host, ping));
  fputs(InColumns(rows).c_str(), stdout);
  for (const JobAnswer::Lock& lock : answer.locks)
    printf("    %s\n", Sentence(lock, answer.ranks).c_str());
}

}  // namespace

int Ps(std::span<const std::string> arguments, const CommandContext&) {
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h") {
      fputs(UsageOf("ps"), stdout);
      return 0;
    }
  const std::optional<Wanted> wanted = Parse(arguments);
  if (!wanted) return 2;
  int status = 0;
  std::vector<pid_t> missing = wanted->processes;
  for (const control::Launcher& launcher : control::Launchers()) {
    if (!wanted->processes.empty() && std::erase(missing, launcher.process) == 0) continue;
    if (wanted->processes.empty() && !wanted->all && launcher.user != geteuid()) continue;
    const Result<JobAnswer> answer =
        wanted->ping ? AwaitPings(launcher) : AskJob(launcher, "job", kAnswerMs);
    if (!answer.ok()) {
      // A launcher that has ended meanwhile is no news.
      if (answer.status().code() == Code::kPeerLost && wanted->processes.empty()) continue;
      fprintf(stderr, "lamina ps: %s\n", std::string(answer.status().message()).c_str());
      status = 1;
      continue;
    }
    Show(launcher, *answer, wanted->ping);
    if (wanted->ping && !AllAnswered(*answer)) status = 1;
  }
  for (const pid_t process : missing) {
    fprintf(stderr, "lamina ps: no mpiexec runs here as process %d\n", process);
    status = 1;
  }
  return status;
}

}  // namespace lamina::launcher
