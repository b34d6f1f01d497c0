// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "launcher/cli/checkpoint_options.h"
#include "launcher/cli/mapping_options.h"
#include "launcher/cli/output_options.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::int64_t kRanksMax = INT32_MAX;
constexpr double kTimeoutSecondsMax = 1e9;

Status Ranks(Draft& draft, std::string_view value) {
  const std::optional<std::int64_t> ranks = ParseInteger(value);
  if (!ranks) return Error(Code::kInvalid, "not a number of ranks");
  if (*ranks < 1) return Error(Code::kInvalid, "a program needs at least 1 rank");
  if (*ranks > kRanksMax)
    return Error(Code::kInvalid, "more ranks than MPI can number (%lld)",
                 static_cast<long long>(kRanksMax));
  if (draft.program.ranks) {
    const bool means_cpus = draft.typed == "-c" || draft.ranks_typed == "-c";  // as for srun
    return Error(
        Code::kInvalid, "the number of ranks was given before (%u)%s", *draft.program.ranks,
        means_cpus ? "; -c is that number too, and CPUs for each rank are --cpus-per-rank" : "");
  }
  draft.program.ranks = static_cast<std::uint32_t>(*ranks);
  draft.ranks_typed = draft.typed;
  return {};
}

Status Agent(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no command given");
  draft.line.settings.push_back("spawner.exec.agent=" + std::string(value));
  return {};
}

Status SpawnerNamed(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no spawner given");
  draft.line.settings.push_back("launcher.spawner.use=" + std::string(value));
  return {};
}

Status PerHost(Draft& draft, std::string_view value) {
  const std::optional<std::int64_t> ranks = ParseInteger(value);
  if (!ranks || *ranks < 1 || *ranks > kSlotsMax)
    return Error(Code::kInvalid, "not a number of ranks a host (1 to %u)", kSlotsMax);
  draft.line.request.ranks_per_host_max = static_cast<std::uint32_t>(*ranks);
  return {};
}

Status UniverseSize(Draft& draft, std::string_view value) {
  const std::optional<std::int64_t> slots = ParseInteger(value);
  if (!slots || *slots < 1 || *slots > kRanksMax)
    return Error(Code::kInvalid, "not a number of ranks");
  draft.line.request.universe_slots = static_cast<std::uint32_t>(*slots);
  return {};
}

Status NamesIn(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no file named");
  draft.line.settings.push_back("dynamic.names.file=" + std::string(value));
  return {};
}

Status WorkingDirectory(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no directory named");
  draft.program.wdir = value;
  return {};
}

Status SearchPath(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no directory named");
  draft.program.path = value;
  return {};
}

Status Soft(Draft& draft, std::string_view value) {
  Result<std::vector<SoftRange>> ranges = ParseSoft(value);
  if (!ranges.ok()) return std::move(ranges).status();
  draft.program.soft = *std::move(ranges);
  return {};
}

Status Architecture(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no architecture named");
  draft.program.arch = value;
  return {};
}

Status FileOfPrograms(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no file named");
  draft.words_file = value;
  draft.has_programs = true;
  return {};
}

Status FileOfOptions(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no file named");
  draft.words_file = value;
  draft.has_programs = false;
  return {};
}

