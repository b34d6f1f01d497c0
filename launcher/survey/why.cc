// SPDX-License-Identifier: BSD-3-Clause
// Implements lamina why: it asks a job for what its ranks wait.
#include <cstdio>
#include <string_view>

#include "launcher/cli/find_job.h"
#include "launcher/cli/subcommands.h"
#include "launcher/control/ask.h"
#include "launcher/survey/job_answer.h"
#include "launcher/survey/survey.h"
#include "launcher/survey/tuning.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

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
  const Result<control::Launcher> job = FindJob(word);
  if (!job.ok()) return fail(job.status().message());
  // The answers of the hosts bring what their ranks wait for now.
  const Result<JobAnswer> hosts = AwaitPings(*job);
  if (!hosts.ok()) return fail(hosts.status().message());
  for (const JobAnswer::Host& host : hosts->hosts)
    if (host.state == "up" && !host.round_trip_us)
      fprintf(stderr, "lamina why: %s does not answer; what is said of its ranks may be old\n",
              host.name.c_str());
  const Result<std::string> answer = control::Ask(*job, queues ? "why queues" : "why", kAnswerMs);
  if (!answer.ok()) return fail(answer.status().message());
  for (const std::string_view line : Split(*answer, '\n'))
    if (line.starts_with("say ")) printf("%s\n", std::string(line.substr(4)).c_str());
  return AllAnswered(*hosts) ? 0 : 1;
}

}  // namespace lamina::launcher
