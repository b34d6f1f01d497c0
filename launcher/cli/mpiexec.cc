// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/mpiexec.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "launcher/cli/command_line.h"
#include "launcher/cli/help.h"
#include "launcher/cli/installation.h"
#include "launcher/cli/program_path.h"
#include "launcher/cli/settings.h"
#include "launcher/plan/advice.h"
#include "launcher/plan/bind.h"
#include "launcher/plan/display.h"
#include "launcher/plan/place.h"
#include "launcher/plan/topology.h"
#include "launcher/supervise/run.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

constexpr int kBadInput = 2;

void Say(const std::string& message) { fprintf(stderr, "mpiexec: %s\n", message.c_str()); }

int Refuse(const std::string& message) {
  Say(message);
  return kBadInput;
}
int Refuse(const Status& status) { return Refuse(std::string(status.message())); }

int PrintVersion() {
  printf("mpiexec (Lamina) %s\n", kVersion);
  return 0;
}

int PrintHelp(const std::string& topic) {
  Result<std::string> text = HelpText(topic);
  if (!text.ok()) return Refuse(text.status());
  fputs(text->c_str(), stdout);
  return 0;
}

Result<std::string> ReadWholeFile(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    return SystemError(Code::kNotFound, errno, "%s", path.c_str());
  if (S_ISDIR(status.st_mode)) return Error(Code::kInvalid, "%s: it is a directory", path.c_str());
  std::ifstream file(path, std::ios::binary);
  if (!file) return SystemError(Code::kDenied, errno, "%s", path.c_str());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// ppr needs to know how many objects a host has: this machine's count stands for all.
Status CountMappedObjects(Request* request) {
  const BindTo kind = ObjectOf(request->mapping.map_by);
  if (request->mapping.ranks_per_object == 0 || kind == BindTo::kNone) return {};
  Result<Topology> topology = LoadTopology();
  if (!topology.ok()) return std::move(topology).status();
  request->objects_per_host = CountObjects(topology->get(), AllowedCpus(topology->get()), kind);
  return {};
}

Status ReadRankFile(const std::string& path, Request* request) {
  Result<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return std::move(text).status().Within("cannot read the rank file");
  Result<std::vector<RankfileEntry>> entries = ParseRankfile(*text, path);
  if (!entries.ok()) return std::move(entries).status();
  request->rankfile = std::move(*entries);
  return {};
}

Result<std::vector<HostEntry>> ReadHostFile(const std::string& path,
                                            const Installation& installation,
                                            const Environment& environment) {
  std::optional<Status> first;
  for (const std::string& candidate : HostFilePaths(path, installation, environment)) {
    Result<std::string> text = ReadWholeFile(candidate);
    if (text.ok()) return ParseHostFile(*text, candidate);
    const bool elsewhere = text.status().code() == Code::kNotFound;
    if (!first) first = std::move(text).status();
    if (!elsewhere) break;
  }
  return std::move(*first).Within("cannot read the host file");
}

// "NAME" becomes "NAME=value as it is here"; a name that is not set here is left out with a
// warning.
std::vector<std::string> Resolve(const std::vector<std::string>& variables,
                                 const Environment& environment) {
  std::vector<std::string> resolved;
  for (const std::string& variable : variables) {
    if (variable.find('=') != std::string::npos) {
      resolved.push_back(variable);
    } else if (const auto value = environment.Get(variable)) {
      resolved.push_back(variable + "=" + *value);
    } else {
      Say(Format("warning: -x %s: not set here, so the ranks do not get it", variable.c_str()));
    }
  }
  return resolved;
}

// `environment` without what another launcher has put there: a job started by a rank of another job
// is a job of its own. What the outer job decided about waiting is about its own ranks.
Environment OutsideOfJobs(const Environment& environment) {
  if (!environment.Get("PMIX_RANK")) return environment;
  Environment outside;
  for (const std::string& assignment : environment.Assignments()) {
    const std::size_t equals = assignment.find('=');
    const std::string name = assignment.substr(0, equals);
    const bool of_a_rank = (name.starts_with("PMIX_") && !name.starts_with("PMIX_MCA_")) ||
                           name == "LAMINA_EVENT_FD" || name == "LAMINA_PROGRESS_WAIT_MODE";
    if (!of_a_rank) outside.Set(name, assignment.substr(equals + 1));
  }
  return outside;
}

// What all ranks get, weakest first: the launcher's own, the parameters, -genv.
std::vector<std::string> JobEnvironment(const Invocation& line, const param::Settings& settings,
                                        const Environment& environment) {
  Environment job = environment;
  job.Unset("LAMINA_ORIGINS");
  const auto set = [&job](const std::string& assignment) {
    const std::size_t equals = assignment.find('=');
    job.Set(assignment.substr(0, equals), assignment.substr(equals + 1));
  };
  for (const std::string& assignment : settings.Export()) set(assignment);
  for (const std::string& assignment : Resolve(line.job_environment, environment)) set(assignment);
  return job.Assignments();
}

bool NeedsAddresses(const Request& request) {
  const auto numeric = [](const HostEntry& host) {
    return host.name.find_first_not_of("0123456789.") == std::string::npos ||
           host.name.find(':') != std::string::npos;
  };
  if (std::any_of(request.host_file.begin(), request.host_file.end(), numeric)) return true;
  for (const ProgramRequest& program : request.programs)
    if (std::any_of(program.hosts.begin(), program.hosts.end(), numeric)) return true;
  return false;
}

// 0, or the exit status after saying what is wrong.
int CheckPrograms(const Plan& plan) {
  const Environment job(plan.environment);
  for (const App& app : plan.apps) {
    const Environment own(app.environment);
    const std::string path =
        own.Get("PATH").value_or(job.Get("PATH").value_or("/usr/local/bin:/usr/bin:/bin"));
    const ProgramCheck check = CheckProgram(app.argv.front(), app.wdir, path);
    if (check.exit_status == 0) continue;
    Say(check.message);
    return check.exit_status;
  }
  return 0;
}

Result<std::string> ChooseSpawner(const param::Settings& settings, const CommandContext& context) {
  Result<LaunchParams> params = LoadLaunchParams(settings);
  if (!params.ok()) return std::move(params).status();
  const SpawnContext spawn{context.environment, settings};
  std::vector<std::string> names;
  for (const auto& [spawner, offer] : context.spawners.Ask(spawn)) {
    names.push_back(spawner->info.name);
    if (params->spawner.empty() && offer.priority >= 0) return spawner->info.name;
    if (spawner->info.name == params->spawner) return spawner->info.name;
  }
  const std::string near = Nearest(params->spawner, names);
  return Error(Code::kInvalid, "parameter launcher.spawner.use: there is no spawner \"%s\"%s%s%s",
               params->spawner.c_str(), near.empty() ? "" : "; did you mean \"", near.c_str(),
               near.empty() ? "" : "\"?");
}

// Where the local spawner would do, but other hosts than this machine are named: another one.
std::string_view SpawnerForHosts(const Request& request, const Machine& machine,
                                 const param::Settings& settings, const CommandContext& context) {
  const auto elsewhere = [&machine](const HostEntry& host) {
    return host.schedule && !IsThisMachine(host.name, machine);
  };
  bool other = std::any_of(request.host_file.begin(), request.host_file.end(), elsewhere);
  for (const ProgramRequest& program : request.programs)
    other = other || std::any_of(program.hosts.begin(), program.hosts.end(), elsewhere);
  for (const RankfileEntry& rank : request.rankfile)
    other = other || (!rank.host.starts_with('+') && !IsThisMachine(rank.host, machine));
  if (!other) return context.local_spawner;
  const param::Found* agent = settings.Find("spawner.exec.agent");
  return agent != nullptr && !agent->value.empty() ? context.agent_spawner : context.remote_spawner;
}

// Hosts of another spawner than local: what it was given to run on.
Status AskForHosts(const std::string& name, const param::Settings& settings,
                   const CommandContext& context, Request* request) {
  if (name == context.local_spawner) return {};
  bool named = !request->host_file.empty();
  for (const ProgramRequest& program : request->programs) named = named || !program.hosts.empty();
  Result<std::unique_ptr<Spawner>> spawner =
      context.spawners.Find(name)->make({context.environment, settings});
  if (!spawner.ok()) return std::move(spawner).status();
  Result<Allocation> allocation = (*spawner)->Query(context.environment);
  if (!allocation.ok()) return std::move(allocation).status();
  if (named && !allocation->managed) return {};
  request->allocation_name = allocation->source;
  for (const Host& host : allocation->hosts) {
    HostEntry entry;
    entry.name = host.name;
    entry.slots = host.slots;
    entry.schedule = host.schedulable;
    entry.slots_are_a_promise = !allocation->managed;
    entry.cpus = host.cpus;
    entry.where = name;
    request->allocation.push_back(std::move(entry));
  }
  if (allocation->in_sequence && !named && request->mapping.map_by == MapBy::kSlot)
    request->mapping.map_by = MapBy::kSeq;
  if (request->mapping.cpus_per_rank == 0)
    request->mapping.cpus_per_rank = allocation->cpus_per_rank;
  return {};
}

// Parameters from everywhere, checked; names that nobody knows are warned about here.
Result<param::Settings> CheckedSettings(const Invocation& line, const Installation& installation,
                                        const CommandContext& context) {
  Result<param::Settings> settings = ReadSettings(line.settings, context.environment, installation);
  if (!settings.ok()) return settings;
  const SettingsReport report = CheckSettings(*settings, context.spawners, installation);
  for (const std::string& warning : report.warnings) Say("warning: " + warning);
  if (!report.problems.empty()) return Error(Code::kInvalid, "%s", report.problems.front().c_str());
  return settings;
}

// Who runs where, with which environment; not yet bound.
Result<Plan> Decide(const Invocation& line, Request request, const Machine& machine,
                    const param::Settings& settings, const CommandContext& context) {
  Result<std::string> spawner = ChooseSpawner(settings, context);
  if (!spawner.ok()) return std::move(spawner).status();
  if (*spawner == context.local_spawner && settings.Find("launcher.spawner.use") == nullptr)
    *spawner = std::string(SpawnerForHosts(request, machine, settings, context));
  if (Status status = AskForHosts(*spawner, settings, context, &request); !status.ok())
    return status;
  for (ProgramRequest& program : request.programs)
    program.environment = Resolve(program.environment, context.environment);
  Result<Plan> plan = MakePlan(request, machine, *spawner != context.local_spawner);
  if (!plan.ok()) return plan;
  plan->options = line.options;
  plan->options.spawner = *spawner;
  plan->environment = JobEnvironment(line, settings, context.environment);
  if (plan->options.stdin_to == StdinTo::kRank && plan->options.stdin_rank >= plan->ranks.size())
    return Error(Code::kInvalid, "--stdin %u: the job has ranks 0 to %zu only",
                 plan->options.stdin_rank, plan->ranks.size() - 1);
  return plan;
}

// The plan's host that is this machine; the number of hosts if none is.
std::uint32_t HostHere(const Plan& plan, const Machine& machine) {
  std::uint32_t host = 0;
  while (host < plan.hosts.size() && !IsThisMachine(plan.hosts[host].name, machine)) ++host;
  return host;
}

void NoteSharing(const Machine& machine, Plan* plan) {
  for (const RankPlan& rank : plan->ranks) {
    if (rank.wait_mode != WaitMode::kOversubscribed) continue;
    const Host& host = plan->hosts[rank.host];
    const bool here = IsThisMachine(host.name, machine);
    plan->notes.push_back(Format("more ranks than CPUs on %s%s: waiting ranks sleep",
                                 host.name.c_str(),
                                 here ? (" (" + machine.cpus_why + ")").c_str() : ""));
    // Announced where a person reads it; a script gets what it asks for (-v, --display plan).
    if (isatty(STDERR_FILENO) != 0) plan->warnings.push_back(plan->notes.back());
    return;
  }
}

// Binding, and the pictures, which need the machine's topology; null when neither is wanted.
Result<Topology> BindAndShow(const Invocation& line, const Machine& machine,
                             const Environment& environment, Plan* plan) {
  const std::uint32_t host = HostHere(*plan, machine);
  Topology topology;
  NoteSharing(machine, plan);
  const bool is_here = host < plan->hosts.size();
  if (is_here) {
    const Binding binding = ChooseBinding(*plan, host, machine);
    CpuSet allowed;
    if (binding.to != BindTo::kNone || line.display.bindings) {
      Result<Topology> loaded = LoadTopology();
      if (!loaded.ok()) return loaded;
      topology = std::move(*loaded);
      allowed = AllowedCpus(topology.get());
    }
    if (Status status = BindRanks(binding, host, topology.get(), allowed, plan); !status.ok())
      return status;
  }
  Advise(plan);
  // On standard output only if the program's own output cannot be meant.
  FILE* stream = line.dry_run ? stdout : stderr;
  const bool by_default = line.dry_run && !line.display.environment && !line.display.bindings;
  if (line.display.plan || by_default) fputs(ShowPlan(*plan).c_str(), stream);
  if (line.display.environment) fputs(ShowEnvironment(*plan, environment).c_str(), stream);
  if (line.display.bindings && is_here)
    fputs(ShowBindings(*plan, host, topology.get(), AllowedCpus(topology.get())).c_str(), stream);
  if (line.display.bindings) fputs(ShowBindingsElsewhere(*plan, host).c_str(), stream);
  return topology;
}

}  // namespace