// The library has a parameter for each of these two.
Status InitialErrorHandler(Draft& draft, std::string_view value) {
  for (const char* known : {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"})
    if (value == known) {
      draft.program.environment.push_back("LAMINA_CORE_ERRORS_INITIAL_HANDLER=" +
                                          std::string(value));
      return {};
    }
  return Error(Code::kInvalid,
               "not one of mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return");
}

Status MemoryAllocKinds(Draft& draft, std::string_view value) {
  draft.program.environment.push_back("LAMINA_CORE_MEMORY_ALLOC_KINDS=" + std::string(value));
  return {};
}

Status Timeout(Draft& draft, std::string_view value) {
  Result<std::uint64_t> timeout_ms = ParseTimeoutMs(value);
  if (!timeout_ms.ok()) return std::move(timeout_ms).status();
  draft.line.options.timeout_ms = *timeout_ms;
  draft.line.timeout_given = true;
  return {};
}

Status HangAfter(Draft& draft, std::string_view value) {
  constexpr std::string_view kEnd = ":end";
  const bool ends = value.ends_with(kEnd);
  if (ends) value.remove_suffix(kEnd.size());
  Result<std::uint64_t> hang_ms = ParseTimeoutMs(value);
  if (!hang_ms.ok()) return std::move(hang_ms).status();
  draft.line.options.hang_ms = *hang_ms;
  draft.line.options.hang_ends = ends;
  return {};
}

Status Profile(Draft& draft, std::string_view value) {
  draft.line.options.profiled = true;
  draft.line.options.profile_file = value;
  return {};
}

Status Trace(Draft& draft, std::string_view value) {
  RunOptions& options = draft.line.options;
  options.traced = true;
  constexpr std::string_view kFirst = "first";
  const bool first = value == kFirst || value.starts_with("first,");
  options.trace_keeps_first = first;
  if (first) value.remove_prefix(std::min(value.size(), kFirst.size() + 1));
  options.trace_file = value;
  return {};
}

Status Report(Draft& draft, std::string_view value) {
  if (value != "transports")
    return Error(Code::kInvalid, "there is no report of \"%s\"; there is one of transports",
                 std::string(value).c_str());
  draft.line.options.reports_transports = true;
  return {};
}

// A shepherd sends what a rank has recorded in one frame, which has this much room.
constexpr std::int64_t kTraceBufferMiBMax = 60;

Status TraceBuffer(Draft& draft, std::string_view value) {
  const auto mebibytes = ParseInteger(value);
  if (!mebibytes || *mebibytes < 1 || *mebibytes > kTraceBufferMiBMax)
    return Error(Code::kInvalid, "\"%s\" is not a number of MiB from 1 to %d",
                 std::string(value).c_str(), static_cast<int>(kTraceBufferMiBMax));
  draft.line.options.trace_bytes = static_cast<std::uint64_t>(*mebibytes) << 20;
  return {};
}

Status DebugRank(Draft& draft, std::string_view value) {
  const auto rank = ParseInteger(value);
  if (!rank || *rank < 0 || *rank > INT32_MAX)
    return Error(Code::kInvalid, "\"%s\" is not the number of a rank, as in --gdb 0",
                 std::string(value).c_str());
  draft.line.options.debugged_rank = static_cast<std::int32_t>(*rank);
  return {};
}

Status UseDebugger(Draft& draft, std::string_view value) {
  std::vector<std::string>& words = draft.line.options.debugger;
  words.clear();
  for (const std::string_view word : Split(value, ' '))
    if (!word.empty()) words.emplace_back(word);
  if (words.empty()) return Error(Code::kInvalid, "%s", "it is empty");
  return {};
}

Status EventsAtTimeout(Draft& draft, std::string_view) {
  draft.line.options.events_at_timeout = true;
  return {};
}

Status OnePerHost(Draft& draft, std::string_view) { return PerHost(draft, "1"); }

Status Hosts(Draft& draft, std::string_view value) {
  Result<std::vector<HostEntry>> hosts = ParseHostList(value);
  if (!hosts.ok()) return std::move(hosts).status();
  draft.program.hosts.insert(draft.program.hosts.end(), hosts->begin(), hosts->end());
  return {};
}

Status HostFile(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no file named");
  if (!draft.line.host_file_path.empty())
    return Error(Code::kInvalid, "a host file was given before (%s)",
                 draft.line.host_file_path.c_str());
  draft.line.host_file_path = value;
  return {};
}

Status DefaultHostFile(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no file named");
  draft.line.default_host_file_path = value;
  return {};
}

Status MapByNode(Draft& draft, std::string_view) { return Map(draft, "node"); }
Status MapBySlot(Draft& draft, std::string_view) { return Map(draft, "slot"); }
Status MapBySocket(Draft& draft, std::string_view) { return Map(draft, "socket"); }
Status MapByCore(Draft& draft, std::string_view) { return Map(draft, "core"); }

bool IsVariableName(std::string_view name) {
  return !name.empty() && name.find_first_of(std::string_view("=\0", 2)) == std::string_view::npos;
}

Status CheckVariable(std::string_view assignment) {
  const std::string_view name = assignment.substr(0, assignment.find('='));
  if (!IsVariableName(name)) return Error(Code::kInvalid, "not NAME or NAME=value");
  return {};
}

Status ProgramVariable(Draft& draft, std::string_view value) {
  if (Status status = CheckVariable(value); !status.ok()) return status;
  draft.program.environment.emplace_back(value);
  if (value.find('=') == value.npos) draft.line.named_by.emplace(value, draft.typed);
  return {};
}

Status JobVariable(Draft& draft, std::string_view value) {
  if (Status status = CheckVariable(value); !status.ok()) return status;
  draft.line.job_environment.emplace_back(value);
  return {};
}

// Takes names with commas between them.
Status ListVariables(Draft& draft, std::string_view names, std::vector<std::string>* variables) {
  for (const std::string_view name : Split(names, ',')) {
    if (!IsVariableName(name)) return Error(Code::kInvalid, "not NAME,NAME,...");
    variables->emplace_back(name);
    draft.line.named_by.emplace(name, draft.typed);
  }
  return {};
}

Status ProgramVariables(Draft& draft, std::string_view value) {
  return ListVariables(draft, value, &draft.program.environment);
}

Status JobVariables(Draft& draft, std::string_view value) {
  return ListVariables(draft, value, &draft.line.job_environment);
}

Status Parameter(Draft& draft, std::string_view value) {
  const std::size_t equals = value.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return Error(Code::kInvalid, "not name=value");
  draft.line.settings.emplace_back(value);
  return {};
}

Status Show(Draft& draft, std::string_view value) {
  for (const std::string_view word : Split(value, ',')) {
    if (word == "plan" || word == "map") {
      draft.line.display.plan = true;
    } else if (word == "allocation") {
      draft.line.display.allocation = true;
    } else if (word == "env") {
      draft.line.display.environment = true;
    } else if (word == "bindings") {
      draft.line.display.bindings = true;
    } else {
      return Error(Code::kInvalid, "not one or several of plan, allocation, env, bindings");
    }
  }
  return {};
}

Status ShowBindings(Draft& draft, std::string_view) { return Show(draft, "bindings"); }
Status ShowMap(Draft& draft, std::string_view) { return Show(draft, "plan"); }
Status ShowAllocated(Draft& draft, std::string_view) { return Show(draft, "allocation"); }

Status DryRun(Draft& draft, std::string_view) {
  draft.line.dry_run = true;
  return {};
}

Status Verbose(Draft& draft, std::string_view) {
  ++draft.line.options.verbosity;
  return {};
}

Status Quiet(Draft& draft, std::string_view) {
  draft.line.options.quiet = true;
  return {};
}

Status Version(Draft& draft, std::string_view) {
  draft.line.action = Invocation::Action::kVersion;
  return {};
}

Status Help(Draft& draft, std::string_view value) {
  draft.line.action = Invocation::Action::kHelp;
  draft.line.topic = value;
  return {};
}

Status Nothing(Draft&, std::string_view) { return {}; }

constexpr Option kOptions[] = {
    {{"-n", "-np", "-c", "--n", "--np", "--ntasks"},
     "N",
     Topic::kLaunching,
     "Start N ranks of the program. Without it a single program gets one rank for every slot.",
     Ranks},
    {{"--wdir", "--wd", "--chdir", "-D"},
     "DIR",
     Topic::kLaunching,
     "Start the program's ranks in DIR instead of the current directory.",
     WorkingDirectory},
    {{"--path"},
     "DIR[:DIR]...",
     Topic::kLaunching,
     "Look for the program in these directories before PATH.",
     SearchPath},
    {{"--soft"},
     "NUMBERS",
     Topic::kLaunching,
     "Be content with the largest of these numbers of ranks for which there is room: 2,4:16:4 "
     "stands for 2, 4, 8, 12 and 16.",
     Soft},
    {{"--arch"},
     "NAME",
     Topic::kLaunching,
     "Insist on an architecture, as `uname -m` names it.",
     Architecture},
    {{"--universe-size", "-usize"},
     "N",
     Topic::kLaunching,
     "Let MPI_UNIVERSE_SIZE say N instead of the number of slots.",
     UniverseSize},
    {{"--name-server"},
     "FILE",
     Topic::kLaunching,
     "Keep the names that MPI_Publish_name publishes in FILE too, so that jobs with the same FILE "
     "find them from other machines.",
     NamesIn},
    {{"--configfile", "--app"},
     "FILE",
     Topic::kLaunching,
     "Read programs with their options from FILE, one a line.",
     FileOfPrograms},
    {{"--file"}, "FILE", Topic::kLaunching, "Read further options from FILE.", FileOfOptions},
    {{"--initial-errhandler"},
     "NAME",
     Topic::kLaunching,
     "What MPI errors do to this program before it says otherwise: mpi_errors_are_fatal "
     "(default), mpi_errors_abort or mpi_errors_return.",
     InitialErrorHandler},
    {{"--memory-alloc-kinds"},
     "KINDS",
     Topic::kLaunching,
     "Ask for these kinds of memory; the program finds those it gets in mpi_memory_alloc_kinds.",
     MemoryAllocKinds},
    {{"--timeout"},
     "SECONDS",
     Topic::kLaunching,
     "End the job after SECONDS (fractions allowed) with exit status 124, and say which rank is in "
     "which call. The variable MPIEXEC_TIMEOUT says the same.",
     Timeout},
    {{"--hang-after"},
     "SECONDS[:end]",
     Topic::kLaunching,
     "When all ranks have waited in MPI for SECONDS (fractions allowed), say once for whom each "
     "waits, as lamina why does, and go on. With :end, end the job then with exit status 124, but "
     "not while a rank only tests, waits for another job, or a job that it has spawned runs; no "
     "message may take as long.",
     HangAfter},
    {{"--get-stack-traces", "--report-state-on-timeout"},
     "",
     Topic::kLaunching,
     "At a timeout also say what each rank did last.",
     EventsAtTimeout},
    {{"--checkpoint", "--checkpoint=auto"},
     "",
     Topic::kLaunching,
     "Prepare the job for `lamina checkpoint`, which saves its processes while they run, in the "
     "directory of --checkpoint-dir, or without that in lamina-checkpoint. With this option "
     "lamina_checkpoint(), if the program calls it, saves nothing. Where no engine can save "
     "processes, a warning says why, and the job runs without being saved.",
     CheckpointJob},
    {{"--checkpoint=required"},
     "",
     Topic::kLaunching,
     "Likewise, and start nothing where that cannot be done.",
     RequireCheckpoints},
    {{"--checkpoint-every"},
     "TIME",
     Topic::kLaunching,
     "Save the job so often, as in 90s, 10m or 2h; implies --checkpoint=required.",
     CheckpointEvery},
    {{"--checkpoint-signal"},
     "SIGNAL[:end]",
     Topic::kLaunching,
     "Save the job when mpiexec gets SIGNAL (USR1, USR2, TERM or HUP), which is not passed on "
     "then; "
     "with :end also end it, with exit status 85. Implies "
     "--checkpoint=required.",
     CheckpointSignal},
    {{"--checkpoint-dir"},
     "DIR",
     Topic::kLaunching,
     "Keep saved states in DIR: those that --checkpoint makes, or without it those that the "
     "program saves by lamina_checkpoint(). `lamina restart DIR` goes on from there. The two "
     "newest "
     "states of this job are kept, and all that earlier jobs have left. While a job runs, no other "
     "one may use its DIR.",
     CheckpointDirectory},
    {{"--resume"},
     "",
     Topic::kLaunching,
     "Go on from the newest state in the directory of --checkpoint-dir (with --checkpoint and "
     "without "
     "--checkpoint-dir: lamina-checkpoint), or begin if there is none. The state of a job that has "
     "finished counts, too.",
     ResumeJob},
    {{"--restarts"},
     "N",
     Topic::kLaunching,
     "Let the job go on by itself from its newest saved state, at most N times, when a rank is "
     "killed or dies of an MPI error, or a host is lost, without which it goes on. Several hosts "
     "have the directory of --checkpoint-dir, one for all or each its own.",
     Restarts},
    {{"--profile"},
     "[=FILE]",
     Topic::kLaunching,
     "Count what the ranks do in MPI, and write it as a page to FILE, or PROGRAM.PROCESS.html "
     "where PROCESS is that of mpiexec. Beside it a .json has the numbers, and a .csv has who "
     "sends how much to whom.",
     Profile},
    {{"--trace"},
     "[=FILE]",
     Topic::kLaunching,
     "Record when each rank is in which function of MPI, and write it to FILE, or "
     "PROGRAM.PROCESS.pftrace, for a viewer of Perfetto traces. With --trace=first or "
     "--trace=first,FILE the beginning is kept when there is no more room, and not the end.",
     Trace},
    {{"--trace-buffer"},
     "MIB",
     Topic::kLaunching,
     "Room for what a rank records, 16 MiB by default. When it is full, the oldest goes, or with "
     "--trace=first the newest.",
     TraceBuffer},
    {{"--report"},
     "transports",
     Topic::kLaunching,
     "Say at the start what carries messages between the hosts of the job, over which devices, "
     "and why nothing better does. lamina info --network tells of this host alone.",
     Report},
    {{"--gdb"},
     "RANK",
     Topic::kLaunching,
     "Start this rank, which must be on this host, under gdb, which has the terminal; the others "
     "run. A debugger for all ranks starts mpiexec itself, or attaches to it.",
     DebugRank},
    {{"--debugger"},
     "WORDS",
     Topic::kLaunching,
     "With --gdb, put these words before those of the program instead of \"gdb -q --args\".",
     UseDebugger},
    {{"--dry-run", "--do-not-launch"},
     "",
     Topic::kLaunching,
     "Decide everything, show what --display asks for (the plan by default), start nothing.",
     DryRun},
    {{"-H", "--host", "--hosts"},
     "HOST[:SLOTS],...",
     Topic::kHosts,
     "Use these hosts. A host named k times has k slots; named once it has as many as CPUs. With "
     "a host file this chooses among its hosts.",
     Hosts},
    {{"--hostfile", "--machinefile", "-f"},
     "FILE",
     Topic::kHosts,
     "Read the hosts from FILE: one a line, with slots=N and more (--help hosts).",
     HostFile},
    {{"--default-hostfile"},
     "FILE",
     Topic::kHosts,
     "The same where neither options nor a batch system name hosts.",
     DefaultHostFile},
    {{"--agent"},
     "COMMAND",
     Topic::kHosts,
     "Reach hosts by COMMAND instead of ssh: \"ip netns exec {host}\", \"kubectl exec -i {host} "
     "--\". What has to run there is appended, or put in the place of {command}.",
     Agent},
    {{"--spawner"},
     "NAME",
     Topic::kHosts,
     "Who starts processes: local, ssh, exec, slurm, pbs, bproc. `lamina info --spawners` tells "
     "which can and which one would be taken, and why.",
     SpawnerNamed},
    {{"--ppn", "--npernode", "-N", "--ntasks-per-node", "--perhost"},
     "N",
     Topic::kHosts,
     "At most N ranks on each host.",
     PerHost},
    {{"--pernode"}, "", Topic::kHosts, "One rank on each host.", OnePerHost},
    {{"--oversubscribe"},
     "",
     Topic::kHosts,
     "Allow more ranks than slots where slots were given as a number.",
     Oversubscribe},
    {{"--nooversubscribe", "--no-oversubscribe"},
     "",
     Topic::kHosts,
     "Refuse more ranks than slots, also where slots are the CPUs that were found.",
     NeverOversubscribe},
    {{"--map-by"},
     "WHAT",
     Topic::kBinding,
     "Order of places: slot (default), node, numa, socket (or package), l3cache, core, hwthread; "
     "seq; rankfile=FILE; ppr:N:OBJECT for N ranks on each. \":pe=N\", \":oversubscribe\", "
     "\":nooversubscribe\" and \":hwtcpus\" may follow.",
     Map},
    {{"--bynode"}, "", Topic::kBinding, "The same as --map-by node.", MapByNode},
    {{"--byslot"}, "", Topic::kBinding, "The same as --map-by slot.", MapBySlot},
    {{"--bysocket"}, "", Topic::kBinding, "The same as --map-by socket.", MapBySocket},
    {{"--bycore"}, "", Topic::kBinding, "The same as --map-by core.", MapByCore},
    {{"--rank-by"},
     "WHAT",
     Topic::kBinding,
     "Number the ranks over these places by slot, node, numa, socket (or package), l3cache, core "
     "or "
     "hwthread instead of in the order of mapping.",
     RankBy},
    {{"--bind-to"},
     "WHAT",
     Topic::kBinding,
     "Keep each rank on one: core, socket (or package), numa, l3cache or hwthread; none leaves "
     "ranks "
     "to the operating system, and default does what is done without this option. "
     "\":overload-allowed\" may follow and changes nothing.",
     Bind},
    {{"--cpu-set"},
     "LIST",
     Topic::kBinding,
     "Keep the job to these CPUs of each host, numbered as the kernel does: 0-3,8.",
     CpuSetOption},
    {{"--use-hwthread-cpus"},
     "",
     Topic::kBinding,
     "Count hardware threads instead of cores where ranks get CPUs.",
     HwthreadsAreCpus},
    {{"--cpus-per-rank", "--cpus-per-proc", "--cpus-per-task"},
     "N",
     Topic::kBinding,
     "Give each rank N cores for its threads; hardware threads where cores do not suffice.",
     CpusPerRank},
    {{"--rankfile", "-rf"},
     "FILE",
     Topic::kBinding,
     "The same as --map-by rankfile=FILE: lines \"rank 0=host slot=0-3\".",
     RankFile},
    {{"--report-bindings"}, "", Topic::kBinding, "The same as --display bindings.", ShowBindings},
    {{"--tag-output", "-l", "--prepend-rank", "--label"},
     "",
     Topic::kOutput,
     "Begin every line with the rank it comes from: \"[rank 3] \".",
     TagOutput},
    {{"--timestamp-output"},
     "",
     Topic::kOutput,
     "Begin every line with the time of day.",
     TimestampOutput},
    {{"--output", "--output-filename"},
     "DIR",
     Topic::kOutput,
     "Write each rank's output to DIR/rank.N.out and DIR/rank.N.err instead of showing it.",
     OutputDirectory},
    {{"--outfile-pattern"},
     "FILE",
     Topic::kOutput,
     "Write standard output to FILE, in whose name %r is the rank, %h its host and %p the host's "
     "number.",
     OutputPattern},
    {{"--errfile-pattern"}, "FILE", Topic::kOutput, "The same for standard error.", ErrorPattern},
    {{"--merge-stderr-to-stdout"},
     "",
     Topic::kOutput,
     "Let standard error of ranks go where their standard output goes.",
     MergeErrors},
    {{"--stdin"},
     "RANK|all|none",
     Topic::kOutput,
     "Who reads standard input: one rank (default 0), all (each a copy) or none.",
     Stdin},
    {{"-x", "--env"},
     "NAME[=VALUE]",
     Topic::kEnvironment,
     "Set a variable for this program's ranks; without =VALUE as it is here; 'OMP_*' means all "
     "that "
     "begin so. May be repeated.",
     ProgramVariable},
    {{"--envlist"},
     "NAME,...",
     Topic::kEnvironment,
     "The same as -x NAME for several.",
     ProgramVariables},
    {{"-env"},
     "NAME VALUE",
     Topic::kEnvironment,
     "The same as -x NAME=VALUE, as MPICH spells it.",
     ProgramVariable},
    {{"-genv"},
     "NAME VALUE",
     Topic::kEnvironment,
     "Set a variable for all programs of the job; NAME=VALUE is understood too.",
     JobVariable},
    {{"--genvlist"},
     "NAME,...",
     Topic::kEnvironment,
     "Hand these variables of mpiexec to all programs, as happens anyway.",
     JobVariables},
    {{"--param"},
     "NAME=VALUE",
     Topic::kParams,
     "Set a parameter of Lamina (lamina info --params lists them). May be repeated.",
     Parameter},
    {{"--display"},
     "plan|allocation|env|bindings",
     Topic::kGeneral,
     "Print what was decided before starting; several separated by commas.",
     Show},
    {{"--display-map"}, "", Topic::kGeneral, "The same as --display plan.", ShowMap},
    {{"--display-allocation"},
     "",
     Topic::kGeneral,
     "The same as --display allocation: hosts and slots.",
     ShowAllocated},
    {{"-q", "--quiet", "-Q"}, "", Topic::kGeneral, "Leave out warnings and hints.", Quiet},
    {{"-v", "--verbose"},
     "",
     Topic::kGeneral,
     "Say what is being done; twice: in detail.",
     Verbose},
    {{"-V", "--version"}, "", Topic::kGeneral, "Print the version and stop.", Version},
    {{"-h", "--help", "-?"}, "[TOPIC]", Topic::kGeneral, "Print this, or all about a topic.", Help},
    {{"--allow-run-as-root"},
     "",
     Topic::kGeneral,
     "Accepted and ignored: root may run programs here like anybody else.",
     Nothing},
};

std::string_view WithoutDashes(std::string_view name) {
  while (!name.empty() && name.front() == '-') name.remove_prefix(1);
  return name;
}

}  // namespace

std::span<const Option> Options() { return kOptions; }

const Option* FindOption(std::string_view name) {
  const std::string_view word = WithoutDashes(name);
  if (word.empty() || name.size() - word.size() > 2) return nullptr;
  for (const Option& option : kOptions)
    for (const char* known : option.names)
      if (known != nullptr && name == known) return &option;
  for (const Option& option : kOptions)
    for (const char* known : option.names)
      // A single letter takes one dash only, unless the table has it with two.
      if (known != nullptr && word.size() > 1 && WithoutDashes(known) == word) return &option;
  return nullptr;
}

Result<std::uint64_t> ParseTimeoutMs(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(seconds) ||
      seconds < 0 || seconds > kTimeoutSecondsMax)
    return Error(Code::kInvalid, "not a number of seconds (0 to %.0f; 0: no limit)",
                 kTimeoutSecondsMax);
  return static_cast<std::uint64_t>(std::ceil(seconds * 1000));
}

std::vector<std::string> OptionNames() {
  std::vector<std::string> names;
  for (const Option& option : kOptions)
    for (const char* name : option.names)
      if (name != nullptr) names.emplace_back(name);
  return names;
}

}  // namespace lamina::launcher
