// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/local/start_process.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "launcher/plan/control_group.h"
#include "launcher/spawn/local/program_format.h"
#include "runtime/base/environment.h"
#include "runtime/base/pointers.h"
#include "runtime/base/text.h"

namespace lamina::launcher::local {
namespace {

constexpr unsigned kCpusMax = 1u << 16;

enum class Step { kNone, kGroup, kParent, kBind, kDirectory, kDescriptors, kExecute };

// What the child needs, laid out before the fork: it must not allocate.
struct Order {
  const char* file;
  char** argv;
  char** environment;
  const char* directory;  // null: stay
  const cpu_set_t* cpus;  // null: unbound
  std::size_t cpus_bytes;
  int stdio[3];
  int kept_fds[5];
  rlimit descriptors;
  bool own_session;
  bool without_rights;
  bool held;
  pid_t launcher;  // as the child sees it
  // Set by the child when it fails.
  Step failed;
  int error;
};

// Both functions run in the child, which shares the launcher's memory, so they make system calls
// and store to `order` only. A sanitizer's bookkeeping would damage the launcher's.
#define LAMINA_IN_CHILD [[gnu::no_sanitize_address, gnu::no_sanitize_thread]]

LAMINA_IN_CHILD int GiveUp(Order* order, Step step) {
  order->error = errno;
  order->failed = step;
  return 127;
}

// The program gets no capability by execve() then, but the one by which it may look into /proc of
// processes that have more.
LAMINA_IN_CHILD void DropRights() {
  for (int right = 0; prctl(PR_CAPBSET_READ, right) >= 0; ++right)
    if (right != CAP_SYS_PTRACE) prctl(PR_CAPBSET_DROP, right);
}

// Returns the exit status when the program could not be executed.
LAMINA_IN_CHILD int BecomeProgram(void* argument) {
  auto* order = static_cast<Order*>(argument);
  if (order->own_session ? setsid() < 0 : setpgid(0, 0) != 0) return GiveUp(order, Step::kGroup);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return GiveUp(order, Step::kParent);
  if (getppid() != order->launcher) return 127;  // it died before the line above
  if (order->cpus != nullptr && sched_setaffinity(0, order->cpus_bytes, order->cpus) != 0)
    return GiveUp(order, Step::kBind);
  if (order->directory != nullptr && chdir(order->directory) != 0)
    return GiveUp(order, Step::kDirectory);
  // Descriptors that are themselves standard ones get out of the way first.
  for (int to = 0; to < 3; ++to) {
    const int from = order->stdio[to];
    if (from < 0 || from > 2 || from == to) continue;
    order->stdio[to] = fcntl(from, F_DUPFD_CLOEXEC, 3);
    if (order->stdio[to] < 0) return GiveUp(order, Step::kDescriptors);
  }
  for (int to = 0; to < 3; ++to) {
    const int from = order->stdio[to];
    if (from < 0) continue;
    // A descriptor that is in its place already only has to survive exec.
    if (from == to ? fcntl(from, F_SETFD, 0) != 0 : dup2(from, to) != to)
      return GiveUp(order, Step::kDescriptors);
  }
  // An engine can save nothing that was opened outside of the space.
  if (order->own_session) close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  for (const int fd : order->kept_fds)
    if (fd >= 0 && fcntl(fd, F_SETFD, 0) != 0) return GiveUp(order, Step::kDescriptors);
  setrlimit(RLIMIT_NOFILE, &order->descriptors);  // lowering: cannot fail
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (order->without_rights) DropRights();
  // Then the kernel stops it when it executes the program. Where that is forbidden it just runs.
  if (order->held && ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) order->held = false;
  execve(order->file, order->argv, order->environment);
  return GiveUp(order, Step::kExecute);
}

#undef LAMINA_IN_CHILD

// Works like vfork(): we wait until the child has executed its program or given up. The child has a
// stack of its own, so it cannot damage ours.
pid_t Fork(Order* order) {
  alignas(16) static std::array<char, 65536> stack;  // one child at a time is on it
  return clone(BecomeProgram, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, order);
}

// Lets go of a process that the kernel has stopped for its parent, but leaves it stopped.
void Hold(pid_t process) {
  int status = 0;
  if (waitpid(process, &status, 0) == process && WIFSTOPPED(status))
    ptrace(PTRACE_DETACH, process, nullptr, SIGSTOP);
}

std::string_view ValueOf(std::span<const std::string> environment, std::string_view name) {
  for (const std::string& assignment : environment)
    if (assignment.size() > name.size() && assignment[name.size()] == '=' &&
        assignment.starts_with(name))
      return std::string_view(assignment).substr(name.size() + 1);
  return {};
}

std::string InDirectory(std::string_view directory, std::string_view file) {
  if (directory.empty() || file.starts_with('/')) return std::string(file);
  return std::string(directory) + "/" + std::string(file);
}

bool IsFile(const std::string& path, bool executable) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         (!executable || access(path.c_str(), X_OK) == 0);
}

// Turns "#!/usr/bin/nosuch -x" into "/usr/bin/nosuch"; returns "" if the file names no interpreter.
// To the kernel a "\r" at the end of the line belongs to the name, so it is shown.
std::string InterpreterOf(const std::string& path) {
  char line[256];
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  const ssize_t bytes = read(fd, line, sizeof line);
  close(fd);
  if (bytes < 3 || line[0] != '#' || line[1] != '!') return "";
  std::string_view text(line + 2, static_cast<std::size_t>(bytes) - 2);
  const std::string_view first = text.substr(0, text.find('\n'));
  text = Trim(first);
  std::string interpreter(text.substr(0, text.find_first_of(" \t")));
  if (first.ends_with('\r') && interpreter.size() == text.size())
    interpreter += "\\r (lines end as on Windows)";
  return interpreter;
}

Status WhyNot(const RankStart& start, const Order& order) {
  const std::string host(start.host);
  const std::string directory(start.wdir);
  switch (order.failed) {
    case Step::kDirectory:
      return SystemError(Code::kNotFound, order.error, "cannot run %s on %s: working directory %s",
                         start.argv.front().c_str(), host.c_str(), directory.c_str());
    case Step::kBind:
      return SystemError(Code::kResource, order.error, "cannot bind %s on %s to CPUs %s",
                         start.argv.front().c_str(), host.c_str(),
                         std::string(start.cpuset).c_str());
    default:
      break;
  }
  const std::string file = InDirectory(start.wdir, order.file);
  if (order.error == ENOENT && IsFile(file, false)) {
    const std::string interpreter = InterpreterOf(file);
    return SystemError(Code::kNotFound, order.error, "cannot run %s on %s: its interpreter %s",
                       start.argv.front().c_str(), host.c_str(),
                       interpreter.empty() ? "(the dynamic loader)" : interpreter.c_str());
  }
  return SystemError(order.error == ENOENT ? Code::kNotFound : Code::kDenied, order.error,
                     "cannot run %s on %s", start.argv.front().c_str(), host.c_str());
}

}  // namespace

