// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/display.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kDrawingColumnsMax = 72;

const char* PluralOf(std::size_t count) { return count == 1 ? "" : "s"; }

// As one would type it in a shell, near enough to read.
std::string CommandOf(const std::vector<std::string>& argv) {
  std::string command;
  for (const std::string& word : argv) {
    if (!command.empty()) command += ' ';
    const bool quote = word.empty() || word.find_first_of(" \t\n\"'\\$`*?;&|<>()#") != word.npos;
    command += quote ? "'" : "";
    for (const char letter : word)
      command += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    command += quote ? "'" : "";
  }
  return command;
}

std::string RankWord(const std::vector<std::uint32_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + Ranges(ranks);
}

std::string OutputSentence(const RunOptions& options) {
  std::string sentence = "input to ";
  switch (options.stdin_to) {
    case StdinTo::kNone:
      sentence += "nobody";
      break;
    case StdinTo::kAll:
      sentence += "all ranks";
      break;
    case StdinTo::kRank:
      sentence += Format("rank %u", options.stdin_rank);
      break;
  }
  sentence += options.output_directory.empty() ? ", output here"
                                               : ", output to files in " + options.output_directory;
  if (options.tag_output) sentence += ", tagged";
  if (options.timestamp_output) sentence += ", with time";
  return sentence;
}

// Brackets, bars, blanks and letters of the machine for one rank's set.
std::string Draw(hwloc_topology_t topology, const CpuSet& allowed, const CpuSet& set) {
  std::string drawing;
  hwloc_obj_t last_package = nullptr;
  hwloc_obj_t last_core = nullptr;
  hwloc_obj_t last_numa = nullptr;
  for (hwloc_obj_t pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, nullptr); pu != nullptr;
       pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) {
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    if (core == nullptr) core = pu;
    hwloc_obj_t numa = nullptr;  // the first domain beside this thread
    for (hwloc_obj_t domain = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, nullptr);
         domain != nullptr && numa == nullptr;
         domain = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, domain))
      if (hwloc_bitmap_isset(domain->cpuset, pu->os_index) != 0) numa = domain;
    if (drawing.empty()) {
      drawing = "[";
    } else if (package != last_package) {
      drawing += "] [";
    } else if (numa != last_numa) {
      drawing += "|";
    } else if (core != last_core) {
      drawing += " ";
    }
    const bool is_allowed = hwloc_bitmap_isset(allowed.get(), pu->os_index) != 0;
    const bool is_in = hwloc_bitmap_isset(set.get(), pu->os_index) != 0;
    drawing += is_in ? '#' : is_allowed ? '.' : '-';
    last_package = package;
    last_core = core;
    last_numa = numa;
  }
  return drawing + "]";
}

// "NUMA 0" or "sockets 0-1" for the objects of one kind that make up `set` exactly, or "".
std::string ExactName(hwloc_topology_t topology, hwloc_obj_type_t type, const char* name,
                      const CpuSet& allowed, const CpuSet& set) {
  std::vector<std::uint32_t> indexes;
  const CpuSet covered(hwloc_bitmap_alloc());
  const CpuSet part(hwloc_bitmap_alloc());
  for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology, type, nullptr); object != nullptr;
       object = hwloc_get_next_obj_by_type(topology, type, object)) {
    hwloc_bitmap_and(part.get(), object->cpuset, allowed.get());
    if (hwloc_bitmap_iszero(part.get()) != 0 || hwloc_bitmap_isincluded(part.get(), set.get()) == 0)
      continue;
    hwloc_bitmap_or(covered.get(), covered.get(), part.get());
    indexes.push_back(object->logical_index);
  }
  if (indexes.empty() || hwloc_bitmap_isequal(covered.get(), set.get()) == 0) return {};
  return std::string(name) + PluralOf(indexes.size()) + " " + Ranges(indexes);
}

std::string WhereOf(hwloc_topology_t topology, const CpuSet& allowed, const CpuSet& set) {
  std::string where;
  for (const auto& [type, name] :
       {std::pair(HWLOC_OBJ_PACKAGE, "socket"), std::pair(HWLOC_OBJ_NUMANODE, "NUMA domain"),
        std::pair(HWLOC_OBJ_CORE, "core")}) {
    if (hwloc_get_nbobjs_by_type(topology, type) <= 1) continue;
    where = ExactName(topology, type, name, allowed, set);
    if (!where.empty()) break;
  }
  const std::string cpus = (hwloc_bitmap_weight(set.get()) == 1 ? "CPU " : "CPUs ") + ListOf(set);
  return where.empty() ? cpus : where + " (" + cpus + ")";
}

}  // namespace

