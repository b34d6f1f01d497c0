// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/slurm/srun.h"

#include "launcher/plan/hostlist.h"
#include "launcher/plan/output_pattern.h"
#include "runtime/base/text.h"

namespace lamina::launcher::slurm {
namespace {

// The variables of rank_variables.h, which srun cannot set itself, since they differ from rank to
// rank. SLURM_GTIDS lists the ranks of the node.
constexpr const char* kTellPlace =
    "IFS=,; n=0; for i in $SLURM_GTIDS; do n=$((n + 1)); done; unset IFS; "
    "export LAMINA_RANK=$SLURM_PROCID LAMINA_SIZE=$SLURM_STEP_NUM_TASKS "
    "LAMINA_LOCAL_RANK=$SLURM_LOCALID LAMINA_LOCAL_SIZE=$n LAMINA_NODE=$SLURM_NODEID "
    "LAMINA_NODES=$SLURM_STEP_NUM_NODES MPI_LOCALRANKID=$SLURM_LOCALID MPI_LOCALNRANKS=$n; "
    "exec \"$@\"";

}  // namespace

CommandLine SrunCommand(const Plan& plan, std::span<const std::uint32_t> hosts,
                        std::uint32_t groups, std::span<const std::string> shepherd) {
  CommandLine command = {"srun",
                         "--mpi=none",
                         "--overlap",
                         "--kill-on-bad-exit=0",
                         "--wait=0",
                         "--input=none",
                         "--cpu-bind=none",
                         "--distribution=block",
                         "--ntasks-per-node=1",
                         "--export=ALL"};
  if (groups > 0) {
    // Options for nodes would hold for every component, so a shepherd on a node without ranks is
    // sent home.
    command.push_back(Format("--het-group=0-%u", groups - 1));
  } else {
    std::vector<std::string> names;
    for (const std::uint32_t host : hosts) names.push_back(plan.hosts[host].name);
    command.push_back(Format("--nodes=%zu", hosts.size()));
    command.push_back(Format("--ntasks=%zu", hosts.size()));
    command.push_back("--nodelist=" + FoldHostNames(names));
  }
  command.insert(command.end(), shepherd.begin(), shepherd.end());
  return command;
}

Result<CommandLine> DirectCommand(const Plan& plan) {
  if (plan.apps.size() != 1)
    return Error(Code::kUnsupported,
                 "srun starts one program with one environment: several need "
                 "spawner.slurm.start=shepherds");
  const RunOptions& options = plan.options;
  CommandLine command = {"srun",
                         "--mpi=pmix",
                         "--overlap",
                         "--wait=0",
                         "--export=ALL",
                         "--distribution=arbitrary",
                         Format("--ntasks=%zu", plan.ranks.size())};
  switch (plan.mapping.bind_to) {
    case BindTo::kHwthread:
      command.push_back("--cpu-bind=threads");
      break;
    case BindTo::kCore:
      command.push_back("--cpu-bind=cores");
      break;
    case BindTo::kSocket:
      command.push_back("--cpu-bind=sockets");
      break;
    case BindTo::kNuma:
      command.push_back("--cpu-bind=ldoms");
      break;
    default:
      command.push_back("--cpu-bind=none");
  }
  if (plan.mapping.cpus_per_rank != 0)
    command.push_back(Format("--cpus-per-task=%u", plan.mapping.cpus_per_rank));
  if (options.stdin_to == StdinTo::kRank)
    command.push_back(Format("--input=%u", options.stdin_rank));
  else
    command.push_back(options.stdin_to == StdinTo::kAll ? "--input=all" : "--input=none");
  if (options.tag_output) command.push_back("--label");
  // srun has words of its own for what the names of files are made of.
  const PatternWords words = {"%t", "%N", "%n"};
  if (!options.out_pattern.empty())
    command.push_back("--output=" + FillPattern(options.out_pattern, words));
  if (!options.merge_errors && !options.err_pattern.empty())
    command.push_back("--error=" + FillPattern(options.err_pattern, words));
  else if (!options.merge_errors && !options.out_pattern.empty())
    command.push_back("--error=all");  // without it they would go to the same file
  const App& app = plan.apps.front();
  if (!app.path.empty() || !plan.mapping.cpu_set.empty() ||
      (options.merge_errors && options.out_pattern.empty()))
    return Error(Code::kUnsupported,
                 "srun knows neither -path nor --cpu-set nor --merge-stderr-to-stdout: these need "
                 "spawner.slurm.start=shepherds");
  if (!app.wdir.empty()) command.push_back("--chdir=" + app.wdir);
  command.insert(command.end(), {"/bin/sh", "-c", kTellPlace, "sh"});
  command.insert(command.end(), app.argv.begin(), app.argv.end());
  return command;
}

std::string RankHosts(const Plan& plan) {
  std::string lines;
  for (const RankPlan& rank : plan.ranks) lines += plan.hosts[rank.host].name + "\n";
  return lines;
}

CommandLine StateQuestion(const std::string& job) {
  return {"squeue", "--noheader", "--states=all", "--jobs=" + job, "--format=%T"};
}

ManagerState UnderstandState(std::string_view answer) {
  const auto says = [answer](std::string_view word) {
    return answer.find(word) != std::string_view::npos;
  };
  const auto cancelled = [](const char* by) {
    return ManagerState{ManagerState::Kind::kCancelled,
                        Format("the job was cancelled by Slurm (%s)", by)};
  };
  if (says("TIMEOUT") || says("DUE TO TIME LIMIT") || says("DEADLINE"))
    return cancelled("time limit");
  if (says("PREEMPTED") || says("DUE TO PREEMPTION")) return cancelled("preemption");
  if (says("CANCELLED") || says("REVOKED")) return cancelled("scancel");
  if (says("COMPLETING")) return cancelled("scancel or time limit");
  if (says("SUSPENDED") || says("STOPPED")) return {ManagerState::Kind::kSuspended, ""};
  return {};
}

std::vector<std::string> SrunEnvironment(const Environment& environment,
                                         std::span<const std::string> more) {
  Environment changed = environment;
  for (const char* name : {"SLURM_CPUS_PER_TASK",
                           "SRUN_CPUS_PER_TASK",
                           "SLURM_HOSTFILE",
                           "SLURM_NTASKS",
                           "SLURM_NPROCS",
                           "SLURM_NTASKS_PER_NODE",
                           "SLURM_NTASKS_PER_CORE",
                           "SLURM_NTASKS_PER_SOCKET",
                           "SLURM_DISTRIBUTION",
                           "SLURM_CPU_BIND",
                           "SLURM_CPU_BIND_TYPE",
                           "SLURM_CPU_BIND_LIST",
                           "SLURM_CPU_BIND_VERBOSE",
                           "SLURM_EXACT",
                           "SLURM_MPI_TYPE",
                           "SLURM_EXPORT_ENV",
                           "SLURM_LABELIO",
                           "SLURM_STDINMODE",
                           "SLURM_STDOUTMODE",
                           "SLURM_STDERRMODE",
                           "SLURM_WAIT",
                           "SLURM_KILL_BAD_EXIT",
                           "SLURM_WORKING_DIR",
                           "SLURM_MULTI_PROG"})
    changed.Unset(name);
  for (const std::string& assignment : more) {
    const std::size_t equals = assignment.find('=');
    changed.Set(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  return changed.Assignments();
}

}  // namespace lamina::launcher::slurm
