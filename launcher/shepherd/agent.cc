// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "launcher/plan/control_group.h"
#include "launcher/shepherd/tuning.h"
#include "runtime/base/pointers.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

struct Pipe {
  int read = -1;
  int write = -1;
  ~Pipe() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
};

[[noreturn]] void BecomeCommand(char** argv, char** environment, pid_t parent, int input,
                                int output, int words, int failure) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  dup2(input, STDIN_FILENO);
  if (output >= 0) dup2(output, STDOUT_FILENO);
  dup2(words, STDERR_FILENO);
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (const int signal : {SIGCHLD, SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP})
    sigaction(signal, &plain, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (environment != nullptr)
    execvpe(argv[0], argv, environment);
  else
    execvp(argv[0], argv);
  const int error = errno;
  if (write(failure, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

}  // namespace

std::string OwnProgram() {
  char path[4096];
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
  return bytes > 0 ? std::string(path, static_cast<std::size_t>(bytes)) : "mpiexec";
}

Result<std::unique_ptr<Agent>> Agent::Start(const CommandLine& command,
                                            const std::vector<std::string>* environment,
                                            bool with_pipes) {
  std::unique_ptr<Agent> agent(new Agent);
  Pipe to, from, words, failure;
  if ((with_pipes && (!to.Open() || !from.Open())) || !words.Open() || !failure.Open())
    return SystemError(Code::kResource, errno, "cannot make pipes for %s", command.front().c_str());
  const int nothing = with_pipes ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
  const std::vector<char*> argv = Pointers(command);
  const CommandLine no_variables;
  const std::vector<char*> variables =
      Pointers(environment != nullptr ? *environment : no_variables);
  const pid_t parent = getpid();
  agent->process_ = fork();
  if (agent->process_ == 0)
    BecomeCommand(const_cast<char**>(argv.data()),
                  environment != nullptr ? const_cast<char**>(variables.data()) : nullptr, parent,
                  with_pipes ? to.read : nothing, with_pipes ? from.write : words.write,
                  words.write, failure.write);
  const int fork_error = errno;
  if (nothing >= 0) close(nothing);
  if (agent->process_ < 0) return ProcessError(fork_error, "cannot start " + command.front());
  setpgid(agent->process_, agent->process_);  // whoever of us comes first
  agent->pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, agent->process_, 0));
  close(std::exchange(failure.write, -1));
  int error = 0;
  ssize_t count;
  while ((count = read(failure.read, &error, sizeof error)) < 0 && errno == EINTR) continue;
  if (count == sizeof error)
    return SystemError(Code::kNotFound, error, "cannot run %s", command.front().c_str());
  agent->from_ = std::exchange(from.read, -1);
  agent->to_ = std::exchange(to.write, -1);
  agent->words_ = std::exchange(words.read, -1);
  fcntl(agent->words_, F_SETFL, O_NONBLOCK);
  return agent;
}

Agent::~Agent() {
  if (process_ > 0 && !Status().has_value()) {
    Kill(SIGKILL);
    int status;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  }
  for (const int fd : {pidfd_, from_, to_, words_})
    if (fd >= 0) close(fd);
}

void Agent::Kill(int signal) {
  if (process_ > 0 && !status_.has_value()) kill(-process_, signal);
}

std::optional<int> Agent::Status() {
  int status;
  if (!status_.has_value() && process_ > 0 && waitpid(process_, &status, WNOHANG) == process_) {
    if (WIFSIGNALED(status)) killed_by_ = WTERMSIG(status);
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return status_;
}

bool Agent::Await(int ms) {
  if (Status().has_value()) return true;
  pollfd end{pidfd_, POLLIN, 0};
  // Without a descriptor to wait for, it waits in steps.
  const int step_ms = pidfd_ >= 0 ? std::max(ms, 1) : 5;
  for (int waited_ms = 0; waited_ms < ms && !Status().has_value(); waited_ms += step_ms)
    while (poll(&end, pidfd_ >= 0 ? 1 : 0, step_ms) < 0 && errno == EINTR) continue;
  return Status().has_value();
}

bool Agent::Listen() {
  std::array<char, 4096> bytes;
  for (int turn = 0; turn < 16; ++turn) {
    const ssize_t count = read(words_, bytes.data(), bytes.size());
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) return false;
    heard_.append(bytes.data(), static_cast<std::size_t>(count));
    if (heard_.size() > kHeardBytesMax) heard_.erase(0, heard_.size() - kHeardBytesMax);
  }
  return true;
}

void Agent::ForgetWords() {
  Listen();
  heard_.clear();
}

std::string Agent::TakeLines(std::string_view beginning) {
  std::string taken;
  std::string kept;
  for (std::size_t at = 0; at < heard_.size();) {
    const std::size_t end = std::min(heard_.find('\n', at), heard_.size() - 1) + 1;
    const std::string_view line = std::string_view(heard_).substr(at, end - at);
    const bool whole = line.back() == '\n';
    (whole && line.starts_with(beginning) ? taken : kept) += line;
    at = end;
  }
  heard_ = std::move(kept);
  return taken;
}

std::string Agent::Words() const {
  std::vector<std::string> lines;
  for (const std::string_view line : Split(heard_, '\n')) {
    std::string_view text = Trim(line);
    if (text.starts_with("mpiexec: ")) text.remove_prefix(9);  // a shepherd's: the reader knows
    while (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    // What is wrong stands before the usage of a command that was called wrongly.
    if (text.starts_with("usage: ") && !lines.empty()) break;
    if (!text.empty()) lines.emplace_back(text);
  }
  std::string words;
  for (std::size_t i = lines.size() > kWordsLines ? lines.size() - kWordsLines : 0;
       i < lines.size(); ++i)
    words += (words.empty() ? "" : "; ") + lines[i];
  return words;
}

}  // namespace lamina::launcher
