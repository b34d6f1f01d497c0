// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/store/claim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/store/folder.h"
#include "runtime/base/patience.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint {
namespace {

constexpr const char* kLockName = "lock";

// Returns what the kernel calls this machine.
std::string OwnName() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// An NFS server locks only what is open for writing.
Descriptor OpenLock(int directory, int create) {
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Descriptor file(openat(directory, kLockName, O_RDWR | create | kFlags, 0600));
  if (file.value() >= 0) return file;
  return Descriptor(openat(directory, kLockName, O_RDONLY | kFlags));
}

// Says in the file who holds its lock, in "4711 node7" and the end of a line.
void Sign(const Descriptor& lock) {
  const std::string text = Format("%d %s\n", getpid(), OwnName().c_str());
  if (ftruncate(lock.value(), 0) == 0 &&
      pwrite(lock.value(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    static_cast<void>(!ftruncate(lock.value(), 0));  // half of it would be wrong
}

// Returns " (mpiexec 4711 on node7)", or nothing if that is not known. What somebody who died has
// left there does not count, and process 1 is the first of a namespace, which has no other number
// inside.
std::string Holder(const Descriptor& lock) {
  char text[HOST_NAME_MAX + 32];
  const ssize_t bytes = pread(lock.value(), text, sizeof text, 0);
  if (bytes <= 0) return "";
  const std::vector<std::string_view> words =
      Split(std::string_view(text, static_cast<std::size_t>(bytes)), '\n');
  const std::size_t blank = words.front().find(' ');
  if (words.size() != 2 || blank == std::string_view::npos) return "";
  const auto process = ParseInteger(words.front().substr(0, blank));
  const std::string host(words.front().substr(blank + 1));
  if (!process || *process < 2 || *process > INT_MAX) return "";
  if (host == OwnName() && kill(static_cast<pid_t>(*process), 0) != 0 && errno == ESRCH) return "";
  return Format(" (mpiexec %d on %s)", static_cast<int>(*process), host.c_str());
}

}  // namespace

Status Claim::Take(const std::string& path, std::uint64_t patience_ms, Lock lock) {
  if (lock_.value() >= 0) return {};
  const Result<Descriptor> directory = OpenStore(path);
  if (!directory.ok()) return {};
  Descriptor file = OpenLock(directory->value(), lock == Lock::kMade ? O_CREAT : 0);
  if (file.value() < 0) return {};
  Patience patience(patience_ms);
  while (flock(file.value(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return {};
    if (patience.NextMs() == 0)
      return Error(Code::kExists,
                   "another job saves its states in %s%s; wait until it ends, end it, or give "
                   "another --checkpoint-dir",
                   path.c_str(), Holder(file).c_str());
    poll(nullptr, 0, kClaimAgainMs);
  }
  Sign(file);
  lock_ = std::move(file);
  return {};
}

void Claim::Release() {
  if (lock_.value() < 0) return;
  static_cast<void>(!ftruncate(lock_.value(), 0));
  const Descriptor closed = std::exchange(lock_, Descriptor());
}

int Claim::PassOn() {
  if (lock_.value() >= 0) fcntl(lock_.value(), F_SETFD, 0);
  return lock_.value();
}

void Claim::TakeOver(int descriptor, const std::string& path) {
  const Result<Descriptor> directory = OpenStore(path);
  struct stat passed {
  }, named{};
  if (!directory.ok() || fstat(descriptor, &passed) != 0 ||
      fstatat(directory->value(), kLockName, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
      passed.st_ino != named.st_ino || passed.st_dev != named.st_dev)
    return;
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  lock_ = Descriptor(descriptor);
}

}  // namespace lamina::checkpoint
