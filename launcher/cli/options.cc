// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/options.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

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
  if (draft.program.ranks)
    return Error(Code::kInvalid, "the number of ranks was given before (%u)", *draft.program.ranks);
  draft.program.ranks = static_cast<std::uint32_t>(*ranks);
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

Status WorkingDirectory(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no directory named");
  draft.program.wdir = value;
  return {};
}

Status Timeout(Draft& draft, std::string_view value) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(seconds) ||
      seconds < 0 || seconds > kTimeoutSecondsMax)
    return Error(Code::kInvalid, "not a number of seconds (0 to %.0f; 0: no limit)",
                 kTimeoutSecondsMax);
  draft.line.options.timeout_ms = static_cast<std::uint64_t>(std::ceil(seconds * 1000));
  return {};
}

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

template <class Enum>
struct Word {
  const char* word;
  Enum value;
};

template <class Enum, std::size_t count>
Status Choose(const Word<Enum> (&words)[count], std::string_view value, Enum* chosen) {
  std::string known;
  std::vector<std::string> candidates;
  for (const Word<Enum>& word : words) {
    if (value == word.word) {
      *chosen = word.value;
      return {};
    }
    known += (known.empty() ? "" : ", ") + std::string(word.word);
    candidates.emplace_back(word.word);
  }
  const std::string near = Nearest(value, candidates);
  if (!near.empty())
    return Error(Code::kInvalid, "did you mean \"%s\"? One of: %s", near.c_str(), known.c_str());
  return Error(Code::kInvalid, "not one of: %s", known.c_str());
}

constexpr Word<MapBy> kMapWords[] = {
    {"slot", MapBy::kSlot},       {"node", MapBy::kNode}, {"numa", MapBy::kNuma},
    {"socket", MapBy::kSocket},   {"core", MapBy::kCore}, {"hwthread", MapBy::kHwthread},
    {"l3cache", MapBy::kL3cache}, {"seq", MapBy::kSeq},   {"host", MapBy::kNode},
    {"package", MapBy::kSocket},
};
constexpr Word<MapBy> kObjectWords[] = {
    {"node", MapBy::kNode},       {"numa", MapBy::kNuma}, {"socket", MapBy::kSocket},
    {"l3cache", MapBy::kL3cache}, {"core", MapBy::kCore}, {"hwthread", MapBy::kHwthread},
    {"package", MapBy::kSocket},
};
constexpr Word<MapBy> kRankWords[] = {
    {"slot", MapBy::kSlot},         {"node", MapBy::kNode},       {"numa", MapBy::kNuma},
    {"socket", MapBy::kSocket},     {"l3cache", MapBy::kL3cache}, {"core", MapBy::kCore},
    {"hwthread", MapBy::kHwthread}, {"fill", MapBy::kSlot},       {"package", MapBy::kSocket},
};
constexpr Word<BindTo> kBindWords[] = {
    {"none", BindTo::kNone},      {"core", BindTo::kCore},       {"socket", BindTo::kSocket},
    {"numa", BindTo::kNuma},      {"l3cache", BindTo::kL3cache}, {"hwthread", BindTo::kHwthread},
    {"package", BindTo::kSocket}, {"default", BindTo::kDefault},
};

Status RankFile(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no file named");
  if (!draft.line.rank_file_path.empty())
    return Error(Code::kInvalid, "a rank file was given before (%s)",
                 draft.line.rank_file_path.c_str());
  draft.line.rank_file_path = value;
  draft.line.request.mapping.map_by = MapBy::kRankfile;
  return {};
}

