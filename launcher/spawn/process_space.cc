// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/process_space.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "runtime/base/check.h"
#include "runtime/base/process_stat.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// A keeper that does not answer within this time has died, or is stopped by somebody.
constexpr int kAnswerMs = 10'000;

constexpr const char* kLastId = "/proc/sys/kernel/ns_last_pid";

struct Question {
  enum Kind : std::uint32_t { kLast, kSetLast, kStop, kContinue };
  std::uint32_t kind = kLast;
  std::uint32_t number = 0;
};
struct Answer {
  std::int32_t error = 0;  // an errno; 0: none
  std::uint32_t number = 0;
};

// What follows runs in the keeper, which may have been forked from a process with threads, so it
// makes system calls only.
Answer ReadLastId() {
  char text[16] = "";
  const int file = open(kLastId, O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, text, sizeof text - 1) <= 0) return {errno, 0};
  close(file);
  return {0, static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10))};
}

Answer WriteLastId(std::uint32_t id) {
  char text[16];
  const int bytes = std::snprintf(text, sizeof text, "%u", id);
  const int file = open(kLastId, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, text, static_cast<std::size_t>(bytes)) != bytes) return {errno, 0};
  close(file);
  return {};
}

Answer SignalAll(int signal) { return {kill(-1, signal) == 0 || errno == ESRCH ? 0 : errno, 0}; }

Answer AnswerTo(const Question& question) {
  switch (question.kind) {
    case Question::kLast:
      return ReadLastId();
    case Question::kSetLast:
      return WriteLastId(question.number);
    case Question::kStop:
      return SignalAll(SIGSTOP);
    default:
      return SignalAll(SIGCONT);
  }
}

void CloseAllBut(const int* kept, std::size_t count) {
  unsigned next = 0;
  for (std::size_t at = 0; at < count; ++at) {
    const auto number = static_cast<unsigned>(kept[at]);
    if (number > next) close_range(next, number - 1, 0);
    next = number + 1;
  }
  close_range(next, ~0u, 0);
}

// What it inherits of mounts follows those of the host, and /proc is its own. A folder of it that
// no rank looks into makes place for memory, because it is there on every host.
Answer Settle() {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0 ||
      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0 ||
      mount("lamina", ProcessSpace::kMemoryFolder, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
            "mode=0700,size=100%") != 0)
    return {errno, 0};
  return {};
}

[[noreturn]] void Keep(int line, const int* kept, std::size_t count) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "mpiexec-keeper");
  setsid();
  signal(SIGCHLD, SIG_IGN);  // orphans are reaped by the kernel
  CloseAllBut(kept, count);
  Answer answer = Settle();
  Question question;
  while (write(line, &answer, sizeof answer) == sizeof answer &&
         read(line, &question, sizeof question) == sizeof question)
    answer = AnswerTo(question);
  _exit(0);
}

Status Move(const Descriptor& to, int kind, const char* what) {
  if (setns(to.value(), kind) == 0) return {};
  return SystemError(Code::kUnsupported, errno, "cannot enter a %s namespace", what);
}

}  // namespace

Result<std::unique_ptr<ProcessSpace>> ProcessSpace::Make(std::span<const int> kept) {
  std::unique_ptr<ProcessSpace> space(new ProcessSpace);
  std::error_code error;
  space->directory_ = std::filesystem::current_path(error).string();
  space->own_processes_ = Descriptor(open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  space->own_mounts_ = Descriptor(open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC));
  // A thread that shares its directory with others may not change its mounts.
  if (space->own_processes_.value() < 0 || space->own_mounts_.value() < 0 || unshare(CLONE_FS) != 0)
    return SystemError(Code::kUnsupported, errno, "cannot make a pid namespace");
  if (Status status = space->Fork(kept); !status.ok()) return status;
  if (Status status = space->Open(); !status.ok()) return status;
  return space;
}

Status ProcessSpace::Fork(std::span<const int> kept) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return SystemError(Code::kResource, errno, "cannot make a socket pair");
  line_ = Descriptor(ends[0]);
  const Descriptor its_end(ends[1]);
  std::vector<int> open_there(kept.begin(), kept.end());
  open_there.push_back(ends[1]);
  std::erase_if(open_there, [](int fd) { return fd < 0; });
  std::sort(open_there.begin(), open_there.end());
  if (unshare(CLONE_NEWPID) != 0)
    return SystemError(Code::kUnsupported, errno, "cannot make a pid namespace");
  keeper_ = fork();
  if (keeper_ == 0) Keep(ends[1], open_there.data(), open_there.size());
  const int error = errno;
  if (Status status = Move(own_processes_, CLONE_NEWPID, "pid"); !status.ok()) return status;
  if (keeper_ < 0)
    return SystemError(Code::kResource, error, "cannot fork the keeper of a pid namespace");
  return {};
}

