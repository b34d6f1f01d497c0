// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/display.h"

#include <algorithm>
#include <map>
#include <utility>

#include "launcher/plan/hostlist.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kDrawingColumnsMax = 72;

const char* PluralOf(std::size_t count) { return count == 1 ? "" : "s"; }

// Returns the command nearly as one would type it in a shell.
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
  sentence += options.out_pattern.empty() ? ", output here" : ", output to " + options.out_pattern;
  if (options.merge_errors)
    sentence += " with errors";
  else if (!options.err_pattern.empty())
    sentence += ", errors to " + options.err_pattern;
  if (options.tag_output) sentence += ", tagged";
  if (options.timestamp_output) sentence += ", with time";
  return sentence;
}

// One letter of a drawing: a hardware thread, or several neighbours where the machine is wide.
struct Letter {
  CpuSet cpus;
  hwloc_obj_t package = nullptr;
  hwloc_obj_t numa = nullptr;
  hwloc_obj_t core = nullptr;  // null: one letter is a core or more, and no blanks part them
};

hwloc_obj_t NumaOf(hwloc_topology_t topology, hwloc_obj_t pu) {
  for (hwloc_obj_t domain = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, nullptr);
       domain != nullptr; domain = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, domain))
    if (hwloc_bitmap_isset(domain->cpuset, pu->os_index) != 0) return domain;
  return nullptr;
}

// With `cores_each` 0 every hardware thread has a letter.
std::vector<Letter> Letters(hwloc_topology_t topology, std::uint32_t cores_each) {
  std::vector<Letter> letters;
  hwloc_obj_t last_core = nullptr;
  std::uint32_t cores = 0;  // in the last letter
  for (hwloc_obj_t pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, nullptr); pu != nullptr;
       pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) {
    Letter letter;
    letter.package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);
    letter.numa = NumaOf(topology, pu);
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    if (core == nullptr) core = pu;
    if (cores_each == 0) letter.core = core;
    const bool same_domain = !letters.empty() && letters.back().package == letter.package &&
                             letters.back().numa == letter.numa;
    if (core != last_core) ++cores;
    last_core = core;
    if (cores_each == 0 || !same_domain || cores > cores_each) {
      letter.cpus = CpuSet(hwloc_bitmap_alloc());
      letters.push_back(std::move(letter));
      cores = 1;
    }
    hwloc_bitmap_set(letters.back().cpus.get(), pu->os_index);
  }
  return letters;
}

std::string Draw(const std::vector<Letter>& letters, const CpuSet& allowed, const CpuSet& set) {
  std::string drawing;
  const Letter* last = nullptr;
  const CpuSet inside(hwloc_bitmap_alloc());
  for (const Letter& letter : letters) {
    if (last == nullptr)
      drawing = "[";
    else if (letter.package != last->package)
      drawing += "] [";
    else if (letter.numa != last->numa)
      drawing += "|";
    else if (letter.core != last->core)
      drawing += " ";
    last = &letter;
    hwloc_bitmap_and(inside.get(), letter.cpus.get(), allowed.get());
    if (hwloc_bitmap_iszero(inside.get()) != 0)
      drawing += '-';
    else if (hwloc_bitmap_isincluded(inside.get(), set.get()) != 0)
      drawing += '#';
    else
      drawing += hwloc_bitmap_intersects(inside.get(), set.get()) != 0 ? '+' : '.';
  }
  return drawing + "]";
}

// Returns the finest drawing that fits a line, and how many cores a letter is (0: a hardware
// thread).
std::vector<Letter> Fitting(hwloc_topology_t topology, const CpuSet& allowed,
                            std::uint32_t* cores_each) {
  for (*cores_each = 0;; *cores_each = std::max(1u, 2 * *cores_each)) {
    std::vector<Letter> letters = Letters(topology, *cores_each);
    if (Draw(letters, allowed, allowed).size() <= kDrawingColumnsMax) return letters;
    if (*cores_each > 1u << 16) return {};  // so many sockets are not drawn
  }
}

// Returns "NUMA 0" or "sockets 0-1" for the objects of one kind that make up `set` exactly, or "".
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
        std::pair(HWLOC_OBJ_L3CACHE, "L3 cache"), std::pair(HWLOC_OBJ_CORE, "core")}) {
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
    if (rank.sharing == Sharing::kShared) sharing[rank.host] = true;
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

std::string ShowAllocation(const Plan& plan) {
  std::string text =
      Format("allocation: %zu host%s, %u slot%s\n", plan.hosts.size(), PluralOf(plan.hosts.size()),
             plan.universe_slots, PluralOf(plan.universe_slots));
  for (const Host& host : plan.hosts) {
    text += Format("  host %s: %u slot%s", host.name.c_str(), host.slots, PluralOf(host.slots));
    if (host.slots_max != 0) text += Format(", at most %u", host.slots_max);
    if (host.cpus != 0) text += Format(", %u CPU%s", host.cpus, PluralOf(host.cpus));
    text += host.schedulable ? "\n" : ", kept free (schedule=no)\n";
  }
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
  return text +
         "  + PMIX_*, LAMINA_EVENT_FD, LAMINA_ROSTER, LAMINA_NODE_MEMORY, "
         "LAMINA_P2P_WAIT_MODE, LAMINA_COLLECTIVE_SELECT_CROWD, LAMINA_RANK and its kin for each "
         "rank\n";
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
  std::uint32_t cores_each = 0;
  const std::vector<Letter> letters = Fitting(topology, allowed, &cores_each);
  if (cores_each == 1) text += "  one letter is a core: # all of it, + a part\n";
  if (cores_each > 1 && !letters.empty())
    text += Format("  one letter is %u cores: # all of them, + some\n", cores_each);

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
    text += Format("  %-11s ", RankWord(ranks).c_str());
    if (!letters.empty()) text += Draw(letters, allowed, set) + "  ";
    text += list.empty() ? "not bound\n" : WhereOf(topology, allowed, set) + "\n";
  }
  return text;
}

std::string ShowBindingsElsewhere(const Plan& plan, std::uint32_t here) {
  std::vector<std::string> names;
  std::uint32_t last = here;
  for (const RankPlan& rank : plan.ranks) {
    if (rank.host == here || rank.host == last) continue;
    last = rank.host;
    const std::string& name = plan.hosts[rank.host].name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.empty()) return {};
  const Mapping& mapping = plan.mapping;
  const BindTo kind =
      mapping.bind_to == BindTo::kDefault ? ObjectOf(mapping.map_by) : mapping.bind_to;
  std::string how;
  if (mapping.bind_to == BindTo::kNone)
    how = "not bound";
  else if (mapping.map_by == MapBy::kRankfile)
    how = "as the rank file says";
  else if (mapping.cpus_per_rank != 0)
    how = Format("%u CPUs for each rank", mapping.cpus_per_rank);
  else if (kind != BindTo::kNone)
    how = Format("each rank to one %s", Name(kind));
  else
    how = "within a NUMA domain where there are several, otherwise not bound";
  return "bindings on " + FoldHostNames(names) + ": " + how + "\n";
}

}  // namespace lamina::launcher
