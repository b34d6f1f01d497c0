// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/bproc/move_crew.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "runtime/base/pointers.h"
#include "runtime/base/text.h"

namespace lamina::launcher::bproc {
namespace {

constexpr int kFarewellMs = 2'000;
constexpr int kStandardStreams = 3;

// Open files do not survive the move, so the three standard ones are opened over there.
Io NullDevice(int fd) {
  Io io{};
  io.fd = fd;
  io.d.file.flags = O_RDWR;
  std::strncpy(io.d.file.name, "/dev/null", sizeof io.d.file.name - 1);
  return io;
}

}  // namespace

Result<std::unique_ptr<ShepherdCrew>> MoveCrew::StartAll(const Library& library,
                                                         std::span<const Target> targets,
                                                         std::span<const std::string> argv,
                                                         std::span<const std::string> environment) {
  std::vector<std::string> words(argv.begin(), argv.end());
  std::vector<std::string> variables(environment.begin(), environment.end());
  variables.emplace_back("BPROC_RANK=XXXXXXX");  // BProc writes the position here
  std::vector<int> nodes;
  for (const Target& target : targets) nodes.push_back(target.node);
  std::vector<int> pids(targets.size(), 0);
  Io io[kStandardStreams] = {NullDevice(0), NullDevice(1), NullDevice(2)};
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return SystemError(Code::kResource, errno, "cannot watch processes");
  std::unique_ptr<MoveCrew> crew(new MoveCrew(epoll));
  const int count = static_cast<int>(targets.size());
  if (library.move(count, nodes.data(), pids.data(), io, kStandardStreams, words.front().c_str(),
                   Pointers(words).data(), Pointers(variables).data()) < 0)
    return Error(Code::kResource, "bproc_vexecmove_io of %s: %s", words.front().c_str(),
                 library.error_text(errno));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (pids[i] > 0)
      crew->Watch(targets[i].host, pids[i]);
    else
      crew->events_.push_back(
          {targets[i].host, Format("bproc_vexecmove_io: %s", library.error_text(-pids[i]))});
  }
  return std::unique_ptr<ShepherdCrew>(std::move(crew));
}

void MoveCrew::Watch(std::uint32_t host, pid_t pid) {
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (handle < 0) {
    events_.push_back({host, Format("its shepherd cannot be watched: %s", std::strerror(errno))});
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return;
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = children_.size();
  children_.push_back({host, pid, handle});
  epoll_ctl(epoll_, EPOLL_CTL_ADD, handle, &event);
}

void MoveCrew::Reap(int timeout_ms) {
  epoll_event ready[64];
  const int count = epoll_wait(epoll_, ready, 64, timeout_ms);
  for (int i = 0; i < count; ++i) {
    Child& child = children_[ready[i].data.u64];
    int status = 0;
    if (waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    close(child.handle);
    child.handle = -1;
    events_.push_back(
        {child.host, WIFSIGNALED(status)
                         ? Format("its shepherd was killed by signal %d", WTERMSIG(status))
                         : Format("its shepherd ended with status %d", WEXITSTATUS(status))});
  }
}

std::optional<ShepherdCrew::Event> MoveCrew::Next() {
  if (events_.empty()) Reap(0);
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

MoveCrew::~MoveCrew() {
  const auto runs = [](const Child& child) { return child.handle >= 0; };
  for (const Child& child : children_)
    if (runs(child)) kill(child.pid, SIGKILL);
  for (int waited_ms = 0; waited_ms < kFarewellMs; waited_ms += 100) {
    if (std::none_of(children_.begin(), children_.end(), runs)) break;
    Reap(100);
  }
  for (const Child& child : children_)
    if (runs(child)) close(child.handle);
  close(epoll_);
}

}  // namespace lamina::launcher::bproc
