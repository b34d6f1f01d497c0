// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/mpiexec.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "checkpoint/store/folder.h"
#include "checkpoint/store/listing.h"
#include "checkpoint/store/local.h"
#include "launcher/cli/command_line.h"
#include "launcher/cli/help.h"
#include "launcher/cli/prepare.h"
#include "launcher/cli/program_path.h"
#include "launcher/cli/restart.h"
#include "launcher/plan/advice.h"
#include "launcher/plan/bind.h"
#include "launcher/plan/display.h"
#include "launcher/plan/topology.h"
#include "launcher/supervise/run.h"
#include "launcher/supervise/tie.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

constexpr int kBadInput = 2;

// What ties this mpiexec to the process that has started it for MPI_Comm_spawn, if one has. That
// process is told what is said before there are ranks.
constinit Tie* tie = nullptr;

void Say(const std::string& message) {
  if (tie == nullptr || !tie->SayWhy(message)) fprintf(stderr, "mpiexec: %s\n", message.c_str());
}

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

// Returns 0, or the exit status after saying what is wrong.
int CheckPrograms(const Plan& plan) {
  const Environment job(plan.environment);
  for (const App& app : plan.apps) {
    const Environment own(app.environment);
    const std::string path =
        own.Get("PATH").value_or(job.Get("PATH").value_or(std::string(kDefaultPath)));
    const ProgramCheck check =
        CheckProgram(app.argv.front(), app.wdir, app.path.empty() ? path : app.path + ":" + path);
    if (check.exit_status == 0) continue;
    Say(check.message);
    return check.exit_status;
  }
  return 0;
}

// Returns the index of the host that is this machine; the number of hosts if none is.
std::uint32_t HostHere(const Plan& plan, const Machine& machine) {
  std::uint32_t host = 0;
  while (host < plan.hosts.size() && !IsThisMachine(plan.hosts[host].name, machine)) ++host;
  return host;
}

void NoteSharing(const Machine& machine, Plan* plan) {
  for (const RankPlan& rank : plan->ranks) {
    if (rank.sharing != Sharing::kShared) continue;
    const Host& host = plan->hosts[rank.host];
    const bool here = IsThisMachine(host.name, machine);
    // A person is told at once; a script is told if it asks (-v, --display plan).
    (isatty(STDERR_FILENO) != 0 ? plan->warnings : plan->notes)
        .push_back(SharingText(host.name, here ? machine.cpus_why : ""));
    return;
  }
}

// Binds ranks and shows the pictures. Both need the machine's topology, which is returned; it is
// null if neither is wanted.
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
  // Only a dry run writes to standard output, which otherwise belongs to the program.
  FILE* stream = line.dry_run ? stdout : stderr;
  const bool by_default = line.dry_run && !line.display.environment && !line.display.bindings &&
                          !line.display.allocation;
  if (line.display.allocation) fputs(ShowAllocation(*plan).c_str(), stream);
  if (line.display.plan || by_default) fputs(ShowPlan(*plan).c_str(), stream);
  if (line.display.environment) fputs(ShowEnvironment(*plan, environment).c_str(), stream);
  if (line.display.bindings && is_here)
    fputs(ShowBindings(*plan, host, topology.get(), AllowedCpus(topology.get())).c_str(), stream);
  if (line.display.bindings) fputs(ShowBindingsElsewhere(*plan, host).c_str(), stream);
  return topology;
}

// Finds what a job with --resume goes on from; none if nothing has been saved yet.
Result<std::optional<SavedJob>> FindResumed(const CheckpointOptions& options,
                                            std::vector<std::string>* warnings) {
  if (!options.resume) return std::optional<SavedJob>();
  if (options.directory.empty())
    return Error(Code::kInvalid, "--resume needs --checkpoint-dir, which says from where");
  std::vector<std::string> damaged;
  Result<SavedJob> job = FindSavedJob(options.directory, Epoch{}, &damaged);
  warnings->insert(warnings->end(), damaged.begin(), damaged.end());
  if (job.ok()) return std::optional(*std::move(job));
  // A program whose states are all damaged does not begin from its beginning unasked.
  if (job.status().code() == Code::kNotFound && damaged.empty()) return std::optional<SavedJob>();
  return std::move(job).status();
}

// What was saved from outside goes on in the same way, and what a program has saved does, too.
Status CheckEngine(const SavedJob& saved, const CheckpointOptions& options) {
  const bool outside = saved.engine != "self";
  if (outside == options.outside) return {};
  if (outside)
    return Error(Code::kInvalid,
                 "generation %u in %s was saved by %s, so --resume needs --checkpoint or "
                 "--checkpoint-signal or --checkpoint-every beside it",
                 Index(saved.epoch), saved.directory.c_str(), saved.engine.c_str());
  return Error(Code::kInvalid,
               "generation %u in %s was saved by the program itself, which cannot go on with "
               "--checkpoint, --checkpoint-signal or --checkpoint-every",
               Index(saved.epoch), saved.directory.c_str());
}

