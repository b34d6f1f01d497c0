// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/pbs/pbs_allocation.h"

#include <map>
#include <string>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher::pbs {
namespace {

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : Split(text, '\n')) {
    const std::string_view name = Trim(line.substr(0, line.find('\r')));
    if (!name.empty()) lines.emplace_back(name);
  }
  return lines;
}

}  // namespace

bool InJob(const Environment& environment) {
  return !environment.Get("PBS_JOBID").value_or("").empty() &&
         !environment.Get("PBS_NODEFILE").value_or("").empty();
}

Result<Allocation> ReadAllocation(const Environment& environment, std::string_view node_file) {
  if (!InJob(environment))
    return Error(Code::kInvalid, "this is no PBS job: PBS_JOBID and PBS_NODEFILE are not set");
  Allocation allocation;
  allocation.source = "PBS job " + environment.Get("PBS_JOBID").value_or("?");
  allocation.managed = true;
  std::map<std::string, std::size_t> index;
  for (std::string& name : Lines(node_file)) {
    const auto [entry, is_new] = index.emplace(name, allocation.hosts.size());
    if (!is_new) {
      ++allocation.hosts[entry->second].slots;
      continue;
    }
    Host host;
    host.name = std::move(name);
    allocation.hosts.push_back(std::move(host));
  }
  if (allocation.hosts.empty())
    return Error(Code::kInvalid,
                 "PBS_NODEFILE (%s) cannot be read or names no host; where the job's files are not "
                 "visible, as in a container, --spawner local runs all ranks on this host",
                 environment.Get("PBS_NODEFILE").value_or("").c_str());
  // A job's script runs on the first of its hosts.
  allocation.all_here = allocation.hosts.size() == 1;
  return allocation;
}

CommandLine StateQuestion(const std::string& job) { return {"qstat", "-f", job}; }

// The job's state is one letter: E while it ends, F or C when it has, S and U while it is
// suspended.
ManagerState UnderstandState(std::string_view answer) {
  constexpr std::string_view kKey = "job_state = ";
  const std::size_t at = answer.find(kKey);
  if (at == std::string_view::npos || at + kKey.size() == answer.size()) return {};
  const char state = answer[at + kKey.size()];
  if (state == 'S' || state == 'U') return {ManagerState::Kind::kSuspended, ""};
  if (state != 'E' && state != 'F' && state != 'C') return {};
  return {ManagerState::Kind::kCancelled, "the job was cancelled by PBS (qdel or walltime)"};
}

std::vector<std::int64_t> LinesOf(const Plan& plan, std::span<const std::uint32_t> hosts,
                                  std::string_view node_file) {
  std::map<std::string, std::int64_t> first;
  std::int64_t number = 0;
  for (std::string& name : Lines(node_file)) first.emplace(std::move(name), number++);
  std::vector<std::int64_t> lines;
  for (const std::uint32_t host : hosts) {
    const auto line = first.find(plan.hosts[host].name);
    lines.push_back(line == first.end() ? -1 : line->second);
  }
  return lines;
}

}  // namespace lamina::launcher::pbs