int Mpiexec(std::span<const std::string> arguments, const CommandContext& outer) {
  Result<Invocation> parsed = ParseCommandLine(arguments);
  if (!parsed.ok()) return Refuse(parsed.status());
  Invocation& line = *parsed;
  if (line.action == Invocation::Action::kHelp) return PrintHelp(line.topic);
  if (line.action == Invocation::Action::kVersion) return PrintVersion();

  const Environment environment = OutsideOfJobs(outer.environment);
  const CommandContext context{environment, outer.spawners, outer.local_spawner,
                               outer.remote_spawner, outer.agent_spawner};
  const Installation installation = ThisInstallation();
  const Result<param::Settings> settings = CheckedSettings(line, installation, context);
  if (!settings.ok()) return Refuse(settings.status());
  if (!line.host_file_path.empty()) {
    Result<std::vector<HostEntry>> hosts =
        ReadHostFile(line.host_file_path, installation, context.environment);
    if (!hosts.ok()) return Refuse(hosts.status());
    line.request.host_file = std::move(*hosts);
  }
  if (!line.rank_file_path.empty())
    if (Status status = ReadRankFile(line.rank_file_path, &line.request); !status.ok())
      return Refuse(status);
  if (Status status = CountMappedObjects(&line.request); !status.ok()) return Refuse(status);
  const Machine machine = ThisMachine(NeedsAddresses(line.request));
  Result<Plan> plan = Decide(line, line.request, machine, *settings, context);
  if (!plan.ok()) return Refuse(plan.status());
  if (plan->options.spawner == context.local_spawner)
    if (const int status = CheckPrograms(*plan); status != 0) return status;
  const Result<Topology> topology = BindAndShow(line, machine, context.environment, &*plan);
  if (!topology.ok()) return Refuse(topology.status());
  for (const std::string& warning : plan->warnings) Say("warning: " + warning);
  if (line.dry_run) return 0;
  if (plan->options.verbosity > 0)
    for (const std::string& note : plan->notes) Say(note);
  return RunPlan(*plan, {context.environment, *settings, context.spawners, topology->get()});
}

}  // namespace lamina::launcher
