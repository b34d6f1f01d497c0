// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/further.h"

#include <event2/event.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "runtime/base/dynamic_words.h"
#include "runtime/base/environment.h"
#include "runtime/base/pointers.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// Runs this program once more, in a process group of its own and without what this launcher does
// about signals. Returns an errno.
int Run(std::vector<std::string> words, std::vector<std::string> environment, int tie,
        pid_t* process) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, tie, tie);  // it stays open
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  const std::vector<char*> argv = Pointers(words), envp = Pointers(environment);
  const int error =
      posix_spawn(process, "/proc/self/exe", &files, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

// Returns the program and its arguments, which stand behind the options.
std::string CommandOf(const std::vector<std::string>& words) {
  std::string command;
  for (auto word = std::find(words.begin(), words.end(), "--"); word != words.end(); ++word)
    if (*word != "--") command += (command.empty() ? "" : " ") + *word;
  return command;
}

}  // namespace

Further::~Further() {
  for (const Launcher& launcher : launchers_) event_free(launcher.ended);
}

void Further::Start(std::vector<std::string> words, Descriptor tie) {
  waiting_.push_back({std::move(words), std::move(tie)});
  StartNext();
}

void Further::StartNext() {
  const auto unplaced = [](const Launcher& launcher) { return !launcher.placed; };
  while (!waiting_.empty() && std::none_of(launchers_.begin(), launchers_.end(), unplaced)) {
    const Order order = std::move(waiting_.front());
    waiting_.pop_front();
    if (Status status = StartOne(order); !status.ok()) {
      const std::string line = "why " + std::string(status.message()) + "\n";
      static_cast<void>(
          !send(order.tie.value(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    }
  }
}

Status Further::StartOne(const Order& order) {
  Environment environment = Environment::OfThisProcess();
  environment.Set(kTieVariable, Format("%d:%d", order.tie.value(), getpid()));
  environment.Set(kFurtherVariable, outlets_.hosts());
  std::vector<std::string> words = {"mpiexec"};
  words.insert(words.end(), words_.begin(), words_.end());
  words.insert(words.end(), order.words.begin(), order.words.end());
  pid_t id = 0;
  if (const int error = Run(std::move(words), environment.Assignments(), order.tie.value(), &id);
      error != 0)
    return SystemError(Code::kResource, error, "%s", "cannot start another mpiexec");
  Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, id, 0)));
  if (process.value() < 0)
    return SystemError(Code::kResource, errno, "%s", "cannot watch another mpiexec");
  Launcher& added = launchers_.emplace_back(Launcher{this, id, std::move(process)});
  added.command = CommandOf(order.words);
  added.ended = event_new(
      loop_, added.process.value(), EV_READ,
      [](int, short, void* self) {
        auto* const ended = static_cast<Launcher*>(self);
        ended->owner->OnEnd(ended);
      },
      &added);
  event_add(added.ended, nullptr);
  ++started_;
  return {};
}

void Further::Placed(pid_t launcher, RanksByHost ranks) {
  for (Launcher& each : launchers_) {
    if (each.id != launcher) continue;
    each.placed = true;
    each.ranks = std::move(ranks);
    break;
  }
  StartNext();
}

void Further::Count(RanksByHost* ranks) const {
  for (const Launcher& launcher : launchers_)
    for (const auto& [host, count] : launcher.ranks) (*ranks)[host] += count;
}

std::vector<std::string> Further::Describe() const {
  std::vector<std::string> lines;
  for (const Launcher& launcher : launchers_) {
    std::string where;
    for (const auto& [host, count] : launcher.ranks)
      where += Format("%s%u on %s", where.empty() ? "" : ", ", count, host.c_str());
    if (!launcher.placed) where = "being started";
    lines.push_back(Format("spawned: %s (%s; mpiexec %d)", launcher.command.c_str(), where.c_str(),
                           launcher.id));
  }
  return lines;
}

void Further::Signal(int signal) const {
  for (const Launcher& launcher : launchers_)
    syscall(SYS_pidfd_send_signal, launcher.process.value(), signal, nullptr, 0);
}

void Further::OnEnd(Launcher* launcher) {
  event_free(launcher->ended);
  waitpid(launcher->id, nullptr, WNOHANG);  // the job of a spawner may have done so
  launchers_.remove_if([launcher](const Launcher& each) { return &each == launcher; });
  StartNext();
  outlets_.ended();
}

}  // namespace lamina::launcher
