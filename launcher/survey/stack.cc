// SPDX-License-Identifier: BSD-3-Clause
// Implements lamina stack: it shows where each rank of a running job is.
#include <sys/types.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "launcher/cli/subcommands.h"
#include "launcher/control/ask.h"
#include "launcher/survey/each_host.h"
#include "launcher/survey/hosts_of.h"
#include "launcher/survey/job_answer.h"
#include "launcher/survey/stacks.h"
#include "launcher/survey/survey.h"
#include "launcher/survey/tuning.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// The options that lead to the hosts of a job that was started over a network without a manager.
std::vector<std::string> OptionsFor(const JobAnswer& answer) {
  if (answer.spawner != "ssh" && answer.spawner != "exec") return {};
  std::string names;
  for (const JobAnswer::Host& host : answer.hosts) names += (names.empty() ? "" : ",") + host.name;
  return {"-H", names};
}

}  // namespace

int ShowStacks(std::span<const std::string> arguments, const CommandContext& context) {
  const auto fail = [](const Status& status) {
    fprintf(stderr, "lamina stack: %s\n", std::string(status.message()).c_str());
    return 2;
  };
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    fputs(UsageOf("stack"), stdout);
    return 0;
  }
  pid_t process = 0;
  if (!arguments.empty())
    if (const auto number = ParseInteger(arguments[0]); number && *number > 0) {
      process = static_cast<pid_t>(*number);
      arguments = arguments.subspan(1);
    }
  const Result<control::Launcher> launcher = control::FindLauncher(process);
  if (!launcher.ok()) return fail(launcher.status());
  const Result<JobAnswer> job = AskJob(*launcher, "job", kAnswerMs);
  if (!job.ok()) return fail(job.status());
  std::vector<std::string> words = OptionsFor(*job);
  words.insert(words.end(), arguments.begin(), arguments.end());
  Result<HostsOf> made = FindHosts({"lamina stack", UsageOf("stack"), words}, context);
  if (!made.ok()) return made.status().code() == Code::kCancelled ? 0 : 2;
  if (!made->program.empty())
    return fail(Error(Code::kInvalid, "\"%s\": no program belongs here", made->program.c_str()));

  std::vector<Stack> stacks;
  const auto on_answer = [&](const HostAnswer& answer) {
    const std::vector<Stack> here = DecodeStacks(answer.out);
    // One machine may have several names. Then only one of those who look at a process at the same
    // time sees its stack.
    for (const Stack& stack : here) {
      const auto known = std::ranges::find(stacks, stack.rank, &Stack::rank);
      if (known == stacks.end())
        stacks.push_back(stack);
      else if (known->frames.empty())
        *known = stack;
    }
    if (here.empty())
      fprintf(stderr, "lamina stack: %s: %s",
              made->preparation.plan.hosts[answer.host].name.c_str(),
              answer.err.empty() ? "no rank of the job is here\n" : answer.err.c_str());
  };
  AskEachHost(made->preparation.plan, {"stack", job->job}, made->Run(context), {}, on_answer);
  fputs(Merged(stacks).c_str(), stdout);
  const bool all = std::ranges::none_of(stacks, [](const Stack& it) { return it.frames.empty(); });
  return all && stacks.size() >= job->running ? 0 : 1;
}

}  // namespace lamina::launcher