Status CpusPerRank(Draft& draft, std::string_view value) {
  const std::optional<std::int64_t> cpus = ParseInteger(value);
  if (!cpus || *cpus < 1 || *cpus > kSlotsMax)
    return Error(Code::kInvalid, "not a number of CPUs for each rank (1 to %u)", kSlotsMax);
  draft.line.request.mapping.cpus_per_rank = static_cast<std::uint32_t>(*cpus);
  return {};
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

// Takes "N:OBJECT" of ppr:N:OBJECT.
Status MapPerObject(Draft& draft, std::string_view number, std::string_view object) {
  const std::optional<std::int64_t> ranks = ParseInteger(number);
  if (!ranks || *ranks < 1 || *ranks > kSlotsMax)
    return Error(Code::kInvalid, "expected ppr:N:OBJECT, N ranks for each OBJECT of a host");
  MapBy map_by = MapBy::kNode;
  if (Status status = Choose(kObjectWords, object, &map_by); !status.ok()) return status;
  Mapping& mapping = draft.line.request.mapping;
  mapping.map_by = map_by;
  mapping.ranks_per_object = static_cast<std::uint32_t>(*ranks);
  return {};
}

// Takes what may follow after a colon: pe=N and oversubscribe, as other launchers have it.
Status MapModifier(Draft& draft, std::string_view modifier) {
  const std::string word = LowerCase(modifier);
  if (word == "oversubscribe") {
    draft.line.request.oversubscribe = true;
    return {};
  }
  if (word.starts_with("pe=")) return CpusPerRank(draft, modifier.substr(3));
  return Error(Code::kInvalid, "\"%s\" is neither pe=N nor oversubscribe", word.c_str());
}

Status Map(Draft& draft, std::string_view value) {
  if (value.starts_with("rankfile=")) return RankFile(draft, value.substr(9));
  if (value.starts_with("rankfile:file=")) return RankFile(draft, value.substr(14));
  std::vector<std::string_view> words = Split(value, ':');
  std::size_t next = 1;
  Status status;
  if (words[0] == "ppr") {
    next = 3;
    status = words.size() < 3
                 ? Error(Code::kInvalid, "expected ppr:N:OBJECT, N ranks for each OBJECT of a host")
                 : MapPerObject(draft, words[1], words[2]);
  } else {
    status = Choose(kMapWords, words[0], &draft.line.request.mapping.map_by);
  }
  for (; status.ok() && next < words.size(); ++next) status = MapModifier(draft, words[next]);
  return status;
}

Status RankBy(Draft& draft, std::string_view value) {
  MapBy rank_by = MapBy::kSlot;
  Status status = Choose(kRankWords, value, &rank_by);
  if (status.ok()) draft.line.request.mapping.rank_by = rank_by;
  return status;
}

Status Bind(Draft& draft, std::string_view value) {
  return Choose(kBindWords, value, &draft.line.request.mapping.bind_to);
}

Status Oversubscribe(Draft& draft, std::string_view) {
  draft.line.request.oversubscribe = true;
  return {};
}

Status TagOutput(Draft& draft, std::string_view) {
  draft.line.options.tag_output = true;
  return {};
}

Status TimestampOutput(Draft& draft, std::string_view) {
  draft.line.options.timestamp_output = true;
  return {};
}

Status OutputDirectory(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no directory named");
  // Open MPI has these words here, and nobody wants a directory of such a name.
  if (value == "tag" || value == "timestamp")
    return Error(Code::kInvalid, "use --%s-output; a directory of this name is ./%s",
                 std::string(value).c_str(), std::string(value).c_str());
  draft.line.options.output_directory = value;
  return {};
}

Status Stdin(Draft& draft, std::string_view value) {
  RunOptions& options = draft.line.options;
  if (value == "none") {
    options.stdin_to = StdinTo::kNone;
  } else if (value == "all") {
    options.stdin_to = StdinTo::kAll;
  } else {
    const std::optional<std::int64_t> rank = ParseInteger(value);
    if (!rank || *rank < 0 || *rank > kRanksMax)
      return Error(Code::kInvalid, "not a rank, \"all\" or \"none\"");
    options.stdin_to = StdinTo::kRank;
    options.stdin_rank = static_cast<std::uint32_t>(*rank);
  }
  return {};
}

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
  return {};
}

Status JobVariable(Draft& draft, std::string_view value) {
  if (Status status = CheckVariable(value); !status.ok()) return status;
  draft.line.job_environment.emplace_back(value);
  return {};
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
    if (word == "plan") {
      draft.line.display.plan = true;
    } else if (word == "env") {
      draft.line.display.environment = true;
    } else if (word == "bindings") {
      draft.line.display.bindings = true;
    } else {
      return Error(Code::kInvalid, "not one or several of plan, env, bindings");
    }
  }
  return {};
}

Status ShowBindings(Draft& draft, std::string_view) { return Show(draft, "bindings"); }

Status DryRun(Draft& draft, std::string_view) {
  draft.line.dry_run = true;
  return {};
}

