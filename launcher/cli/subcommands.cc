// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/subcommands.h"

#include "runtime/base/check.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr Subcommand kSubcommands[] = {
    {"run", "start a job; the same as mpiexec",
     "usage: lamina run [options] [--] PROGRAM [ARGUMENTS] [: [options] PROGRAM [ARGUMENTS]]...\n\n"
     "The same as mpiexec, whose --help tells all.\n"},
    {"ps", "the running jobs, and whether their hosts answer",
     R"(usage: lamina ps [--ping] [--all] [PID]...

Lists the jobs whose mpiexec runs on this machine, with the hosts of each. Below them
stands which ranks wait for a lock of a window (MPI_Win_lock), and who holds it.

  --ping   ask the shepherd on every host for an answer, and show how long it took
  --all    the jobs of all users (needs root)
  PID      only these mpiexec processes

Exit status: 0, or 1 when a launcher or a pinged host did not answer in time.
)"},
    {"check", "can a job be started on these hosts?",
     R"(usage: lamina check [options of mpiexec] [PROGRAM]

Starts a small errand on every host that mpiexec with the same options would use, in
the same way and on many at once, shows what is there, and says how to mend what is
not. With PROGRAM also: is it there? Nothing is left running.

  lamina check --hostfile hosts
  lamina check ./solver               in a Slurm or PBS job: all its hosts

Exit status: 0 when all is well everywhere, 1 when not, 2 for a mistake in the words.
)"},
    {"clean", "remove what a crash may have left on them",
     R"(usage: lamina clean [--dry-run] [options of mpiexec]

Looks on every host that mpiexec with the same options would use (without any: on this
machine) for what a crash may have left of your jobs: ranks whose launcher is dead,
stopped shepherds, files of UCX in /dev/shm that nobody has open. Each is named and removed.
Jobs that run are left alone. Normally there is nothing.

  --dry-run   name, do not remove

Exit status: 0 when nothing is left; 1 when something is, or a host cannot be reached.
)"},
    {"stack", "where the ranks of a running job are",
     R"(usage: lamina stack [PID] [options of mpiexec]

Shows the call stack of every rank of a running job, with eu-stack (elfutils) or gdb, and
merges equal ones: the ranks that are elsewhere than the others stand out. The job goes on.
PID is the process of its mpiexec, as lamina ps shows it; it is needed if several jobs run.

  lamina stack
  lamina stack 4711 --agent "kubectl exec {host} --"

Exit status: 0; 1 when the stack of some rank could not be had; 2 when there is no such job.
)"},
    {"why", "who waits for whom in a job that hangs",
     R"(usage: lamina why [--queues] [JOB]

Says what each rank of a running job waits for in MPI, and for whom: ranks that wait for each
other for ever, the rank that all others wait for and where it is, messages that have come but
have another tag or communicator than the one that is waited for. The job needs no preparation
and is not disturbed; mpiexec --timeout says the same when a job has run out of time.

JOB is the number of its mpiexec, which `lamina ps` shows; it may be left out if there is only
one, and then the jobs that it has spawned are told of as well. What a rank does outside MPI is
told by lamina stack.

  --queues   also all receives, sends and unexpected messages that are open

Exit status: 0; 1 when a host did not answer; 2 when there is no such job.
)"},
    {"top", "what the ranks of a running job do and use, again and again",
     R"(usage: lamina top [--once] [--json] [--interval SECONDS] [JOB]

Shows for each rank of a running job: its host and process, the kernel's letter for its state,
CPU time in percent of one CPU, memory, messages a second, bytes a second that it sends and
receives as messages, messages that nobody has received yet, and what it does in MPI, with whom
and for how long. What a rank has started counts as the rank. The job needs no preparation.
It ends with the job.

JOB is the number of its mpiexec, which `lamina ps` shows; it may be left out if there is only
one.

  --once                print one table and end
  --json                print one object of JSON a line instead of a table
  --interval SECONDS    look so often, and measure for so long; 1 without it

In a terminal: q quits, s or right sorts by the next column, left by the one before, r sorts in
reverse, arrows, Page Up, Page Down, Home and End scroll. Elsewhere tables are printed, one
after the other. Bytes are in units of 1024 (K, M, G); "-" is not known.

Exit status: 0; 1 when mpiexec does not answer; 2 when there is no such job.
)"},
    {"profile", "write the profile of a running job",
     R"(usage: lamina profile [-o FILE] [JOB]

Writes what the ranks of a job have counted until now, as mpiexec --profile does at the end; the
job goes on. It must have been started with --profile. JOB is the number of its mpiexec, which
`lamina ps` shows; it may be left out if there is only one.

  -o FILE   the page, with or without .html; without it the one that mpiexec writes at the end

Exit status: 0; 1 when a host did not answer, or the page could not be written; 2 when there is no
such job.
)"},
    {"trace", "what is in a trace of a job",
     R"(usage: lamina trace [--summary] [--to chrome [-o OUT]] FILE

Reads FILE, which mpiexec --trace has left. Without other words it prints the summary: how often
each function of MPI was called by all ranks, how long that took, and with how many bytes; the
most messages that have waited for their receive at one rank.

  --summary     print it, also when the trace is converted
  --to chrome   write the JSON that chrome://tracing and other older viewers read
  -o OUT        there; without it FILE.json

OUT is there whole or not at all.

Exit status: 0; 1 when FILE cannot be read or OUT cannot be written; 2 for a mistake in the words.
)"},
    {"info", "components, versions, priorities, parameters",
     R"(usage: lamina info [--params] [--param NAME=VALUE]... [FRAMEWORK [COMPONENT]]

  --spawners  only the ways to start processes, the best first, and why
  --params    also the parameters: value, unit, range, origin, help
  --names     only the names of all parameters, one a line
  --network   the devices and addresses by which other hosts are reached, and the transports
  --collectives -n RANKS [--ppn K]
              which algorithm serves which operation and size in a job of RANKS, K on each
              node, with predicted time and why; starts nothing
  --param     as for mpiexec: shows what it would change
)"},
    {"checkpoint", "save a running job, show and verify saved states",
     R"(usage: lamina checkpoint [--end | --move HOST=HOST] [JOB]
       lamina checkpoint --list DIRECTORY
       lamina checkpoint --verify DIRECTORY

Saves a job that was started with mpiexec --checkpoint, while it runs; the job goes on.
JOB is the number of its mpiexec, which `lamina ps` shows; it may be left out if there is
only one.

A job is not saved while a process of it is stopped, has been forked by a rank without exec, or
has left its rank (a daemon), or where it uses named semaphores, System V shared memory or message
queues. The reason is told.

With --list or --verify, shows the saved states, called generations, that are in a
directory, the newest first. What is damaged, or somebody else's, is named with the reason.

  --end      end the job once it has been saved, with exit status 85; if that fails, it goes on
  --move     once it has been saved, let it go on with the second host in the place of the first:
             all ranks stop for a moment, and mpiexec stays
  --list     by what they say of themselves and the lengths of their files
  --verify   every file is read and its checksum compared

Exit status: 0 when the job was saved, or every generation is whole; 1 when that failed and
the job goes on, or one is not whole or there is none; 2 for a mistake in the words.
)"},
    {"restart", "go on from a saved state of a job",
     R"(usage: lamina restart [--generation N] [OPTIONS] DIRECTORY

Brings a job back that was started with mpiexec --checkpoint or --checkpoint-dir, in the
directory and with the words it was started with, and lets it go on from the newest of
its saved states that is whole. Newer ones that are damaged are named.

What the job writes goes where the output of this command goes. A file that its standard
output went into before is shortened to the length it had when the job was saved, so that
nothing is in it twice: lamina restart D >>log
A file of standard error alone is left as it is, for it may say why the job had to be
restarted; of a file for both, as with >>log 2>&1, what mpiexec has said stays.
What the job had not read yet from a pipe comes before what this command's input has.
A file that the job has open must be as long as it was. One that the job writes may be
longer, unless it is a copy that has taken the place of the file.

  --generation N   go on from this one
  --without HOST   no rank goes to this host, where one may have been; may be repeated
  --restarts N     as for mpiexec, instead of the number that the job was started with
  OPTIONS          of mpiexec about hosts, and --param: the job runs there instead of where it
                   was. -H node7:16 brings a job of several hosts to one.

Exit status: that of the job; 1 when that job still runs, or another one saves its states there;
2 when nothing was started for another reason.
)"},
    {"grow", "let what a running job spawns go to further hosts",
     R"(usage: lamina grow [JOB] HOSTS

Adds hosts to a running job, written as for mpiexec -H. Nothing is started there before a rank
calls MPI_Comm_spawn. JOB is the number of its mpiexec, which `lamina ps` shows; it may be left
out if there is only one. In a batch job, these are hosts that were taken away by lamina shrink
or that the job leaves out.

  lamina grow 4711 node7:8,node8:8

Exit status: 0; 1 when the job refuses; 2 for a mistake in the words.
)"},
    {"shrink", "keep what a running job spawns away from a host",
     R"(usage: lamina shrink [JOB] HOST

No rank that the job spawns from now on goes to this host. Those that are there already go on.
JOB is the number of its mpiexec, which `lamina ps` shows; it may be left out if there is only
one.

Exit status: 0; 1 when the job refuses; 2 for a mistake in the words.
)"},
    {"tune", "measure what collective algorithms are chosen by",
     R"(usage: lamina tune [-o FILE] MPIEXEC-OPTIONS

Measures what a message costs on a node and between nodes, and what it costs to
reduce, with a job started by mpiexec with these options; at least 2 ranks.

  -o FILE   write the parameters there; lines of FILE about others are kept.
            Without it they are printed.

  lamina tune -n 4 -o ~/.config/lamina.conf      for all later jobs of this user
)"},
    {"version", "the version", "usage: lamina version\n"},
    {"help", "this, or all about a topic of mpiexec or a command",
     "usage: lamina help [TOPIC | COMMAND]\n"},
};

}  // namespace

std::span<const Subcommand> Subcommands() { return kSubcommands; }

const char* UsageOf(std::string_view name) {
  for (const Subcommand& subcommand : kSubcommands)
    if (name == subcommand.name) return subcommand.usage;
  CHECK(false);
  return "";
}

std::vector<std::string> OptionsOf(const Subcommand& subcommand) {
  std::vector<std::string> options;
  for (const std::string_view line : Split(subcommand.usage, '\n')) {
    const std::string_view words = Trim(line);
    if (line.starts_with("  ") && words.starts_with("--"))
      options.emplace_back(words.substr(0, words.find(' ')));
  }
  return options;
}

}  // namespace lamina::launcher
