// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/prepare.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "checkpoint/checkpoint_engine.h"
#include "launcher/cli/options.h"
#include "launcher/cli/settings.h"
#include "launcher/plan/bind.h"
#include "launcher/plan/place.h"
#include "launcher/plan/sharing_words.h"
#include "launcher/plan/topology.h"
#include "runtime/base/checkpoint_word.h"
#include "runtime/base/dynamic_words.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/roster.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// ppr needs to know how many objects a host has; this machine's count stands for all.
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

// Returns the variables whose names begin with what stands before the '*' of `pattern`.
std::vector<std::string> Matching(std::string_view pattern, const Environment& environment) {
  const std::string_view beginning = pattern.substr(0, pattern.find('*'));
  std::vector<std::string> found;
  for (const std::string& assignment : environment.Assignments())
    if (assignment.starts_with(beginning) && assignment.find('=') >= beginning.size())
      found.push_back(assignment);
  return found;
}

// "NAME" becomes "NAME=value as it is here", and "NAME*" all that begin so; a name that is not set
// here is left out with a warning.
std::vector<std::string> Resolve(const std::vector<std::string>& variables, const Invocation& line,
                                 const Environment& environment,
                                 std::vector<std::string>* warnings) {
  std::vector<std::string> resolved;
  for (const std::string& variable : variables) {
    if (variable.find('=') != std::string::npos) {
      resolved.push_back(variable);
    } else if (variable.ends_with('*')) {
      for (std::string& found : Matching(variable, environment))
        resolved.push_back(std::move(found));
    } else if (const auto value = environment.Get(variable)) {
      resolved.push_back(variable + "=" + *value);
    } else {
      warnings->push_back(Format("%s %s: not set here, so the ranks do not get it",
                                 line.named_by.at(variable).c_str(), variable.c_str()));
    }
  }
  return resolved;
}

// Returns `environment` without what another launcher has put there, because a job started by a
// rank of another job is a job of its own. What the outer job decided about waiting was for its own
// ranks.
Environment OutsideOfJobs(const Environment& environment) {
  if (!environment.Get("PMIX_RANK")) return environment;
  Environment outside;
  for (const std::string& assignment : environment.Assignments()) {
    const std::size_t equals = assignment.find('=');
    const std::string name = assignment.substr(0, equals);
    const bool of_a_rank = (name.starts_with("PMIX_") && !name.starts_with("PMIX_MCA_")) ||
                           name == "LAMINA_EVENT_FD" || name == kRosterVariable ||
                           name == kNodeMemoryVariable || name == kCheckpointVariable ||
                           name == kWaitVariable || name == kCrowdVariable ||
                           name == kParentVariable || name == kTieVariable || name == kDoorVariable;
    if (!of_a_rank) outside.Set(name, assignment.substr(equals + 1));
  }
  return outside;
}

// Returns what all ranks get, weakest first: the launcher's own, the parameters, -genv.
std::vector<std::string> JobEnvironment(const Invocation& line, const param::Settings& settings,
                                        const Environment& environment,
                                        std::vector<std::string>* warnings) {
  Environment job = environment;
  job.Unset("LAMINA_ORIGINS");
  const auto set = [&job](const std::string& assignment) {
    const std::size_t equals = assignment.find('=');
    job.Set(assignment.substr(0, equals), assignment.substr(equals + 1));
  };
  for (const std::string& assignment : settings.Export()) set(assignment);
  for (const std::string& assignment : Resolve(line.job_environment, line, environment, warnings))
    set(assignment);
  return job.Assignments();
}

// What an option says wins over the variable.
Status ReadTimeout(const Environment& environment, Invocation* line) {
  const std::optional<std::string> seconds = environment.Get("MPIEXEC_TIMEOUT");
  if (!seconds || line->timeout_given) return {};
  Result<std::uint64_t> timeout_ms = ParseTimeoutMs(*seconds);
  if (!timeout_ms.ok())
    return std::move(timeout_ms).status().Within("environment MPIEXEC_TIMEOUT=" + *seconds);
  line->options.timeout_ms = *timeout_ms;
  return {};
}

