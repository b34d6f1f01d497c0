// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/slurm/slurm_allocation.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "launcher/plan/hostlist.h"
#include "runtime/base/text.h"

namespace lamina::launcher::slurm {
namespace {

constexpr std::int64_t kCountMax = 1 << 20;

// Returns the value of the first of the names that is set; older Slurms know fewer of them.
std::optional<std::string> First(const Environment& environment, const std::string& suffix,
                                 std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (auto value = environment.Get(name + suffix); value && !value->empty()) return value;
  return std::nullopt;
}

std::optional<std::uint32_t> Number(const std::optional<std::string>& text) {
  const std::optional<std::int64_t> number =
      text ? ParseInteger(Trim(*text)) : std::optional<std::int64_t>();
  if (!number || *number < 1 || *number > kCountMax) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

// Returns the counts for `hosts` nodes; none if the variable is not set.
Result<std::vector<std::uint32_t>> Counts(const std::optional<std::string>& text, const char* name,
                                          std::size_t hosts) {
  if (!text) return std::vector<std::uint32_t>{};
  Result<std::vector<std::uint32_t>> counts = ExpandCounts(*text);
  if (!counts.ok()) return std::move(counts).status().Within(name);
  if (counts->size() != hosts)
    return Error(Code::kInvalid, "%s=%s speaks of %zu nodes, the allocation has %zu", name,
                 text->c_str(), counts->size(), hosts);
  return counts;
}

// `suffix` is "" or like "_HET_GROUP_2".
Status AddComponent(const Environment& environment, const std::string& suffix,
                    Allocation* allocation) {
  const auto list = First(environment, suffix, {"SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  if (!list) return Error(Code::kInvalid, "SLURM_JOB_NODELIST%s is not set", suffix.c_str());
  Result<std::vector<std::string>> names = ExpandHostNames(*list);
  if (!names.ok()) return std::move(names).status().Within("SLURM_JOB_NODELIST" + suffix);
  Result<std::vector<std::uint32_t>> tasks = Counts(
      First(environment, suffix, {"SLURM_TASKS_PER_NODE"}), "SLURM_TASKS_PER_NODE", names->size());
  if (!tasks.ok()) return std::move(tasks).status();
  Result<std::vector<std::uint32_t>> cpus =
      Counts(First(environment, suffix, {"SLURM_JOB_CPUS_PER_NODE"}), "SLURM_JOB_CPUS_PER_NODE",
             names->size());
  if (!cpus.ok()) return std::move(cpus).status();
  const std::optional<std::uint32_t> per_node =
      Number(First(environment, suffix, {"SLURM_NTASKS_PER_NODE"}));
  for (std::size_t i = 0; i < names->size(); ++i) {
    Host host;
    host.name = std::move((*names)[i]);
    host.cpus = cpus->empty() ? 0 : (*cpus)[i];
    host.slots = per_node ? *per_node : !tasks->empty() ? (*tasks)[i] : std::max(1u, host.cpus);
    allocation->hosts.push_back(std::move(host));
  }
  return {};
}

// Takes one rank a line, in this order, whatever the tasks per node are.
Status Arrange(std::string_view host_file, Allocation* allocation) {
  std::unordered_map<std::string_view, const Host*> known;
  for (const Host& host : allocation->hosts) known.emplace(host.name, &host);
  std::vector<Host> sequence;
  for (const std::string_view line : Split(host_file, '\n')) {
    const std::string_view name = Trim(line.substr(0, std::min(line.find('#'), line.find('\r'))));
    if (name.empty()) continue;
    const auto host = known.find(name);
    if (host == known.end())
      return Error(Code::kInvalid, "host %s (SLURM_HOSTFILE) does not belong to %s",
                   std::string(name).c_str(), allocation->source.c_str());
    sequence.push_back(*host->second);
    sequence.back().slots = 1;
  }
  if (sequence.empty()) return Error(Code::kInvalid, "SLURM_HOSTFILE names no host");
  allocation->hosts = std::move(sequence);
  allocation->in_sequence = true;
  return {};
}

}  // namespace

Result<std::vector<std::uint32_t>> ExpandCounts(std::string_view text) {
  std::vector<std::uint32_t> counts;
  for (const std::string_view piece : Split(text, ',')) {
    const std::size_t open = piece.find("(x");
    std::optional<std::int64_t> times = 1;
    if (open != piece.npos)
      times = piece.back() == ')' ? ParseInteger(piece.substr(open + 2, piece.size() - open - 3))
                                  : std::nullopt;
    const std::optional<std::int64_t> count = ParseInteger(piece.substr(0, open));
    if (!count || !times || *count < 1 || *count > kCountMax || *times < 1 ||
        *times > static_cast<std::int64_t>(kHostsMax - counts.size()))
      return Error(Code::kInvalid, "\"%s\" is not COUNT or COUNT(xNODES)",
                   std::string(piece.substr(0, 60)).c_str());
    counts.insert(counts.end(), static_cast<std::size_t>(*times),
                  static_cast<std::uint32_t>(*count));
  }
  return counts;
}

bool InAllocation(const Environment& environment) {
  return First(environment, "", {"SLURM_JOB_ID", "SLURM_JOBID"}).has_value() &&
         (First(environment, "", {"SLURM_JOB_NODELIST", "SLURM_NODELIST"}).has_value() ||
          Number(First(environment, "", {"SLURM_HET_SIZE", "SLURM_PACK_SIZE"})).has_value());
}

std::string JobId(const Environment& environment) {
  return First(environment, "", {"SLURM_JOB_ID", "SLURM_JOBID"}).value_or("?");
}

std::string JobName(const Environment& environment) { return "Slurm job " + JobId(environment); }

Result<Allocation> ReadAllocation(const Environment& environment, std::string_view host_file) {
  if (!InAllocation(environment))
    return Error(Code::kNotFound, "SLURM_JOB_ID is not set: this is no Slurm job");
  if (Number(environment.Get("SLURM_STEP_NUM_TASKS")).value_or(1) > 1)
    return Error(Code::kInvalid,
                 "srun has started several copies of mpiexec; start one, without srun, or the "
                 "program itself by srun --mpi=pmix");
  Allocation allocation;
  allocation.source = JobName(environment);
  allocation.managed = true;
  const std::optional<std::uint32_t> components =
      Number(First(environment, "", {"SLURM_HET_SIZE", "SLURM_PACK_SIZE"}));
  if (!components) {
    if (Status status = AddComponent(environment, "", &allocation); !status.ok()) return status;
  }
  for (std::uint32_t i = 0; i < components.value_or(0); ++i) {
    std::string suffix = Format("_HET_GROUP_%u", i);
    if (!environment.Get("SLURM_JOB_NODELIST" + suffix)) suffix = Format("_PACK_GROUP_%u", i);
    if (Status status = AddComponent(environment, suffix, &allocation); !status.ok()) return status;
  }
  allocation.cpus_per_rank = Number(environment.Get("SLURM_CPUS_PER_TASK")).value_or(0);
  if (!host_file.empty())
    if (Status status = Arrange(host_file, &allocation); !status.ok()) return status;
  return allocation;
}

}  // namespace lamina::launcher::slurm