Status Verbose(Draft& draft, std::string_view) {
  ++draft.line.options.verbosity;
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
    {{"-n", "-np", "-c", "--np", "--ntasks"},
     "N",
     Topic::kLaunching,
     "Start N ranks of the program. Without it a single program gets one rank for every slot.",
     Ranks},
    {{"--wdir", "--wd", "--chdir"},
     "DIR",
     Topic::kLaunching,
     "Start the program's ranks in DIR instead of the current directory.",
     WorkingDirectory},
    {{"--timeout"},
     "SECONDS",
     Topic::kLaunching,
     "End the job after SECONDS (fractions allowed) with exit status 124.",
     Timeout},
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
    {{"--ppn", "--npernode", "-N", "--ntasks-per-node"},
     "N",
     Topic::kHosts,
     "At most N ranks on each host.",
     PerHost},
    {{"--oversubscribe"},
     "",
     Topic::kHosts,
     "Allow more ranks than slots where slots were given as a number.",
     Oversubscribe},
    {{"--map-by"},
     "WHAT",
     Topic::kBinding,
     "Order of places: slot (default), node, numa, socket, l3cache, core, hwthread; seq; "
     "rankfile=FILE; ppr:N:OBJECT for N ranks on each. \":pe=N\" may follow.",
     Map},
    {{"--rank-by"},
     "WHAT",
     Topic::kBinding,
     "Number the ranks over these places by slot, node, numa, socket, l3cache, core or hwthread "
     "instead of in the order of mapping.",
     RankBy},
    {{"--bind-to"},
     "WHAT",
     Topic::kBinding,
     "Keep each rank on one: none, core, socket, numa, l3cache or hwthread.",
     Bind},
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
    {{"--tag-output", "-l"},
     "",
     Topic::kOutput,
     "Begin every line with the rank it comes from: \"[rank 3] \".",
     TagOutput},
    {{"--timestamp-output"},
     "",
     Topic::kOutput,
     "Begin every line with the time of day.",
     TimestampOutput},
    {{"--output"},
     "DIR",
     Topic::kOutput,
     "Write each rank's output to DIR/rank.N.out and DIR/rank.N.err instead of showing it.",
     OutputDirectory},
    {{"--stdin"},
     "RANK|all|none",
     Topic::kOutput,
     "Who reads standard input: one rank (default 0), all (each a copy) or none.",
     Stdin},
    {{"-x", "--env"},
     "NAME[=VALUE]",
     Topic::kEnvironment,
     "Set a variable for this program's ranks; without =VALUE as it is here. May be repeated.",
     ProgramVariable},
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
    {{"--param"},
     "NAME=VALUE",
     Topic::kParams,
     "Set a parameter of Lamina (lamina info --params lists them). May be repeated.",
     Parameter},
    {{"--display"},
     "plan|env|bindings",
     Topic::kGeneral,
     "Print what was decided before starting; several separated by commas.",
     Show},
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

struct Advice {
  const char* name;
  const char* advice;
};

constexpr std::string_view kUseParam =
    "that sets parameters of another MPI; Lamina's are set by --param NAME=VALUE and listed by "
    "`lamina info --params`";

constexpr Advice kForeign[] = {
    {"mca", kUseParam.data()},
    {"gmca", kUseParam.data()},
    {"omca", kUseParam.data()},
    {"pmca", kUseParam.data()},
    {"prtemca", kUseParam.data()},
    {"pmixmca", kUseParam.data()},
    {"ssi", kUseParam.data()},
    {"genvall", "all variables are passed on anyway; leave it out"},
    {"envall", "all variables are passed on anyway; leave it out"},
    {"genvnone", "use `env -i` in front of mpiexec, or of the program"},
    {"nooversubscribe", "more ranks than the slots that you name are refused anyway; leave it out"},
    {"no-oversubscribe",
     "more ranks than the slots that you name are refused anyway; leave it out"},
    {"output-filename", "use --output DIR: files DIR/rank.N.out and DIR/rank.N.err"},
    {"launcher", "the spawner is chosen by --spawner NAME"},
    {"bootstrap", "the spawner is chosen by --spawner NAME"},
    {"prefix", "the installation finds itself; for other hosts write prefix= in the host file"},
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
      // Single letters take one dash only, so "--n" is no option.
      if (known != nullptr && word.size() > 1 && WithoutDashes(known) == word) return &option;
  return nullptr;
}

std::string_view ForeignAdvice(std::string_view name) {
  for (const Advice& advice : kForeign)
    if (WithoutDashes(name) == advice.name) return advice.advice;
  return {};
}

std::vector<std::string> OptionNames() {
  std::vector<std::string> names;
  for (const Option& option : kOptions)
    for (const char* name : option.names)
      if (name != nullptr) names.emplace_back(name);
  return names;
}

}  // namespace lamina::launcher