// Takes the hosts of the job that has spawned this one. A host file of its own is used instead, but
// what runs on its hosts is known.
Status UseFurtherHosts(const Environment& environment, Request* request) {
  const std::optional<std::string> text = environment.Get(kFurtherVariable);
  if (!text) return {};
  Result<std::vector<HostEntry>> hosts = ParseHostFile(*text, kFurtherVariable);
  if (!hosts.ok()) return std::move(hosts).status();
  request->may_add_hosts = true;
  for (HostEntry& host : *hosts) {
    host.taken = static_cast<std::uint32_t>(ParseInteger(host.extra["taken"]).value_or(0));
    host.slots_are_a_promise = host.extra["promised"] != "no";
    host.extra.erase("taken");
    host.extra.erase("promised");
    for (HostEntry& own : request->host_file)
      if (own.name == host.name) own.taken = host.taken;
  }
  if (request->host_file.empty()) request->host_file = *std::move(hosts);
  return {};
}

Status CheckArchitectures(const Request& request) {
  utsname machine{};
  if (uname(&machine) != 0) return {};
  for (const ProgramRequest& program : request.programs)
    if (!program.arch.empty() && program.arch != machine.machine)
      return Error(Code::kUnsupported,
                   "--arch %s: this node is %s, and a job has nodes of one architecture",
                   program.arch.c_str(), machine.machine);
  return {};
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

// Returns all hosts that the user has named, in whatever way.
std::vector<std::string> NamedHosts(const Request& request) {
  std::vector<std::string> names;
  const auto add = [&names](const std::vector<HostEntry>& hosts) {
    for (const HostEntry& host : hosts)
      if (host.schedule) names.push_back(host.name);
  };
  add(request.host_file);
  for (const ProgramRequest& program : request.programs) add(program.hosts);
  for (const RankfileEntry& rank : request.rankfile)
    if (!rank.host.starts_with('+')) names.push_back(rank.host);
  return names;
}

// Uses --default-hostfile where the user names no hosts and no batch system does.
Status UseDefaultHostFile(const param::Settings& settings, const CommandContext& context,
                          Invocation* line) {
  if (line->default_host_file_path.empty() || !line->host_file_path.empty() ||
      !NamedHosts(line->request).empty() || !line->rank_file_path.empty())
    return {};
  Result<std::string> spawner = ChooseSpawner(settings, context);
  if (!spawner.ok()) return std::move(spawner).status();
  if (*spawner == context.local_spawner) line->host_file_path = line->default_host_file_path;
  return {};
}

// Returns another spawner if the local one would do but other hosts than this machine are named.
std::string_view SpawnerForHosts(const Request& request, const Machine& machine,
                                 const param::Settings& settings, const CommandContext& context) {
  const std::vector<std::string> named = NamedHosts(request);
  if (std::all_of(named.begin(), named.end(),
                  [&machine](const std::string& name) { return IsThisMachine(name, machine); }))
    return context.local_spawner;
  const param::Found* agent = settings.Find("spawner.exec.agent");
  return agent != nullptr && !agent->value.empty() ? context.agent_spawner : context.remote_spawner;
}

// Does the user name hosts, but none of a manager whose nodes are open to all?
bool MeansOthers(const Request& request, const Allocation& allocation) {
  const std::vector<std::string> named = NamedHosts(request);
  return allocation.open_to_all && !named.empty() &&
         std::none_of(named.begin(), named.end(), [&allocation](const std::string& name) {
           return std::any_of(allocation.hosts.begin(), allocation.hosts.end(),
                              [&name](const Host& host) { return host.name == name; });
         });
}

// Asks another spawner than the local one for the hosts it was given to run on. If that is this
// machine alone, `name` becomes the local one, and `machine` learns what it is called. Returns
// false, and changes nothing, if the user's hosts are not among these and need not be.
Result<bool> AskForHosts(const param::Settings& settings, const CommandContext& context,
                         std::string* name, Machine* machine, Request* request) {
  if (*name == context.local_spawner) return true;
  bool named = !request->host_file.empty();
  for (const ProgramRequest& program : request->programs) named = named || !program.hosts.empty();
  Result<std::unique_ptr<Spawner>> spawner =
      context.spawners.Find(*name)->make({context.environment, settings});
  if (!spawner.ok()) return std::move(spawner).status();
  Result<Allocation> allocation = (*spawner)->Query(context.environment);
  if (!allocation.ok()) return std::move(allocation).status();
  if (named && !allocation->managed) return true;
  const bool free_choice = settings.Find("launcher.spawner.use") == nullptr;
  if (free_choice && MeansOthers(*request, *allocation)) return false;
  request->allocation_name = allocation->source;
  for (const Host& host : allocation->hosts) {
    HostEntry entry;
    entry.name = host.name;
    entry.slots = host.slots;
    entry.schedule = host.schedulable;
    entry.slots_are_a_promise = !allocation->managed;
    entry.cpus = host.cpus;
    entry.where = *name;
    request->allocation.push_back(std::move(entry));
  }
  if (allocation->in_sequence && !named && request->mapping.map_by == MapBy::kSlot)
    request->mapping.map_by = MapBy::kSeq;
  if (request->mapping.cpus_per_rank == 0)
    request->mapping.cpus_per_rank = allocation->cpus_per_rank;
  if (free_choice && allocation->all_here) {
    *name = std::string(context.local_spawner);
    machine->addresses.push_back(allocation->hosts.front().name);
  }
  return true;
}

// Gathers parameters from everywhere and checks them; it warns about names that nobody knows.
Result<param::Settings> CheckedSettings(const Invocation& line, const Installation& installation,
                                        const CommandContext& context,
                                        std::vector<std::string>* warnings) {
  Result<param::Settings> settings = ReadSettings(line.settings, context.environment, installation);
  if (!settings.ok()) return settings;
  const SettingsReport report = CheckSettings(*settings, context, installation);
  warnings->insert(warnings->end(), report.warnings.begin(), report.warnings.end());
  if (!report.problems.empty()) return Error(Code::kInvalid, "%s", report.problems.front().c_str());
  return settings;
}

// An ordinary user's processes are saved in namespaces of their own.
bool NeedsSeclusion(const Invocation& line, const param::Settings& settings,
                    const CommandContext& context) {
  if (!line.options.checkpoint.outside || geteuid() == 0 || context.engines == nullptr)
    return false;
  const checkpoint::EngineContext asked{context.environment, settings};
  const param::Found* named = settings.Find("checkpoint.engine.use");
  const checkpoint::EngineComponent* engine = named != nullptr && named->value != "auto"
                                                  ? context.engines->Find(named->value)
                                                  : context.engines->Ask(asked).front().first;
  if (engine == nullptr) return false;
  const auto made = engine->make(asked);
  return made.ok() && (*made)->caps().keeps_process_ids;
}

// The names of hosts that have ranks, in the order in which ranks number their nodes.
std::string NamesOfNodes(const Plan& plan) {
  std::string names;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    if (std::ranges::find(plan.ranks, host, &RankPlan::host) != plan.ranks.end())
      names += (names.empty() ? "" : ",") + plan.hosts[host].name;
  return names;
}

// Decides who runs where, with which environment. Ranks are not bound yet.
Result<Plan> Decide(const Invocation& line, Request request, Machine machine,
                    const param::Settings& settings, const CommandContext& context,
                    std::vector<std::string>* warnings) {
  Result<std::string> spawner = ChooseSpawner(settings, context);
  if (!spawner.ok()) return std::move(spawner).status();
  if (*spawner == context.local_spawner && settings.Find("launcher.spawner.use") == nullptr)
    *spawner = std::string(SpawnerForHosts(request, machine, settings, context));
  const std::string chosen = *spawner;
  const Result<bool> asked = AskForHosts(settings, context, &*spawner, &machine, &request);
  if (!asked.ok()) return Status(asked.status().code(), std::string(asked.status().message()));
  const bool given_here = *spawner == context.local_spawner && chosen != context.local_spawner;
  if (!*asked) *spawner = std::string(SpawnerForHosts(request, machine, settings, context));
  Avoid(line.avoided, &request);
  for (ProgramRequest& program : request.programs)
    program.environment = Resolve(program.environment, line, context.environment, warnings);
  Result<Plan> plan = MakePlan(request, machine, *spawner != context.local_spawner);
  if (!plan.ok()) return plan;
  plan->options = line.options;
  plan->options.spawner = *spawner;
  // Only a shepherd can go on in namespaces; this process has to stay where others find it.
  if (*spawner == context.local_spawner && NeedsSeclusion(line, settings, context))
    plan->options.spawner = context.remote_spawner;
  if (given_here) plan->options.manager = chosen;
  if (!request.allocation.empty()) plan->options.allocation = request.allocation_name;
  plan->environment = JobEnvironment(line, settings, context.environment, warnings);
  if (line.options.reports_transports)
    plan->environment.push_back("LAMINA_TRANSPORT_REPORT=" + NamesOfNodes(*plan));
  if (plan->options.stdin_to == StdinTo::kRank && plan->options.stdin_rank >= plan->ranks.size())
    return Error(Code::kInvalid, "--stdin %u: the job has ranks 0 to %zu only",
                 plan->options.stdin_rank, plan->ranks.size() - 1);
  return plan;
}

}  // namespace