std::optional<std::vector<unsigned>> ParseCpuList(std::string_view list) {
  std::vector<unsigned> cpus;
  if (list.empty()) return cpus;
  for (const std::string_view range : Split(list, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = ParseInteger(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ParseInteger(range.substr(dash + 1));
    if (!first.has_value() || !last.has_value() || *first < 0 || *last < *first ||
        *last >= static_cast<std::int64_t>(kCpusMax))
      return std::nullopt;
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<unsigned>(cpu));
  }
  return cpus;
}

std::string FindProgram(std::string_view program, std::string_view path, std::string_view wdir) {
  if (program.find('/') != std::string_view::npos) return std::string(program);
  if (program.empty()) return "";
  std::string not_executable;
  for (const std::string_view directory : Split(path, ':')) {
    std::string file(directory.empty() ? "." : directory);
    file += "/";
    file += program;
    const std::string seen_from_here = InDirectory(wdir, file);
    if (IsFile(seen_from_here, true)) return file;
    if (not_executable.empty() && IsFile(seen_from_here, false)) not_executable = file;
  }
  return not_executable;
}

const std::string& ProcessStarter::Find(const RankStart& start) {
  std::string path(ValueOf(start.environment, "PATH"));
  if (path.empty()) path = kDefaultPath;
  if (!start.path.empty()) path = std::string(start.path) + ":" + path;
  std::string key = start.argv.front() + "\n" + path + "\n" + std::string(start.wdir);
  const auto [entry, fresh] = found_.try_emplace(std::move(key));
  if (fresh) entry->second = FindProgram(start.argv.front(), path, start.wdir);
  return entry->second;
}

Result<pid_t> ProcessStarter::Start(const RankStart& start) {
  Order order{};
  const std::string& file = Find(start);
  order.file = file.empty() ? start.argv.front().c_str() : file.c_str();
  if (file.empty()) {
    order.error = ENOENT;
    return WhyNot(start, order);
  }
  std::vector<char*> argv = Pointers(start.argv);
  std::vector<char*> environment = Pointers(start.environment, start.own_environment);
  const std::string directory(start.wdir);
  const auto cpus = ParseCpuList(start.cpuset);
  if (!cpus.has_value())
    return Error(Code::kInvalid, "\"%s\" is no list of CPUs", std::string(start.cpuset).c_str());
  std::vector<unsigned char> cpu_bits;
  if (!cpus->empty()) {
    cpu_bits.resize(CPU_ALLOC_SIZE(kCpusMax));
    auto* set = reinterpret_cast<cpu_set_t*>(cpu_bits.data());
    for (const unsigned cpu : *cpus) CPU_SET_S(cpu, cpu_bits.size(), set);
    order.cpus = set;
    order.cpus_bytes = cpu_bits.size();
  }
  order.argv = argv.data();
  order.environment = environment.data();
  order.directory = directory.empty() ? nullptr : directory.c_str();
  for (std::size_t i = 0; i < 3; ++i) order.stdio[i] = start.stdio[i];
  order.kept_fds[0] = start.event_fd;
  order.kept_fds[1] = start.roster_fd;
  order.kept_fds[2] = start.node_memory_fd;
  order.kept_fds[3] = start.checkpoint_fds[0];
  order.kept_fds[4] = start.checkpoint_fds[1];
  getrlimit(RLIMIT_NOFILE, &order.descriptors);
  if (start.open_files_max != 0) order.descriptors.rlim_cur = start.open_files_max;
  order.own_session = start.space != nullptr;
  order.without_rights = start.without_rights;
  order.held = start.held;
  // From within a pid namespace a parent outside of it is seen as 0.
  order.launcher = start.space != nullptr ? 0 : getpid();

  pid_t process = Fork(&order);
  if (process > 0 && order.failed == Step::kExecute && order.error == ENOEXEC) {
    // The kernel does not know the format. Every shell runs a text as a script without "#!".
    const std::string why = WhyNoProgram(InDirectory(start.wdir, order.file));
    if (!why.empty())
      return Error(Code::kDenied, "cannot run %s on %s: %s", start.argv.front().c_str(),
                   std::string(start.host).c_str(), why.c_str());
    std::vector<std::string> shell(start.argv.begin(), start.argv.end());
    shell.front() = order.file;
    shell.insert(shell.begin(), "sh");
    argv = Pointers(shell);
    order.argv = argv.data();
    order.file = "/bin/sh";
    order.failed = Step::kNone;
    for (std::size_t i = 0; i < 3; ++i) order.stdio[i] = start.stdio[i];
    process = Fork(&order);
  }
  if (process < 0)
    return ProcessError(
        errno, Format("cannot start rank %u on %s", start.rank, std::string(start.host).c_str()));
  if (order.failed != Step::kNone) return WhyNot(start, order);  // it is a zombie: reaped as any
  if (order.held) Hold(process);
  return process;
}

}  // namespace lamina::launcher::local
