// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/advice.h"

#include <algorithm>
#include <vector>

#include "launcher/plan/machine.h"
#include "runtime/base/environment.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr const char* kVariable = "OMP_NUM_THREADS";

std::vector<std::uint32_t> ThreadsOfApps(const Plan& plan) {
  const Environment job(plan.environment);
  std::vector<std::uint32_t> threads;
  for (const App& app : plan.apps) {
    const auto value = Environment(app.environment).Get(kVariable);
    threads.push_back(ThreadsOf(value ? *value : job.Get(kVariable).value_or("")).value_or(0));
  }
  return threads;
}

// Returns a rank that is bound to fewer CPUs than it has threads, or null.
const RankPlan* Squeezed(const Plan& plan, const std::vector<std::uint32_t>& threads) {
  for (const RankPlan& rank : plan.ranks)
    if (!rank.cpuset.empty() && CountOfList(rank.cpuset) < threads[rank.app]) return &rank;
  return nullptr;
}

}  // namespace

std::optional<std::uint32_t> ThreadsOf(std::string_view omp_num_threads) {
  const auto number = ParseInteger(Trim(omp_num_threads.substr(0, omp_num_threads.find(','))));
  if (!number || *number < 1 || *number > 1 << 20) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::string SharingText(std::string_view host, std::string_view cpus) {
  std::string text = "more ranks than CPUs on " + std::string(host);
  if (!cpus.empty()) text += " (" + std::string(cpus) + ")";
  return text + ": waiting ranks sleep";
}

void Advise(Plan* plan) {
  const std::vector<std::uint32_t> threads = ThreadsOfApps(*plan);
  if (const RankPlan* rank = Squeezed(*plan, threads)) {
    const std::uint32_t cpus = CountOfList(rank->cpuset);
    plan->warnings.push_back(
        Format("%s=%u, but rank %u is kept on %u CPU%s (%s); --cpus-per-rank %u gives every "
               "thread its own",
               kVariable, threads[rank->app], rank->rank, cpus, cpus == 1 ? "" : "s",
               rank->cpuset.c_str(), threads[rank->app]));
    return;
  }
  std::vector<std::uint64_t> wanted(plan->hosts.size(), 0);
  for (const RankPlan& rank : plan->ranks) wanted[rank.host] += threads[rank.app];
  for (std::size_t host = 0; host < wanted.size(); ++host) {
    const Host& here = plan->hosts[host];
    if (here.cpus == 0 || wanted[host] <= here.cpus) continue;
    plan->notes.push_back(Format("%llu threads (%s) on the %u CPUs of %s",
                                 static_cast<unsigned long long>(wanted[host]), kVariable,
                                 here.cpus, here.name.c_str()));
    return;
  }
  const bool unset = std::count(threads.begin(), threads.end(), 0u) != 0;
  if (plan->mapping.cpus_per_rank > 1 && unset)
    plan->notes.push_back(
        Format("%u CPUs for each rank; %s is not set: most programs then start as many threads as "
               "they find CPUs",
               plan->mapping.cpus_per_rank, kVariable));
}

}  // namespace lamina::launcher
