// SPDX-License-Identifier: BSD-3-Clause
// Implements lamina clean: it removes what a crash may have left of this user's jobs on each of the
// hosts.
#include <cstdio>
#include <string_view>
#include <vector>

#include "launcher/cli/subcommands.h"
#include "launcher/survey/each_host.h"
#include "launcher/survey/hosts_of.h"
#include "launcher/survey/survey.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

int Clean(std::span<const std::string> arguments, const CommandContext& context) {
  Result<HostsOf> made = FindHosts({"lamina clean", UsageOf("clean"), arguments}, context);
  if (!made.ok()) return made.status().code() == Code::kCancelled ? 0 : 2;
  if (!made->program.empty()) {
    fprintf(stderr, "lamina clean: \"%s\": no program belongs here\n", made->program.c_str());
    return 2;
  }
  const Plan& plan = made->preparation.plan;
  const bool dry = made->preparation.line.dry_run;
  std::size_t found = 0, hosts = 0;
  bool all_well = true;
  const auto on_answer = [&](const HostAnswer& answer) {
    const std::string& host = plan.hosts[answer.host].name;
    ++hosts;
    for (const std::string_view line : Split(answer.out, '\n')) {
      if (line.empty()) continue;
      printf("%s: %s\n", host.c_str(), std::string(line).c_str());
      ++found;
    }
    if (answer.status == 0) return;
    all_well = false;
    // If something was found, status 1 is the errand's own: not all of it could be removed.
    if (answer.status == 1 && !answer.out.empty()) return;
    fprintf(stderr, "lamina clean: %s: %s", host.c_str(),
            answer.err.empty() ? "no answer\n" : answer.err.c_str());
  };
  std::vector<std::string> words = {"clean"};
  if (dry) words.emplace_back("--dry-run");
  AskEachHost(plan, words, made->Run(context), {}, on_answer);
  if (found == 0 && all_well)
    printf("nothing was left on %zu %s\n", hosts, hosts == 1 ? "host" : "hosts");
  return all_well ? 0 : 1;
}

}  // namespace lamina::launcher
