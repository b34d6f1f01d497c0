// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/local/guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launcher/plan/control_group.h"
#include "launcher/spawn/local/tuning.h"
#include "runtime/base/check.h"

namespace lamina::launcher::local {
namespace {

// Everything below runs in the forked guard. The process it was forked from may have threads, so it
// uses system calls and its own static memory only.
constexpr int kLifeline = 0;
constexpr std::size_t kMarkBytesMax = 128;

struct Watchman {
  char mark[kMarkBytesMax];
  std::size_t mark_bytes;
  std::atomic<pid_t>* groups;
  std::size_t groups_count;
  std::uint64_t start;  // of the guard
  char entries[32768];
  char environment[65536 + kMarkBytesMax];
};

enum class Mark { kNone, kCarried, kNothingToRead };

// Looks for the mark in an environment, by the path of its file.
Mark MarkIn(Watchman* watchman, const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  // A process without memory has nothing to read there, or, since Linux 6.13, nothing to open.
  if (fd < 0) return errno == ESRCH ? Mark::kNothingToRead : Mark::kNone;
  Mark mark = Mark::kNothingToRead;
  std::size_t kept = 0;  // the tail of the last piece: the mark may lie across two
  for (;;) {
    const ssize_t bytes = read(fd, watchman->environment + kept, 65536);
    if (bytes <= 0) break;
    const std::size_t have = kept + static_cast<std::size_t>(bytes);
    mark = Mark::kNone;
    if (memmem(watchman->environment, have, watchman->mark, watchman->mark_bytes) != nullptr) {
      mark = Mark::kCarried;
      break;
    }
    kept = have < watchman->mark_bytes ? have : watchman->mark_bytes;
    std::memmove(watchman->environment, watchman->environment + have - kept, kept);
  }
  close(fd);
  return mark;
}

// What /proc says of a process: its parent, and when it started, in ticks since the machine did.
// One that is ending has lost its memory, and its environment with it, but may still be the parent
// of others; so is one whose first thread has ended while others go on.
struct Origin {
  pid_t parent = 0;
  long threads = 0;
  std::uint64_t start = 0;
  bool has_memory = false;
};

Origin OriginOf(pid_t process) {
  char path[64], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t bytes = read(fd, text, sizeof text - 1);
  close(fd);
  if (bytes <= 0) return {};
  text[bytes] = 0;
  // The name may hold anything. Behind it are a letter, the parent, and, further on, the number of
  // threads, the start and the size of the memory (proc(5)).
  const char* const name_end = std::strrchr(text, ')');
  if (name_end == nullptr || std::strlen(name_end) < 5) return {};
  Origin origin;
  origin.parent = static_cast<pid_t>(std::strtol(name_end + 4, nullptr, 10));
  const char* field = name_end + 1;
  for (int number = 3; number <= 23 && field != nullptr;
       ++number, field = std::strchr(field, ' ')) {
    ++field;
    if (number == 20) origin.threads = std::strtol(field, nullptr, 10);
    if (number == 22) origin.start = std::strtoull(field, nullptr, 10);
    if (number == 23) origin.has_memory = *field != '0';
  }
  return origin;
}

struct DirectoryEntry {  // linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};

bool CarriesMark(Watchman* watchman, pid_t process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/environ", process);
  if (const Mark mark = MarkIn(watchman, path); mark != Mark::kNothingToRead)
    return mark == Mark::kCarried;
  const Origin origin = OriginOf(process);
  if (origin.has_memory || origin.threads < 2) return false;
  // The first thread has ended. The others still have the environment.
  std::snprintf(path, sizeof path, "/proc/%d/task", process);
  const int tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return false;
  alignas(DirectoryEntry) char entries[1024];
  const long bytes = syscall(SYS_getdents64, tasks, entries, sizeof entries);
  close(tasks);
  for (long at = 0; at < bytes;) {
    const auto* entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
    at += entry->bytes;
    const int task = std::atoi(entry->name);
    if (task == 0) continue;
    std::snprintf(path, sizeof path, "/proc/%d/task/%d/environ", process, task);
    if (MarkIn(watchman, path) == Mark::kCarried) return true;
  }
  return false;
}

// True of the processes of a job that somebody has revived from a checkpoint: they carry the mark
// as the old ones did, but descend from a launcher that is younger than this guard and does not.
// A process without memory tells nothing: it may be one of the old job's that is just ending.
// Orphans of the old job descend from its own processes and from what was there before.
bool IsRevived(Watchman* watchman, pid_t process) {
  for (int level = 0; level < kAncestorsMax; ++level) {
    process = OriginOf(process).parent;
    if (process <= 1) return false;
    const Origin origin = OriginOf(process);
    if (origin.has_memory && origin.start > watchman->start && !CarriesMark(watchman, process))
      return true;
  }
  return false;
}

// Kills every process with the mark and returns how many there were.
int KillMarked(Watchman* watchman) {
  const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return 0;
  int killed = 0;
  for (;;) {
    const long bytes = syscall(SYS_getdents64, proc, watchman->entries, sizeof watchman->entries);
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(watchman->entries + at);
      at += entry->bytes;
      pid_t process = 0;
      for (const char* digit = entry->name; *digit >= '0' && *digit <= '9'; ++digit)
        process = process * 10 + (*digit - '0');
      if (process <= 1 || !CarriesMark(watchman, process)) continue;
      if (IsRevived(watchman, process)) continue;
      if (kill(process, SIGKILL) == 0) ++killed;
    }
  }
  close(proc);
  return killed;
}

// The id that the kernel has given to a process or a thread last; -1 if it does not say.
int LastProcess() {
  const int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char text[128];
  const ssize_t bytes = read(fd, text, sizeof text);
  close(fd);
  int last = 0;
  for (ssize_t i = 0; i < bytes; ++i) {
    if (text[i] == ' ') last = 0;
    if (text[i] >= '0' && text[i] <= '9') last = last * 10 + (text[i] - '0');
  }
  return bytes > 0 ? last : -1;
}

// Looks at all processes, and returns whether none is left for certain. A process that forks and
// ends after the list was made, and before its turn, has hidden its child; so nobody may have been
// born meanwhile.
bool NoneLeft(Watchman* watchman) {
  const int last = LastProcess();
  return KillMarked(watchman) == 0 && LastProcess() == last;
}

[[noreturn]] void StandGuard(Watchman* watchman) {
  prctl(PR_SET_NAME, "mpiexec-guard");
  setpgid(0, 0);  // a signal to the launcher's group is not for the guard
  watchman->start = OriginOf(getpid()).start;
  pollfd line{kLifeline, 0, 0};
  while (poll(&line, 1, -1) < 0 && errno == EINTR) continue;
  for (std::size_t i = 0; i < watchman->groups_count; ++i)
    if (const pid_t group = watchman->groups[i].load(std::memory_order_acquire); group > 1)
      kill(-group, SIGKILL);
  // A process that is just executing a program has no environment for a moment, hence twice.
  int clean = 0;
  for (int round = 0; round < kSweepRounds && clean < 2; ++round) {
    if (round > 0) poll(nullptr, 0, kSweepRoundMs);
    clean = NoneLeft(watchman) ? clean + 1 : 0;
  }
  _exit(0);
}

}  // namespace

Result<std::unique_ptr<Guard>> Guard::Post(const std::string& mark, std::size_t groups_max) {
  CHECK(mark.size() >= 16 && mark.size() < kMarkBytesMax);
  static Watchman watchman;
  std::unique_ptr<Guard> guard(new Guard);
  guard->groups_count_ = groups_max;
  void* shared = mmap(nullptr, groups_max * sizeof(pid_t), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int line[2];
  if (shared == MAP_FAILED || pipe2(line, O_CLOEXEC) != 0)
    return SystemError(Code::kResource, errno, "cannot make the guard's pipe");
  guard->groups_ = static_cast<std::atomic<pid_t>*>(shared);
  std::memcpy(watchman.mark, mark.data(), mark.size());
  watchman.mark_bytes = mark.size();
  watchman.groups = guard->groups_;
  watchman.groups_count = groups_max;

  guard->process_ = fork();
  if (guard->process_ == 0) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    // The guard holds nothing open that somebody might wait for, above all the user's pipes.
    if (dup2(line[0], kLifeline) != kLifeline) _exit(1);
    close_range(kLifeline + 1, ~0u, 0);
    StandGuard(&watchman);
  }
  const int error = errno;
  if (guard->process_ > 0) setpgid(guard->process_, guard->process_);  // whoever comes first
  close(line[0]);
  guard->lifeline_ = line[1];
  if (guard->process_ < 0) return ProcessError(error, "cannot fork the guard");
  return guard;
}

Guard::~Guard() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  if (lifeline_ >= 0) close(lifeline_);
  if (groups_ != nullptr) munmap(groups_, groups_count_ * sizeof(pid_t));
}

void Guard::Watch(pid_t group) {
  for (std::size_t i = 0; i < groups_count_; ++i)
    if (groups_[i].load(std::memory_order_relaxed) == 0)
      return groups_[i].store(group, std::memory_order_release);
}

void Guard::Forget(pid_t group) {
  for (std::size_t i = 0; i < groups_count_; ++i)
    if (groups_[i].load(std::memory_order_relaxed) == group)
      return groups_[i].store(0, std::memory_order_release);
}

}  // namespace lamina::launcher::local
