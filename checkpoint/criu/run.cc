// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/criu/run.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "checkpoint/criu/tuning.h"
#include "checkpoint/criu/words.h"
#include "runtime/base/clock.h"

namespace lamina::checkpoint::criu {
namespace {

constexpr int kFirstGiven = 3;
constexpr int kNotExecuted = 127;

// What the child needs; it may not allocate, because other threads may hold the allocator's lock.
struct Child {
  char** argv;
  int folder;
  int printed;
  int* given;  // copies that are above every number they are going to have
  int given_count;
  pid_t parent;
};

[[noreturn]] void GiveUp() {
  const char* why = strerrordesc_np(errno);
  // There is nobody else to tell.
  static_cast<void>(!write(STDERR_FILENO, why, std::strlen(why)));
  _exit(kNotExecuted);
}

[[noreturn]] void BecomeProgram(const Child& child) {
  setpgid(0, 0);
  // From within a pid namespace a parent outside of it is seen as 0.
  const pid_t parent = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 ? getppid() : -1;
  if (parent != child.parent && parent != 0) _exit(kNotExecuted);
  dup2(child.printed, STDOUT_FILENO);
  dup2(child.printed, STDERR_FILENO);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) GiveUp();
  if (child.folder >= 0 && fchdir(child.folder) != 0) GiveUp();
  for (int index = 0; index < child.given_count; ++index)
    if (dup2(child.given[index], kFirstGiven + index) < 0) GiveUp();
  close_range(static_cast<unsigned>(kFirstGiven + child.given_count), ~0u, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  execv(child.argv[0], child.argv);
  GiveUp();
}

}  // namespace

Result<std::unique_ptr<Run>> Run::Start(const RunOrder& order) {
  std::unique_ptr<Run> run(new Run);
  run->printed_ = Descriptor(memfd_create("lamina-criu", MFD_CLOEXEC));
  if (run->printed_.value() < 0) return SystemError(Code::kResource, errno, "memfd_create");
  const int count = static_cast<int>(order.descriptors.size());
  std::vector<Descriptor> owned;
  std::vector<int> given;
  for (const int descriptor : order.descriptors) {
    owned.emplace_back(fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstGiven + count));
    given.push_back(owned.back().value());
    if (given.back() < 0)
      return SystemError(Code::kResource, errno, "cannot copy descriptor %d", descriptor);
  }
  std::vector<char*> argv;
  for (const std::string& word : order.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  // A folder or a stream may lie where a given descriptor goes, so they get out of the way as well.
  const Descriptor folder(
      order.folder < 0 ? -1 : fcntl(order.folder, F_DUPFD_CLOEXEC, kFirstGiven + count));
  const Descriptor printed(fcntl(run->printed_.value(), F_DUPFD_CLOEXEC, kFirstGiven + count));
  const Child child{argv.data(), folder.value(), printed.value(), given.data(), count, getpid()};
  run->deadline_ms_ = MonotonicMs() + order.limit_ms;
  run->process_ = fork();
  if (run->process_ == 0) BecomeProgram(child);
  if (run->process_ < 0)
    return SystemError(Code::kResource, errno, "cannot start %s", order.words.front().c_str());
  if (Status status = run->Watch(); !status.ok()) return status;
  return run;
}

// It rings again and again, until the time is over.
bool Run::SetTimer() {
  const std::uint64_t now_ms = MonotonicMs();
  const std::uint64_t left_ms = deadline_ms_ > now_ms ? deadline_ms_ - now_ms : 0;
  const std::uint64_t ms = std::clamp<std::uint64_t>(left_ms, 1, kLookEachMs);
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(ms / 1000);
  when.it_value.tv_nsec = static_cast<long>(ms % 1000 * 1'000'000);
  return timerfd_settime(timer_.value(), 0, &when, nullptr) == 0;
}

Status Run::Watch() {
  process_fd_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
  timer_ = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  ready_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (process_fd_.value() < 0 || timer_.value() < 0 || ready_.value() < 0 || !SetTimer())
    return SystemError(Code::kResource, errno, "cannot watch a process");
  for (const int fd : {process_fd_.value(), timer_.value()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ctl(ready_.value(), EPOLL_CTL_ADD, fd, &event) != 0)
      return SystemError(Code::kResource, errno, "cannot watch a process");
  }
  return {};
}

std::optional<Run::End> Run::Ended() {
  if (end_) return end_;
  siginfo_t info{};
  const int waited =
      waitid(P_PIDFD, static_cast<id_t>(process_fd_.value()), &info, WEXITED | WNOHANG);
  if (waited == 0 && info.si_pid != 0) {
    process_ = -1;
    signal_ = info.si_code == CLD_EXITED ? 0 : info.si_status;
    end_ = signal_ != 0 ? End::kKilled : info.si_status == 0 ? End::kGood : End::kFailed;
    return end_;
  }
  std::uint64_t times = 0;
  if (read(timer_.value(), &times, sizeof times) != sizeof times) return std::nullopt;
  if (HasBug(Printed()))
    end_ = End::kFailed;
  else if (MonotonicMs() >= deadline_ms_ || !SetTimer())
    end_ = End::kTimedOut;
  else
    return std::nullopt;
  Kill();
  return end_;
}

void Run::Kill() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  kill(-process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
  process_ = -1;
}

Run::~Run() { Kill(); }

std::string Run::Printed() const {
  std::string text(kPrintedBytesMax, '\0');
  const ssize_t got = pread(printed_.value(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace lamina::checkpoint::criu
