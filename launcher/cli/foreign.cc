// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/foreign.h"

#include <algorithm>

namespace lamina::launcher {
namespace {

struct Advice {
  const char* name;
  const char* advice;
};

constexpr const char* kUseParam =
    "that sets parameters of another MPI; Lamina's are set by --param NAME=VALUE and listed by "
    "`lamina info --params`";
constexpr const char* kUseParamFile =
    "that names a file of parameters of another MPI; Lamina reads ~/.config/lamina.conf "
    "(--help params)";
constexpr const char* kAllPassed = "all variables are passed on anyway; leave it out";
// Behind mpiexec, env would also clear what tells a rank that it is one.
constexpr const char* kClearBefore =
    "put `env -i PATH=\"$PATH\"` in front of mpiexec, and -x NAME=VALUE sets variables again";
constexpr const char* kUseSpawner = "the spawner is chosen by --spawner NAME";
constexpr const char* kUseDebugger =
    "--gdb RANK debugs one rank here; for all, start a debugger on each (mpiexec -n 2 xterm -e gdb "
    "./app), or attach one to a running rank by its process id";
constexpr const char* kNoRecovery =
    "a rank that fails ends the job, and the others cannot go on without it; leave it out";
constexpr const char* kFailureEnds = "a rank that fails ends the job anyway; leave it out";
constexpr const char* kUseRestarts =
    "--restarts N lets the job go on from its newest saved state, at most N times";
constexpr const char* kUsePlan = "use --display plan; with --dry-run nothing is started";
constexpr const char* kNotCopied =
    "programs are not copied: put them at the same path on each host, or on a shared file system";
constexpr const char* kKeptAway =
    "write schedule=no behind this host in the host file, or name the others by -H";
constexpr const char* kNotNeeded = "nothing here needs it; leave it out";
constexpr const char* kNoDaemons = "no daemons stay between jobs; leave it out";
constexpr const char* kFoundByItself = "the installation finds itself; leave it out";
constexpr const char* kUseVerbose = "-v says what is being done, and -v -v in detail";
constexpr const char* kUsePs = "`lamina ps` lists running jobs by the number of their mpiexec";
constexpr const char* kUseNameServer = "use --name-server FILE, which jobs share";
constexpr const char* kUseCpuSet =
    "--cpu-set LIST keeps the job to CPUs of each host, and --rankfile FILE each rank to its own";
constexpr const char* kNetworkFound =
    "the network is found by itself; --param transport.ucx.network=NAME chooses another";
constexpr const char* kFromManager =
    "that is for the resource manager: give it to salloc, sbatch or qsub; mpiexec uses what they "
    "have allocated";
constexpr const char* kGpusFromManager =
    "GPUs are for salloc or sbatch to allocate; a rank chooses one by LAMINA_LOCAL_RANK "
    "(--help environment)";
constexpr const char* kUseHosts =
    "hosts are named by -H HOST,HOST or --hostfile FILE; in an allocation these choose among its "
    "hosts";
constexpr const char* kUseTimeout =
    "--timeout SECONDS limits the job; the time of an allocation is for salloc or sbatch";
constexpr const char* kUseBindTo =
    "use --bind-to core, socket, numa, l3cache, hwthread or none; --display bindings shows it";
constexpr const char* kUseNumactl =
    "put numactl in front of the program: mpiexec -n 2 numactl --localalloc ./app";
constexpr const char* kUseMapBy =
    "--map-by slot fills one host after the other (block), --map-by node goes round them (cyclic)";
constexpr const char* kUseUnset = "use `env -u NAME` in front of the program";
constexpr const char* kWaits =
    "ranks that have ended well end nobody else, however long these take; --timeout SECONDS limits "
    "the job";
constexpr const char* kNoX11 =
    "X11 is not forwarded; ranks get DISPLAY as it is here, and -x DISPLAY=HOST:0 sets another";
constexpr const char* kAtOnce =
    "lines are passed on as soon as ranks have written them, and unfinished ones soon after; leave "
    "it out";
constexpr const char* kOwnCpus =
    "whether hosts are shared is for salloc or sbatch; within a job, --cpu-set LIST keeps mpiexec "
    "to its own CPUs";
constexpr const char* kUseCores =
    "ranks get whole cores with --bind-to core, hardware threads with --use-hwthread-cpus";
constexpr const char* kUseErrorPattern = "use --errfile-pattern FILE, in whose name %r is the rank";
constexpr const char* kUseStdin =
    "let the shell read it (mpiexec ./app <FILE); --stdin RANK|all says who gets it";
constexpr const char* kInterrupt =
    "control-C is passed on to the ranks, and a second one kills them; leave it out";
constexpr const char* kUseWrapper =
    "put a script that does it in front of the program: mpiexec -n 2 ./script ./app";
constexpr const char* kUseTool =
    "put the tool in front of the program: mpiexec -n 2 TOOL ./app; --profile and --trace look "
    "into MPI";

constexpr Advice kForeign[] = {
    {"mca", kUseParam},
    {"gmca", kUseParam},
    {"omca", kUseParam},
    {"pmca", kUseParam},
    {"prtemca", kUseParam},
    {"pmixmca", kUseParam},
    {"ssi", kUseParam},
    {"tune", kUseParamFile},
    {"am", kUseParamFile},
    {"genvall", kAllPassed},
    {"envall", kAllPassed},
    {"genvnone", kClearBefore},
    {"envnone", kClearBefore},
    {"launcher", kUseSpawner},
    {"bootstrap", kUseSpawner},
    {"launcher-exec", "the command that reaches hosts is given by --agent"},
    {"bootstrap-exec", "the command that reaches hosts is given by --agent"},
    {"rmk", "the resource manager is found by itself, and --spawner NAME decides otherwise"},
    {"prefix", "the installation finds itself; for other hosts write prefix= in the host file"},
    {"noprefix", kFoundByItself},
    {"iface", "the network is chosen by --param transport.ucx.network=NAME"},
    {"order-nodes", "hosts are used in the order in which they are listed"},
    {"nolocal", kKeptAway},
    {"npersocket", "use --map-by ppr:N:socket"},
    {"print-rank-map", kUsePlan},
    {"display-devel-map", kUsePlan},
    {"tv", kUseDebugger},
    {"gdba", kUseDebugger},
    {"debug", kUseDebugger},
    {"xterm", "put it in front of the program: mpiexec -n 2 xterm -hold -e ./app"},
    {"preload-binary", kNotCopied},
    {"preload-files",
     "files are not copied: put them at the same path on each host, or on a shared file system"},
    {"enable-recovery", kNoRecovery},
    {"disable-recovery", kFailureEnds},
    {"disable-auto-cleanup", kNoRecovery},
    // These are further ones of Open MPI.
    {"with-ft", kNoRecovery},
    {"continuous", kNoRecovery},
    {"max-restarts", kUseRestarts},
    {"bind-to-core", "use --bind-to core"},
    {"bind-to-socket", "use --bind-to socket"},
    {"bind-to-none", "use --bind-to none"},
    {"cpu-list", kUseCpuSet},
    {"slot-list", kUseCpuSet},
    {"ppr", "use --map-by ppr:N:OBJECT"},
    {"loadbalance", "use --map-by node"},
    {"hetero-nodes",
     "hosts may differ, and ranks are bound by the CPUs of their own host; leave it out"},
    {"hetero-apps",
     "hosts may differ, and ranks are bound by the CPUs of their own host; leave it out"},
    {"display-diffable-map", kUsePlan},
    {"display-devel-allocation", "use --display allocation"},
    {"display-topo", "use lstopo of hwloc; --display bindings shows which CPUs ranks get"},
    {"d", kUseVerbose},
    {"debug-devel", kUseVerbose},
    {"debug-daemons", kUseVerbose},
    {"debug-daemons-file", kUseVerbose},
    {"leave-session-attached", kUseVerbose},
    {"show-progress", "progress is shown by itself where the start takes long; leave it out"},
    {"report-pid", kUsePs},
    {"report-uri", kUsePs},
    {"output-proctable", kUsePs},
    {"xml", "output comes as it was written, never as XML; leave it out"},
    {"dvm", kNoDaemons},
    {"dvm-uri", kNoDaemons},
    {"dvm-hostfile", kNoDaemons},
    {"hnp", kNoDaemons},
    {"novm", kNotNeeded},
    {"max-vm-size", kNotNeeded},
    {"personality", kNotNeeded},
    {"do-not-resolve", kNotNeeded},
    {"use-regexp", kNotNeeded},
    {"fwd-mpirun-port", kNotNeeded},
    {"enable-instant-on-support", kNotNeeded},
    {"ompi-server", kUseNameServer},
    {"pmix-prefix", kFoundByItself},
    {"app-prefix", kFoundByItself},
    {"launch-agent", "where Lamina lies on another host is told by prefix= in the host file"},
    {"forward-signals", "the signals of --help signals are passed on anyway; leave it out"},
    {"fwd-environment", kAllPassed},
    {"unset-env", kUseUnset},
    {"prepend-env", "use -x NAME=VALUE with the whole value"},
    {"append-env", "use -x NAME=VALUE with the whole value"},
    {"stream-buffering", kAtOnce},
    {"stop-on-exec", kUseDebugger},
    {"stop-in-init", kUseDebugger},
    {"set-cwd-to-session-dir", "use --wdir DIR"},
    {"s", "--stdin RANK|all|none says who reads standard input; programs are not copied"},
    // These are further ones of MPICH and Intel MPI.
    {"binding", kUseBindTo},
    {"membind", kUseNumactl},
    {"bindlib", kNotNeeded},
    {"topolib", kNotNeeded},
    {"demux", kNotNeeded},
    {"pmi-port", kNotNeeded},
    {"pmi-connect", kNotNeeded},
    {"pmi-aggregate", kNotNeeded},
    {"pmi-noaggregate", kNotNeeded},
    {"localhost", kNotNeeded},
    {"disable-hostname-propagation", kNotNeeded},
    {"noconf", kNotNeeded},
    {"info", "use `lamina info`, or mpiexec --version"},
    {"ordered-output", "lines are never torn; --tag-output begins each with its rank"},
    {"prepend-pattern", "use --tag-output or --timestamp-output"},
    {"print-all-exitcodes",
     "the rank that fails first is named with its code, which mpiexec returns; leave it out"},
    {"ckpointlib", "use --checkpoint; the engine that saves is found by itself (lamina info)"},
    {"ckpoint", "use --checkpoint; the engine that saves is found by itself (lamina info)"},
    {"ckpoint-interval", "use --checkpoint-every TIME, as in 90s, 10m or 2h"},
    {"ckpoint-prefix", "use --checkpoint-dir DIR"},
    {"ckpoint-num", "use `lamina restart --generation N DIR`"},
    {"enable-x", kNoX11},
    {"disable-x", "X11 is not forwarded anyway; leave it out"},
    {"nameserver", kUseNameServer},
    {"skip-launch-node", kKeptAway},
    {"gpus-per-proc", kGpusFromManager},
    {"gpu-subdevs-per-proc", kGpusFromManager},
    {"bootstrap-exec-args", "use --param spawner.ssh.options=OPTIONS for those of ssh"},
    {"genvexcl", kUseUnset},
    {"envexcl", kUseUnset},
    {"genvuser", kAllPassed},
    {"envuser", kAllPassed},
    {"rr", "use --map-by node"},
    {"grr", "use --map-by node"},
    {"hosts-group", "use -H with a range, as in -H node[01-16]"},
    {"machine", "use --hostfile FILE"},
    {"localonly", "use -H localhost"},
    {"ofi", kNetworkFound},
    {"ib", kNetworkFound},
    {"rdma", kNetworkFound},
    {"psm", kNetworkFound},
    {"psm2", kNetworkFound},
    {"dapl", kNetworkFound},
    {"gtool", kUseTool},
    {"aps", kUseTool},
    {"itac", kUseTool},
    {"mps", kUseTool},
    {"check_mpi", kUseTool},
    {"tvsu", kUseDebugger},
    {"umask", "put it in front of the program: mpiexec -n 2 sh -c 'umask 022; exec ./app'"},
    {"cleanup",
     "processes end with their mpiexec, and `lamina clean` finds what was left; leave it out"},
    // These are of srun.
    {"A", kFromManager},
    {"account", kFromManager},
    {"p", kFromManager},
    {"partition", kFromManager},
    {"J", kFromManager},
    {"job-name", kFromManager},
    {"qos", kFromManager},
    {"mem", kFromManager},
    {"mem-per-cpu", kFromManager},
    {"C", kFromManager},
    {"constraint", kFromManager},
    {"cluster-constraint", kFromManager},
    {"reservation", kFromManager},
    {"licenses", kFromManager},
    {"L", kFromManager},
    {"M", kFromManager},
    {"clusters", kFromManager},
    {"b", kFromManager},
    {"begin", kFromManager},
    {"deadline", kFromManager},
    {"dependency", kFromManager},
    {"hold", kFromManager},
    {"I", kFromManager},
    {"immediate", kFromManager},
    {"nice", kFromManager},
    {"priority", kFromManager},
    {"comment", kFromManager},
    {"wckey", kFromManager},
    {"mail-type", kFromManager},
    {"mail-user", kFromManager},
    {"acctg-freq", kFromManager},
    {"bb", kFromManager},
    {"bbf", kFromManager},
    {"contiguous", kFromManager},
    {"mincpus", kFromManager},
    {"tmp", kFromManager},
    {"switches", kFromManager},
    {"spread-job", kFromManager},
    {"use-min-nodes", kFromManager},
    {"reboot", kFromManager},
    {"power", kFromManager},
    {"core-spec", kFromManager},
    {"thread-spec", kFromManager},
    {"cpu-freq", kFromManager},
    {"delay-boot", kFromManager},
    {"time-min", kFromManager},
    {"signal", kFromManager},
    {"network", kFromManager},
    {"mcs-label", kFromManager},
    {"sockets-per-node", kFromManager},
    {"cores-per-socket", kFromManager},
    {"B", kFromManager},
    {"extra-node-info", kFromManager},
    {"gres", kGpusFromManager},
    {"gres-flags", kGpusFromManager},
    {"G", kGpusFromManager},
    {"gpus", kGpusFromManager},
    {"gpus-per-task", kGpusFromManager},
    {"gpus-per-node", kGpusFromManager},
    {"gpus-per-socket", kGpusFromManager},
    {"cpus-per-gpu", kGpusFromManager},
    {"mem-per-gpu", kGpusFromManager},
    {"ntasks-per-gpu", kGpusFromManager},
    {"gpu-bind", kGpusFromManager},
    {"gpu-freq", kGpusFromManager},
    {"tres-per-task", kGpusFromManager},
    {"tres-bind", kGpusFromManager},
    {"w", kUseHosts},
    {"nodelist", kUseHosts},
    {"r", kUseHosts},
    {"relative", kUseHosts},
    {"het-group", kUseHosts},
    {"pack-group", kUseHosts},
    {"F", "use --hostfile FILE"},
    {"nodefile", "use --hostfile FILE"},
    {"exclude", kKeptAway},
    {"nodes", "the number of hosts follows from -n and --ppn; -H names the hosts"},
    {"jobid", "mpiexec runs in the allocation in which it was started; leave it out"},
    {"t", kUseTimeout},
    {"time", kUseTimeout},
    {"mpi", "ranks meet by PMIx, whichever way they are started; leave it out"},
    {"cpu-bind", kUseBindTo},
    {"cpu_bind", kUseBindTo},
    {"mem-bind", kUseNumactl},
    {"mem_bind", kUseNumactl},
    {"m", kUseMapBy},
    {"distribution", kUseMapBy},
    {"ntasks-per-socket", "use --map-by ppr:N:socket"},
    {"ntasks-per-core", "use --map-by ppr:N:core"},
    {"hint", kUseCores},
    {"threads-per-core", kUseCores},
    {"O", "use --oversubscribe"},
    {"overcommit", "use --oversubscribe"},
    {"exclusive", kOwnCpus},
    {"exact", kOwnCpus},
    {"overlap", "what mpiexec starts may overlap other steps anyway; leave it out"},
    {"multi-prog",
     "--configfile FILE reads programs, one a line as in \"-n 2 ./app\"; on the command line a "
     "colon separates them"},
    {"export",
     "all variables are passed on anyway; -x NAME=VALUE sets one, and `env -i PATH=\"$PATH\"` in "
     "front of mpiexec clears all"},
    {"E", kAllPassed},
    {"preserve-env", kAllPassed},
    {"K", kFailureEnds},
    {"kill-on-bad-exit", kFailureEnds},
    {"k", kUseRestarts},
    {"no-kill", kUseRestarts},
    {"W", kWaits},
    {"wait", kWaits},
    {"X", kInterrupt},
    {"disable-status", kInterrupt},
    {"quit-on-interrupt", kInterrupt},
    {"u", kAtOnce},
    {"unbuffered", kAtOnce},
    {"o", "use --outfile-pattern FILE, in whose name %r is the rank"},
    {"e", kUseErrorPattern},
    {"error", kUseErrorPattern},
    {"i", kUseStdin},
    {"input", kUseStdin},
    {"pty",
     "what is typed goes to rank 0 (--stdin), and a single rank writes to the terminal itself; "
     "leave it out"},
    {"bcast", kNotCopied},
    {"bcast-exclude", kNotCopied},
    {"send-libs", kNotCopied},
    {"compress", kNotCopied},
    {"propagate",
     "put the limit in front of the program: mpiexec -n 2 sh -c 'ulimit -s unlimited; exec ./app'"},
    {"prolog", kUseWrapper},
    {"epilog", kUseWrapper},
    {"task-prolog", kUseWrapper},
    {"task-epilog", kUseWrapper},
    {"container",
     "put what starts it in front of the program: mpiexec -n 2 apptainer exec IMAGE ./app"},
    {"slurmd-debug", kUseVerbose},
    {"x11", kNoX11},
    {"usage", "use --help"},
};

}  // namespace

std::string_view ForeignAdvice(std::string_view name) {
  const std::size_t dashes = std::min(name.size(), name.find_first_not_of('-'));
  name.remove_prefix(dashes);
  if (name.size() == 1 && dashes != 1) return {};  // a letter has one dash
  for (const Advice& advice : kForeign)
    if (name == advice.name) return advice.advice;
  return {};
}

}  // namespace lamina::launcher
