// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/help.h"

#include <algorithm>
#include <optional>

#include "launcher/cli/options.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kHelpColumn = 26;

struct Page {
  const char* name;
  const char* title;
  std::optional<Topic> options;  // whose options the page ends with
  const char* text;
};

constexpr Page kPages[] = {
    {"launching", "starting a job", Topic::kLaunching,
     R"(mpiexec [options] [--] PROGRAM [ARGUMENTS] [: [options] PROGRAM [ARGUMENTS]]...

Starts ranks of PROGRAM, waits for all of them and tells how it went. PROGRAM may
be any program, with MPI or without. Options end at its name: what follows it
belongs to it. A name without a slash is looked up in PATH.

A lone ":" separates programs that form one job with one MPI_COMM_WORLD. Ranks
are numbered in the order written. -n, -H, --wdir, --path, --soft, --arch, -x,
--envlist, --initial-errhandler and --memory-alloc-kinds belong to the program
they stand before; all other options hold for the whole job.

  mpiexec -n 4 ./solver input.dat
  mpiexec -n 1 ./master : -n 7 ./worker
)"},
    {"hosts", "hosts and slots", Topic::kHosts,
     R"(A slot is a place to run one rank. Without -H and --hostfile the job runs on this
machine, which has a slot for every CPU it may use (affinity and control group
are respected); more ranks than that simply share the CPUs and wait politely.
Where you give slots as a number, more ranks than slots is an error, unless
--oversubscribe says that you mean it. For a job on this machine no host name is
ever looked up.

Host file: one host a line, "#" begins a comment.

  node01.cluster  slots=4              # four ranks
  node02          slots=2 max_slots=8  # never more than eight
  node03          user=ada prefix=/opt/lamina
  login           schedule=no          # no rank goes here

"cpu" and "cpus" mean the same as "slots"; "node02:4" too. node[01-16,20] stands
for 17 hosts, here and after -H. "port=2222" is the ssh port. A host listed k times
without a number has k slots. Names are taken as written and never shortened. A
file that is not found as given is looked for in ~/.config/lamina and in
PREFIX/etc/lamina.

Hosts are reached by ssh, or by --agent where that is given. Within a Slurm or PBS
job it is the manager that starts ranks, and the hosts you name choose among the
job's: another one is an error. On a BProc front end, nodes are started by BProc
and hosts that are none by ssh. --spawner decides otherwise.
)"},
    {"binding", "which CPUs a rank runs on", Topic::kBinding,
     R"(By default ranks are left to the operating system, so that threads have room and
two jobs on one machine do not end up on the same cores. One case is different:
on a machine with several NUMA domains, when every domain gets at least one rank
and no CPU more than one, each rank is kept within one domain, all its cores, in
blocks of neighbouring ranks: memory stays near and threads still have room.

--bind-to asks for more. --map-by numa, socket, l3cache, core or hwthread deals
the ranks of a host out to these in turn, and binds to them unless --bind-to says
otherwise; ppr:2:numa fills them two by two. Only CPUs that this process may use
are ever given away. --display bindings shows the result, and with --dry-run
nothing else happens.

Ranks with threads: --cpus-per-rank 8 gives each rank 8 neighbouring cores, within
one cache or NUMA domain where the ranks fit like that, and 8 hardware threads
where there are not enough cores. The number of threads is the program's own
affair: OMP_NUM_THREADS is compared and never set.

A rank file says where each rank goes; cores are counted as hwloc counts them,
all of the machine, whether or not a control group keeps some from the job:

  rank 0=node01 slot=0-3      # four cores
  rank 1=node02 slot=1:0-1    # cores 0 and 1 of socket 1
  rank 2=+n1 slot=*           # the second host of the job, unbound

  mpiexec -n 4 --bind-to core --display bindings ./solver
  mpiexec -n 2 --cpus-per-rank 8 -x OMP_NUM_THREADS=8 ./hybrid
)"},
    {"output", "output and input", Topic::kOutput,
     R"(What ranks write appears here line by line: a line of one rank is never torn by
another's, output on a terminal as in a file. Standard output and standard error
stay apart. Standard input goes to rank 0, byte for byte, whatever its size.
)"},
    {"environment", "environment variables", Topic::kEnvironment,
     R"(Ranks get the environment of mpiexec, then the parameters (--help params), then
what -genv and -x say, in this order. Every rank also finds where it stands,
whether or not it uses MPI:

  LAMINA_RANK, LAMINA_SIZE              its rank in the job, and how many there are
  LAMINA_LOCAL_RANK, LAMINA_LOCAL_SIZE  the same among the ranks of its node
  LAMINA_NODE, LAMINA_NODES             its node among those with ranks; how many
  MPI_LOCALRANKID, MPI_LOCALNRANKS      as LAMINA_LOCAL_*; some libraries read them

So a rank can choose a GPU, a NUMA domain or a file before the program begins:

  mpiexec sh -c 'CUDA_VISIBLE_DEVICES=$LAMINA_LOCAL_RANK exec ./solver'

PMIX_NAMESPACE and PMIX_RANK are there, too. LAMINA_ORIGINS, LAMINA_EVENT_FD,
LAMINA_ROSTER, LAMINA_NODE_MEMORY, LAMINA_CHECKPOINT, LAMINA_COMPONENT_PATH and
LAMINA_PREFIX are used by Lamina itself. A program of Open MPI 4, which looks at
PMIX_* only under launchers that it knows, needs -x JSM_JSRUN_PORT=none too.
)"},
    {"params", "parameters", Topic::kParams,
     R"(Thresholds and behaviour are parameters named framework.component.what. A value
is taken from the first place that has one:

  1. the command line        --param transport.shm.ring_cells=256
  2. the environment         LAMINA_TRANSPORT_SHM_RING_CELLS=256
  3. ~/.config/lamina.conf   lines "name = value", "#" begins a comment
  4. PREFIX/etc/lamina.conf
  5. the default

`lamina info --params` lists all of them with value, unit, range and origin. An
unknown name is warned about, a value out of range is an error, before anything
is started. The result is handed to every rank.
)"},
    {"signals", "signals", std::nullopt,
     R"(SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on to
all ranks, unless they were ignored when mpiexec began, as nohup does. A second
SIGINT (control-C) kills them. When mpiexec ends, in whatever way, no process of
the job remains.
)"},
    {"exit-status", "exit status", std::nullopt,
     R"(  0         every rank returned 0
  CODE      what the first failing rank returned, or gave to MPI_Abort
  128+N     a rank was killed by signal N
  2         mpiexec did not understand its command line, its input or a parameter
  85        the job was saved and then ended, as --checkpoint-signal SIGNAL:end or
            lamina checkpoint --end asks; --resume or lamina restart goes on with it
  124       --timeout was reached, or --hang-after with :end
  126       the program cannot be executed
  127       there is no such program
)"},
    {"general", "other options", Topic::kGeneral, ""},
};

