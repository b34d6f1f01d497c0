// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/foreign.h"

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
constexpr const char* kUsePlan = "use --display plan; with --dry-run nothing is started";

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
    {"noprefix", "the installation finds itself; leave it out"},
    {"iface", "the network is chosen by --param transport.ucx.network=NAME"},
    {"order-nodes", "hosts are used in the order in which they are listed"},
    {"nolocal", "write schedule=no behind this host in the host file, or name the others by -H"},
    {"npersocket", "use --map-by ppr:N:socket"},
    {"print-rank-map", kUsePlan},
    {"display-devel-map", kUsePlan},
    {"tv", kUseDebugger},
    {"gdba", kUseDebugger},
    {"debug", kUseDebugger},
    {"xterm", "put it in front of the program: mpiexec -n 2 xterm -hold -e ./app"},
    {"preload-binary",
     "programs are not copied: put them at the same path on each host, or on a shared file system"},
    {"preload-files",
     "files are not copied: put them at the same path on each host, or on a shared file system"},
    {"enable-recovery", kNoRecovery},
    {"disable-recovery", "a rank that fails ends the job anyway; leave it out"},
    {"disable-auto-cleanup", kNoRecovery},
};

}  // namespace

std::string_view ForeignAdvice(std::string_view name) {
  while (!name.empty() && name.front() == '-') name.remove_prefix(1);
  for (const Advice& advice : kForeign)
    if (name == advice.name) return advice.advice;
  return {};
}

}  // namespace lamina::launcher
