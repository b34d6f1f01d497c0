// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/start_launcher.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <memory>
#include <utility>

#include "runtime/base/dynamic_words.h"
#include "runtime/base/pointers.h"
#include "runtime/base/text.h"

namespace lamina::dynamic {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;

// Returns PREFIX/bin/mpiexec if this library is PREFIX/lib/libmpi_abi.so.1.
std::string InThisInstallation() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&FindLauncher), &info) == 0) return {};
  std::string path = info.dli_fname;
  for (int level = 0; level < 2; ++level) path.resize(std::min(path.size(), path.rfind('/')));
  return path + "/bin/mpiexec";
}

std::string InPath(const Environment& environment) {
  const std::string path = environment.Get("PATH").value_or("");
  for (const std::string_view directory : Split(path, ':')) {
    std::string candidate = std::string(directory) + "/mpiexec";
    if (!directory.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

// All that the two processes between us and the mpiexec need. They share our memory until the
// mpiexec is executed, and allocate nothing.
struct Launch {
  const char* program;
  char* const* words;
  char* const* environment;
  int tie;
  char* stack;
  int error = 0;
};

// Signals that this process ignores or blocks are not for the mpiexec.
void Reset() {
  sigset_t none;
  sigemptyset(&none);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2})
    std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

int Execute(void* argument) {
  Launch* const launch = static_cast<Launch*>(argument);
  setpgid(0, 0);
  Reset();
  const int null = open("/dev/null", O_RDONLY);
  if (null >= 0) dup2(null, STDIN_FILENO);
  fcntl(launch->tie, F_SETFD, 0);
  execve(launch->program, launch->words, launch->environment);
  launch->error = errno;
  _exit(127);
}

// Ends at once, so that the mpiexec becomes the child of whoever collects orphans here.
int Leave(void* argument) {
  Launch* const launch = static_cast<Launch*>(argument);
  if (clone(Execute, launch->stack + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD, launch) < 0)
    launch->error = errno;
  _exit(0);
}

}  // namespace

Result<std::string> FindLauncher(const std::string& wanted, const Environment& environment) {
  if (wanted != "auto" && wanted != "always") return wanted;
  if (std::string path = InThisInstallation(); access(path.c_str(), X_OK) == 0) return path;
  if (std::string path = InPath(environment); !path.empty()) return path;
  return Error(Code::kUnsupported,
               "there is no mpiexec beside this library and none in PATH; say where one is with "
               "LAMINA_DYNAMIC_SPAWN_LAUNCHER");
}

Result<Descriptor> StartLauncher(const std::string& program, const std::vector<std::string>& words,
                                 Environment environment) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return SystemError(Code::kResource, errno, "cannot make a socket pair");
  Descriptor ours(ends[0]), theirs(ends[1]);
  environment.Set(kTieVariable, Format("%d:0", theirs.value()));
  std::vector<std::string> arguments = words;
  arguments.insert(arguments.begin(), "mpiexec");
  std::vector<std::string> assignments = environment.Assignments();
  const std::vector<char*> argv = Pointers(arguments), envp = Pointers(assignments);
  const auto stacks = std::make_unique<char[]>(2 * kStackBytes);
  Launch launch{program.c_str(), argv.data(), envp.data(), theirs.value(), stacks.get()};
  // Without a signal to be sent at its end, the process between stays our secret.
  const pid_t between =
      clone(Leave, stacks.get() + 2 * kStackBytes, CLONE_VM | CLONE_VFORK, &launch);
  if (between < 0) return SystemError(Code::kResource, errno, "cannot make a process");
  while (waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) continue;
  if (launch.error != 0)
    return SystemError(Code::kNotFound, launch.error, "cannot run %s", program.c_str());
  return ours;
}

}  // namespace lamina::dynamic