// The keeper's first answer tells that it has settled.
Status ProcessSpace::Open() {
  if (Result<std::uint32_t> settled = Hear(); !settled.ok()) return std::move(settled).status();
  const std::string folder = Format("/proc/%d/ns/", keeper_);
  processes_ = Descriptor(open((folder + "pid").c_str(), O_RDONLY | O_CLOEXEC));
  mounts_ = Descriptor(open((folder + "mnt").c_str(), O_RDONLY | O_CLOEXEC));
  memory_ = Descriptor(open((Format("/proc/%d/root", keeper_) + kMemoryFolder).c_str(),
                            O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat file;
  if (processes_.value() < 0 || mounts_.value() < 0 || memory_.value() < 0 ||
      fstat(processes_.value(), &file) != 0)
    return SystemError(Code::kUnsupported, errno, "cannot open %s", folder.c_str());
  number_ = static_cast<std::uint32_t>(file.st_ino);
  return {};
}

// Threads that this process has started since share its directory, until it parts from them.
Status ProcessSpace::Enter() const {
  if (unshare(CLONE_FS) != 0)
    return SystemError(Code::kUnsupported, errno, "cannot enter a mount namespace");
  if (Status status = Move(processes_, CLONE_NEWPID, "pid"); !status.ok()) return status;
  if (Status status = Move(mounts_, CLONE_NEWNS, "mount"); !status.ok()) {
    static_cast<void>(Move(own_processes_, CLONE_NEWPID, "pid"));
    return status;
  }
  if (chdir(directory_.c_str()) == 0) return {};
  Status status = SystemError(Code::kNotFound, errno, "cannot go to %s", directory_.c_str());
  CHECK(Return().ok());
  return status;
}

// The directory may have been removed meanwhile; this process stays in the root then.
Status ProcessSpace::Return() const {
  Status status = Move(own_mounts_, CLONE_NEWNS, "mount");
  if (status.ok()) status = Move(own_processes_, CLONE_NEWPID, "pid");
  static_cast<void>(!chdir(directory_.c_str()));
  return status;
}

ProcessSpace::Inside::Inside(const ProcessSpace* space) : space_(space) {
  if (space_ != nullptr) status_ = space_->Enter();
}

ProcessSpace::Inside::~Inside() {
  if (space_ != nullptr && status_.ok()) CHECK(space_->Return().ok());
}

Result<std::uint32_t> ProcessSpace::Hear() {
  pollfd ready{line_.value(), POLLIN, 0};
  int polled;
  do polled = poll(&ready, 1, kAnswerMs);
  while (polled < 0 && errno == EINTR);
  Answer answer;
  if (polled <= 0 || read(line_.value(), &answer, sizeof answer) != sizeof answer)
    return Error(Code::kPeerLost, "the first process of the job's pid namespace does not answer");
  if (answer.error != 0)
    return SystemError(Code::kUnsupported, answer.error,
                       "a pid namespace cannot be used as a job needs it");
  return answer.number;
}

Result<std::uint32_t> ProcessSpace::Ask(std::uint32_t kind, std::uint32_t number) {
  const Question question{kind, number};
  if (send(line_.value(), &question, sizeof question, MSG_NOSIGNAL) != sizeof question)
    return SystemError(Code::kPeerLost, errno, "the first process of the job's pid namespace");
  return Hear();
}

Result<std::uint32_t> ProcessSpace::LastId() { return Ask(Question::kLast, 0); }

Status ProcessSpace::SetLastId(std::uint32_t id) {
  Result<std::uint32_t> answer = Ask(Question::kSetLast, id);
  return answer.ok() ? Status() : std::move(answer).status();
}

std::vector<pid_t> ProcessSpace::Orphans() const { return ChildrenOf(keeper_); }

Status ProcessSpace::Stop() {
  Result<std::uint32_t> answer = Ask(Question::kStop, 0);
  return answer.ok() ? Status() : std::move(answer).status();
}

Status ProcessSpace::Continue() {
  Result<std::uint32_t> answer = Ask(Question::kContinue, 0);
  return answer.ok() ? Status() : std::move(answer).status();
}

void ProcessSpace::End() {
  if (keeper_ <= 0) return;
  kill(keeper_, SIGKILL);
  // It is not gone before all others of the space are, and those who are children of ours have to
  // be reaped for that.
  pid_t ended;
  do ended = waitpid(-1, nullptr, 0);
  while (ended < 0 ? errno == EINTR : ended != keeper_);
  keeper_ = -1;
}

}  // namespace lamina::launcher