Result<std::string> ReadWholeFile(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    return SystemError(Code::kNotFound, errno, "%s", path.c_str());
  if (S_ISDIR(status.st_mode)) return Error(Code::kInvalid, "%s: it is a directory", path.c_str());
  std::ifstream file(path, std::ios::binary);
  if (!file) return SystemError(Code::kDenied, errno, "%s", path.c_str());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<Preparation> Prepare(Invocation line, const CommandContext& outer,
                            std::vector<std::string>* warnings) {
  Preparation made;
  made.line = std::move(line);
  made.environment = OutsideOfJobs(outer.environment);
  made.installation = ThisInstallation();
  const CommandContext context{made.environment,     outer.spawners,      outer.local_spawner,
                               outer.remote_spawner, outer.agent_spawner, outer.engines};
  Result<param::Settings> settings =
      CheckedSettings(made.line, made.installation, context, warnings);
  if (!settings.ok()) return std::move(settings).status();
  made.settings = *std::move(settings);
  Request& request = made.line.request;
  if (Status status = ReadTimeout(made.environment, &made.line); !status.ok()) return status;
  if (Status status = CheckArchitectures(request); !status.ok()) return status;
  if (Status status = UseDefaultHostFile(made.settings, context, &made.line); !status.ok())
    return status;
  if (!made.line.host_file_path.empty()) {
    // MPI_Comm_spawn gives the text of a file, which another machine may have.
    const std::string& path = made.line.host_file_path;
    Result<std::vector<HostEntry>> hosts =
        path.find('\n') != path.npos ? ParseHostFile(path, "hostfile")
                                     : ReadHostFile(path, made.installation, made.environment);
    if (!hosts.ok()) return std::move(hosts).status();
    request.host_file = *std::move(hosts);
    for (std::string& sentence : UnknownKeys(request.host_file))
      warnings->push_back(std::move(sentence));
  }
  if (Status status = UseFurtherHosts(outer.environment, &request); !status.ok()) return status;
  if (!made.line.rank_file_path.empty())
    if (Status status = ReadRankFile(made.line.rank_file_path, &request); !status.ok())
      return status;
  if (Status status = CountMappedObjects(&request); !status.ok()) return status;
  Status kept;
  if (const std::string& cpus = request.mapping.cpu_set; !cpus.empty())
    kept = KeepToCpus(cpus).Within("--cpu-set " + cpus);
  made.machine = ThisMachine(NeedsAddresses(request));
  Result<Plan> plan = Decide(made.line, request, made.machine, made.settings, context, warnings);
  if (!plan.ok()) return std::move(plan).status();
  // Only the hosts of ranks need to have these CPUs, and shepherds ask for those of others.
  if (plan->options.spawner == context.local_spawner && !kept.ok()) return kept;
  made.plan = *std::move(plan);
  return made;
}

}  // namespace lamina::launcher
