// SPDX-License-Identifier: BSD-3-Clause
// Implements lamina check: can a job be started on each of the hosts, and is the same Lamina there?
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "launcher/cli/prepare.h"
#include "launcher/cli/subcommands.h"
#include "launcher/plan/hostlist.h"
#include "launcher/survey/each_host.h"
#include "launcher/survey/hosts_of.h"
#include "launcher/survey/mend.h"
#include "launcher/survey/report.h"
#include "launcher/survey/survey.h"
#include "launcher/survey/table.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

std::string FirstLine(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  const std::size_t prefix = line.find("mpiexec: ");
  return prefix == 0 ? line.substr(9) : line;
}

// Returns a row of the table, and whether all is well.
std::pair<std::vector<std::string>, bool> Judge(const std::string& host, const HostReport& here,
                                                const HostAnswer& answer) {
  const std::optional<HostReport> there = DecodeReport(answer.out);
  if (!there) {
    const std::string said = FirstLine(answer.err);
    return {{host, "failed", said.empty() ? Format("no report, status %d", answer.status) : said},
            false};
  }
  std::string notes;
  for (const std::string& problem : Differences(here, *there, answer.asked_us, answer.answered_us))
    notes += (notes.empty() ? "" : "; ") + problem;
  const bool same = notes.empty();
  return {
      {host, same ? "ok" : "differs", there->version,
       there->prefix.empty() ? there->program : there->prefix, std::to_string(there->cpus),
       Format("%.2f s", static_cast<double>(answer.answered_us - answer.asked_us) / 1e6), notes},
      same};
}

// Says what to do, each thing once with all the hosts that need it.
class Advice {
 public:
  void Add(const std::string& host, const std::string& advice) {
    if (advice.empty()) return;
    for (auto& [known, hosts] : advice_)
      if (known == advice) return hosts.push_back(host);
    advice_.push_back({advice, {host}});
  }
  void Print() const {
    for (const auto& [advice, hosts] : advice_)
      printf("%s: %s\n", FoldHostNames(hosts).c_str(), advice.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> advice_;
};

}  // namespace

int Check(std::span<const std::string> arguments, const CommandContext& context) {
  const HostsAsked asked{"lamina check", UsageOf("check"), arguments};
  Result<HostsOf> made = FindHosts(asked, context);
  if (!made.ok()) return made.status().code() == Code::kCancelled ? 0 : 2;
  const Plan& plan = made->preparation.plan;
  const std::string program = made->program;
  const HostReport here = ReportHere("");

  std::vector<std::vector<std::string>> rows(plan.hosts.size());
  const auto asked_count = std::count_if(plan.hosts.begin(), plan.hosts.end(),
                                         [](const Host& host) { return host.schedulable; });
  std::vector<HostAnswer> answers(plan.hosts.size());
  std::size_t count = 0, well = 0;
  const auto on_answer = [&](const HostAnswer& answer) {
    auto [row, same] = Judge(plan.hosts[answer.host].name, here, answer);
    rows[answer.host] = std::move(row);
    answers[answer.host] = answer;
    ++count;
    if (same) ++well;
    if (isatty(STDERR_FILENO) != 0) fprintf(stderr, "\r%zu of %td", count, asked_count);
  };
  std::vector<std::string> words = {"report"};
  if (!program.empty()) words.push_back(program);
  AskEachHost(plan, words, made->Run(context), {}, on_answer);
  if (isatty(STDERR_FILENO) != 0) fputs("\r\033[K", stderr);
  for (std::size_t host = 0; host < rows.size(); ++host)
    if (rows[host].empty()) rows[host] = {plan.hosts[host].name, "kept free", "schedule=no"};
  rows.insert(rows.begin(), {"HOST", "STATE", "VERSION", "PREFIX", "CPUS", "TIME", ""});
  fputs(InColumns(rows).c_str(), stdout);
  Advice advice;
  for (std::size_t host = 0; host < plan.hosts.size(); ++host) {
    const std::string& name = plan.hosts[host].name;
    for (const std::string_view problem : Split(rows[host + 1].back(), ';'))
      advice.Add(name, MendOf(Trim(problem), name));
    if (const std::optional<HostReport> there = DecodeReport(answers[host].out))
      for (const std::string& remark : there->remarks) advice.Add(name, remark);
  }
  advice.Print();
  printf("%zu of %zu hosts are well (spawner %s)\n", well, count, plan.options.spawner.c_str());
  return count > 0 && well == count ? 0 : 1;
}

}  // namespace lamina::launcher