std::string Ranges(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (last > i) text += (last == i + 1 ? "," : "-") + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string ShowPlan(const Plan& plan) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_app;
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_host;
  std::map<std::uint32_t, bool> sharing;
  for (const RankPlan& rank : plan.ranks) {
    by_app[rank.app].push_back(rank.rank);
    by_host[rank.host].push_back(rank.rank);
    if (rank.wait_mode == WaitMode::kOversubscribed) sharing[rank.host] = true;
  }
  std::string text = Format("plan: %zu rank%s on %zu host%s\n", plan.ranks.size(),
                            PluralOf(plan.ranks.size()), by_host.size(), PluralOf(by_host.size()));
  for (std::uint32_t app = 0; app < plan.apps.size(); ++app) {
    text += Format("  %-16s %s\n", RankWord(by_app[app]).c_str(),
                   CommandOf(plan.apps[app].argv).c_str());
    if (!plan.apps[app].wdir.empty())
      text += Format("  %-16s in %s\n", "", plan.apps[app].wdir.c_str());
  }
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    const Host& here = plan.hosts[host];
    std::string line =
        Format("  host %s: %u slot%s, ", here.name.c_str(), here.slots, PluralOf(here.slots));
    if (!here.schedulable)
      line += "kept free (schedule=no)";
    else if (by_host[host].empty())
      line += "no rank";
    else
      line += RankWord(by_host[host]);
    if (sharing[host]) line += ", sharing CPUs";
    text += line + "\n";
  }
  for (const std::string& note : plan.notes) text += "  " + note + "\n";
  text += "  " + OutputSentence(plan.options) + "\n";
  if (plan.options.timeout_ms != 0)
    text += Format("  at most %.3f s\n", static_cast<double>(plan.options.timeout_ms) / 1000);
  text += "  started by " + plan.options.spawner + "\n";
  return text;
}

std::string ShowEnvironment(const Plan& plan, const Environment& own) {
  const Environment job(plan.environment);
  std::string text = "environment: as here, and\n";
  for (const std::string& assignment : job.Assignments()) {
    const std::string name = assignment.substr(0, assignment.find('='));
    if (own.Get(name) != job.Get(name)) text += "  + " + assignment + "\n";
  }
  for (const std::string& assignment : own.Assignments()) {
    const std::string name = assignment.substr(0, assignment.find('='));
    if (!job.Get(name)) text += "  - " + name + "\n";
  }
  for (const App& app : plan.apps)
    for (const std::string& assignment : app.environment)
      text += "  + " + assignment + "  (for " + app.argv.front() + ")\n";
  return text + "  + PMIX_*, LAMINA_EVENT_FD, LAMINA_PROGRESS_WAIT_MODE for each rank\n";
}

std::string ShowBindings(const Plan& plan, std::uint32_t host, hwloc_topology_t topology,
                         const CpuSet& allowed) {
  const auto count = [topology](hwloc_obj_type_t type) {
    return static_cast<std::size_t>(std::max(0, hwloc_get_nbobjs_by_type(topology, type)));
  };
  const std::size_t sockets = count(HWLOC_OBJ_PACKAGE);
  const std::size_t domains = count(HWLOC_OBJ_NUMANODE);
  const std::size_t cores = count(HWLOC_OBJ_CORE);
  const std::size_t cpus = count(HWLOC_OBJ_PU);
  std::string text =
      Format("bindings on %s: %zu socket%s, %zu NUMA domain%s, %zu core%s, %zu CPU%s",
             plan.hosts[host].name.c_str(), sockets, PluralOf(sockets), domains, PluralOf(domains),
             cores, PluralOf(cores), cpus, PluralOf(cpus));
  const auto usable = static_cast<std::size_t>(std::max(0, hwloc_bitmap_weight(allowed.get())));
  text += usable < cpus ? Format(", %zu of them allowed\n", usable) : "\n";

  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> groups;  // cpuset, ranks
  for (const RankPlan& rank : plan.ranks) {
    if (rank.host != host) continue;
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&rank](const auto& g) { return g.first == rank.cpuset; });
    if (group == groups.end())
      groups.push_back({rank.cpuset, {rank.rank}});
    else
      group->second.push_back(rank.rank);
  }
  for (const auto& [list, ranks] : groups) {
    const CpuSet set = list.empty() ? CpuSet(hwloc_bitmap_dup(allowed.get())) : CpuSetOf(list);
    const std::string drawing = Draw(topology, allowed, set);
    text += Format("  %-11s ", RankWord(ranks).c_str());
    if (drawing.size() <= kDrawingColumnsMax) text += drawing + "  ";
    text += list.empty() ? "not bound\n" : WhereOf(topology, allowed, set) + "\n";
  }
  return text;
}

}  // namespace lamina::launcher