std::string OptionLines(Topic topic) {
  std::string lines;
  for (const Option& option : Options()) {
    if (option.topic != topic) continue;
    std::string names = "  ";
    for (const char* name : option.names)
      if (name != nullptr) names += (names.size() > 2 ? ", " : "") + std::string(name);
    const std::string argument = option.argument;
    if (!argument.empty()) names += (argument.starts_with("[=") ? "" : " ") + argument;
    if (names.size() + 2 > kHelpColumn)
      names += "\n" + std::string(kHelpColumn, ' ');
    else
      names.resize(kHelpColumn, ' ');
    lines += names + Wrap(option.help, kHelpColumn, kColumns - kHelpColumn) + "\n";
  }
  return lines;
}

std::string PageText(const Page& page) {
  std::string text = std::string(page.name) + ": " + page.title + "\n";
  if (page.text[0] != '\0') text += "\n" + std::string(page.text);
  if (page.options) text += "\n" + OptionLines(*page.options);
  return text;
}

std::string Overview() {
  std::string text =
      "usage: mpiexec [options] [--] program [arguments] [: [options] program [arguments]]...\n"
      "\nStarts a parallel job and waits for it.\n\n"
      "  mpiexec -n 4 ./solver              four ranks on this machine\n"
      "  mpiexec -n 4 -x OMP_NUM_THREADS=2 ./solver\n"
      "  mpiexec -n 1 ./master : -n 7 ./worker\n\n";
  for (const Topic topic : {Topic::kLaunching, Topic::kHosts, Topic::kBinding, Topic::kOutput,
                            Topic::kEnvironment, Topic::kParams, Topic::kGeneral})
    text += OptionLines(topic);
  text += "\nMore with --help TOPIC:\n";
  for (const Page& page : kPages) text += Format("  %-14s%s\n", page.name, page.title);
  text += "  all           everything\n";
  return text;
}

}  // namespace

std::string Wrap(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string wrapped;
  std::size_t line = 0;
  for (const std::string_view word : Split(text, ' ')) {
    if (line != 0 && line + 1 + word.size() > columns) {
      wrapped += "\n" + std::string(indent, ' ');
      line = 0;
    }
    if (line != 0) wrapped += " ";
    line += word.size() + (line != 0 ? 1 : 0);
    wrapped += word;
  }
  return wrapped;
}

std::vector<std::string> HelpTopics() {
  std::vector<std::string> topics;
  for (const Page& page : kPages) topics.emplace_back(page.name);
  topics.emplace_back("all");
  return topics;
}

Result<std::string> HelpText(std::string_view topic) {
  if (topic.empty()) return Overview();
  if (topic == "all") {
    std::string text;
    for (const Page& page : kPages) text += (text.empty() ? "" : "\n") + PageText(page);
    return text;
  }
  for (const Page& page : kPages)
    if (topic == page.name) return PageText(page);
  for (const std::string& name :
       {std::string(topic), "-" + std::string(topic), "--" + std::string(topic)})
    if (const Option* option = FindOption(name))
      for (const Page& page : kPages)
        if (page.options == option->topic) return PageText(page);
  std::vector<std::string> topics = HelpTopics();
  const std::string near = Nearest(topic, topics);
  std::string known;
  for (const std::string& name : topics) known += (known.empty() ? "" : ", ") + name;
  return Error(Code::kNotFound, "no help on \"%s\"%s%s%s Topics: %s",
               std::string(topic.substr(0, 80)).c_str(), near.empty() ? "" : "; did you mean \"",
               near.c_str(), near.empty() ? "." : "\"?", known.c_str());
}

}  // namespace lamina::launcher