std::string ProgramsOf(const Invocation& line) {
  std::string text;
  for (const ProgramRequest& program : line.request.programs) {
    if (!text.empty()) text += " :";
    for (const std::string& word : program.argv) text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// Processes that were saved go on with the words with which they were started.
void WarnOfOtherProgram(const SavedJob& saved, const Invocation& line,
                        std::vector<std::string>* warnings) {
  const Result<Invocation> before = ParseCommandLine(saved.words, ReadWholeFile);
  if (!line.options.checkpoint.outside || !before.ok() || ProgramsOf(*before) == ProgramsOf(line))
    return;
  warnings->push_back(
      Format("the job goes on from generation %u in %s, which is one of `%s` and not of `%s`; to "
             "begin anew, remove the directory or give another",
             Index(saved.epoch), saved.directory.c_str(), ProgramsOf(*before).c_str(),
             ProgramsOf(line).c_str()));
}

// The places that a restart names take the place of those that the job had.
Status Move(const std::vector<std::string>& places, Invocation* line) {
  if (places.empty()) return {};
  std::vector<std::string> words = places;
  words.emplace_back("program");
  Result<Invocation> to = ParseCommandLine(words, ReadWholeFile);
  if (!to.ok()) return std::move(to).status();
  line->settings.insert(line->settings.end(), to->settings.begin(), to->settings.end());
  line->request.oversubscribe = line->request.oversubscribe || to->request.oversubscribe;
  const std::vector<HostEntry>& hosts = to->request.programs.front().hosts;
  if (to->request.ranks_per_host_max == 0 && hosts.empty() && to->host_file_path.empty() &&
      to->default_host_file_path.empty())
    return {};
  for (ProgramRequest& program : line->request.programs) program.hosts = hosts;
  line->host_file_path = to->host_file_path;
  line->default_host_file_path = to->default_host_file_path;
  line->request.ranks_per_host_max = to->request.ranks_per_host_max;
  return {};
}

// A job that has lost hosts has as many ranks as before, on those that are left.
void GoOnWith(const SavedJob& saved, Invocation* line) {
  line->avoided = saved.avoided;
  if (saved.avoided.empty()) return;
  line->request.oversubscribe = true;
  std::vector<ProgramRequest>& programs = line->request.programs;
  if (programs.size() == 1 && !programs.front().ranks)
    programs.front().ranks = static_cast<std::uint32_t>(saved.ranks);
}

// What holds for the jobs that ranks spawn, as for this one.
std::vector<std::string> FurtherWords(const Invocation& line) {
  std::vector<std::string> words;
  for (const std::string& setting : line.settings) words.insert(words.end(), {"--param", setting});
  for (const std::string& variable : line.job_environment)
    words.insert(words.end(),
                 {variable.find('=') == variable.npos ? "--genvlist" : "-genv", variable});
  if (line.request.oversubscribe) words.emplace_back("--oversubscribe");
  if (line.request.never_oversubscribe) words.emplace_back("--nooversubscribe");
  if (line.options.tag_output) words.emplace_back("--tag-output");
  if (line.options.timestamp_output) words.emplace_back("--timestamp-output");
  return words;
}

std::string Counted(std::size_t count, const char* what) {
  return Format("%zu more %s%s", count, what, count == 1 ? " is" : "s are");
}

// The hosts to do without: those that are lost, unless none would be left.
std::vector<std::string> HostsToAvoid(const Plan& plan, const Machine& machine,
                                      std::vector<std::string> lost) {
  std::erase_if(lost, [&machine](const std::string& name) { return IsThisMachine(name, machine); });
  const bool any_left =
      std::any_of(plan.hosts.begin(), plan.hosts.end(), [&lost](const Host& host) {
        return host.schedulable && std::find(lost.begin(), lost.end(), host.name) == lost.end();
      });
  return any_left ? lost : std::vector<std::string>();
}

// The number of the newest state in the directory and its local folder, 0 if there is none.
std::uint32_t NewestIn(const std::string& directory) {
  const Result<Descriptor> store = checkpoint::OpenStore(directory);
  if (!store.ok()) return 0;
  const Result<Descriptor> local = checkpoint::OpenStore(checkpoint::LocalOf(store->value()));
  std::uint32_t newest = 0;
  for (const auto* each : {&store, &local}) {
    if (!each->ok()) continue;
    const Result<checkpoint::Names> names = checkpoint::NamesOfGenerations((*each)->value());
    if (names.ok() && !names->complete.empty())
      newest = std::max(newest, Index(names->complete.front()));
  }
  return newest;
}

// Returns "node9:2,node8:2": the hosts of the plan, each with room for its ranks.
std::string HostsWith(const Loss::Move& move, const Plan& plan) {
  std::string list;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    const auto ranks = std::count_if(plan.ranks.begin(), plan.ranks.end(),
                                     [host](const RankPlan& rank) { return rank.host == host; });
    if (ranks == 0) continue;
    const std::string& name = plan.hosts[host].name;
    list += (list.empty() ? "" : ",") + (name == move.from ? move.to : name) + ":" +
            std::to_string(ranks);
  }
  return list;
}

// Leaves out of such options all but parameters.
std::vector<std::string> WithoutHosts(const std::vector<std::string>& places) {
  std::vector<std::string> kept;
  for (std::size_t at = 0; at + 1 < places.size(); ++at)
    if (places[at] == "--param") kept.insert(kept.end(), {places[at], places[at + 1]});
  return kept;
}

// The job could not be started where it was to be moved, so it goes on where it was.
bool GoesBack(const Loss& loss, const SavedJob* saved) {
  return loss.not_started && saved != nullptr && !saved->moved_from.empty();
}

// Restarts a job that was lost or is moved, in this process. Returns only if it cannot be
// restarted. `saved` is what it has gone on from, null if it had begun; what is older than `oldest`
// was saved by another job.
void RestartAfter(const Loss& loss, const Preparation& made, const SavedJob* saved,
                  std::uint32_t oldest, checkpoint::Claim* claim) {
  const CheckpointOptions& options = made.plan.options.checkpoint;
  std::vector<std::string> damaged;
  Result<SavedJob> newest = FindSavedJob(options.directory, Epoch{}, &damaged);
  if (newest.ok()) damaged = newest->damaged;
  for (const std::string& sentence : damaged) Say("warning: " + sentence);
  if (newest.ok() && Index(newest->epoch) < oldest)
    newest = Error(Code::kNotFound, "it has not been saved yet");
  if (!newest.ok())
    return Say("the job cannot be restarted: " + std::string(newest.status().message()));
  const bool goes_back = GoesBack(loss, saved);
  const std::vector<std::string> without =
      goes_back ? std::vector<std::string>() : HostsToAvoid(made.plan, made.machine, loss.hosts);
  const std::uint32_t left = options.restarts - (loss.move || goes_back ? 0 : 1);
  std::vector<std::string> words = {"lamina",       "restart",
                                    "--generation", std::to_string(Index(newest->epoch)),
                                    "--restarts",   std::to_string(left)};
  if (loss.move)
    words.insert(words.end(), {"-H", HostsWith(*loss.move, made.plan), "--moved-from",
                               HostsWith({loss.move->from, loss.move->from}, made.plan)});
  if (goes_back) words.insert(words.end(), {"-H", saved->moved_from});
  if (saved != nullptr)
    for (const std::string& word :
         loss.move || goes_back ? WithoutHosts(saved->places) : saved->places)
      words.push_back(word);
  for (const std::vector<std::string>& names :
       {saved != nullptr ? saved->avoided : std::vector<std::string>(), without})
    for (const std::string& name : names) words.insert(words.end(), {"--without", name});
  if (const int passed = claim->PassOn(); passed >= 0)
    words.insert(words.end(), {"--claim", std::to_string(passed)});
  words.push_back(newest->directory);
  std::string hosts;
  for (const std::string& name : without) hosts += (hosts.empty() ? " without " : ", ") + name;
  if (loss.move)
    Say(Format("the job goes on from generation %u with %s instead of %s", Index(newest->epoch),
               loss.move->to.c_str(), loss.move->from.c_str()));
  else if (goes_back)
    Say(Format("the job goes on from generation %u where it was", Index(newest->epoch)));
  else
    Say(Format("the job is restarted from generation %u%s; %s allowed", Index(newest->epoch),
               hosts.c_str(), Counted(left, "restart").c_str()));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  fflush(nullptr);
  execv("/proc/self/exe", argv.data());
  Say(std::string(SystemError(Code::kResource, errno, "the job cannot be restarted").message()));
}

// `saved` is what the job goes on from; null if the words say that. `claim` is to keep the
// directory of its states.
int Run(std::span<const std::string> arguments, const SavedJob* saved, checkpoint::Claim* claim,
        const CommandContext& context) {
  Result<Invocation> line = ParseCommandLine(arguments, ReadWholeFile);
  if (!line.ok()) return Refuse(line.status());
  if (line->action == Invocation::Action::kHelp) return PrintHelp(line->topic);
  if (line->action == Invocation::Action::kVersion) return PrintVersion();

  std::vector<std::string> warnings;
  CheckpointOptions& checkpoint = line->options.checkpoint;
  Result<std::optional<SavedJob>> resumed = std::optional<SavedJob>();
  if (!line->dry_run && (checkpoint.resume || checkpoint.restarts > 0))
    if (Status status = claim->Take(checkpoint.directory); !status.ok()) {
      Say(std::string(status.message()));
      return 1;
    }
  if (saved == nullptr) resumed = FindResumed(checkpoint, &warnings);
  if (!resumed.ok()) {
    for (const std::string& warning : warnings) Say("warning: " + warning);
    return Refuse(resumed.status());
  }
  if (resumed->has_value()) saved = &**resumed;
  if (saved != nullptr) {
    if (Status status = CheckEngine(*saved, checkpoint); !status.ok()) return Refuse(status);
    WarnOfOtherProgram(*saved, *line, &warnings);
    checkpoint.directory = saved->directory;
    checkpoint.restored = saved->epoch;
    checkpoint.restored_in = saved->found_in;
    checkpoint.since = saved->since;
    if (Status status = Move(saved->places, &*line); !status.ok()) return Refuse(status);
    warnings.insert(warnings.end(), saved->damaged.begin(), saved->damaged.end());
    checkpoint.restarts = saved->restarts.value_or(checkpoint.restarts);
    GoOnWith(*saved, &*line);
  }
  // If another job saves its states there now, they are no earlier one's, and that will be said.
  if (const std::uint32_t newest = NewestIn(checkpoint.directory);
      saved == nullptr && newest > 0 &&
      (line->dry_run || claim->Take(checkpoint.directory, 0).ok()))
    warnings.push_back(
        Format("%s has saved states of an earlier job, which are kept; `lamina "
               "restart` or --resume goes on from the newest, generation %u",
               checkpoint.directory.c_str(), newest));
  if (checkpoint.restarts > 0 && checkpoint.directory.empty())
    return Refuse(
        "--restarts needs saved states: --checkpoint-dir DIR keeps those that the program "
        "makes, and --checkpoint-every TIME makes them");
  checkpoint.words.assign(arguments.begin(), arguments.end());
  Result<Preparation> made = Prepare(*std::move(line), context, &warnings);
  const bool quiet = made.ok() && made->line.options.quiet;
  if (made.ok() && saved != nullptr && made->plan.options.checkpoint.outside &&
      made->plan.ranks.size() == saved->ranks)
    for (std::string& sentence : Differences(*saved, made->plan))
      warnings.push_back(std::move(sentence));
  for (const std::string& warning : warnings)
    if (!quiet) Say("warning: " + warning);
  if (!made.ok()) return Refuse(made.status());
  Plan& plan = made->plan;
  if (saved != nullptr && plan.ranks.size() != saved->ranks)
    return Refuse(Format("generation %u has %zu ranks, so the job cannot have %zu",
                         Index(saved->epoch), saved->ranks, plan.ranks.size()));
  if (plan.options.spawner == context.local_spawner)
    if (const int status = CheckPrograms(plan); status != 0) return status;
  const Result<Topology> topology =
      BindAndShow(made->line, made->machine, made->environment, &plan);
  if (!topology.ok()) return Refuse(topology.status());
  for (const std::string& warning : plan.warnings)
    if (!quiet) Say("warning: " + warning);
  if (made->line.dry_run) return 0;
  if (plan.options.verbosity > 0)
    for (const std::string& note : plan.notes) Say(note);
  const bool restarts = plan.options.checkpoint.restarts > 0 && tie == nullptr;
  const std::uint32_t oldest = saved != nullptr ? Index(saved->epoch)
                               : restarts       ? NewestIn(plan.options.checkpoint.directory) + 1
                                                : 0;
  Loss loss;
  const int status =
      RunPlan(plan, {made->environment, made->settings, context.spawners, topology->get(),
                     context.engines, tie, FurtherWords(made->line), claim, &loss});
  if (loss.move || GoesBack(loss, saved) || (restarts && loss.any))
    RestartAfter(loss, *made, saved, oldest, claim);
  return status;
}

}  // namespace

int Mpiexec(std::span<const std::string> arguments, const CommandContext& context) {
  const std::unique_ptr<Tie> own = Tie::Take(context.environment);
  tie = own.get();
  checkpoint::Claim claim;
  const int status = Run(arguments, nullptr, &claim, context);
  tie = nullptr;
  return status;
}

int MpiexecFrom(const SavedJob& job, checkpoint::Claim* claim, const CommandContext& context) {
  return Run(job.words, &job, claim, context);
}

}  // namespace lamina::launcher
