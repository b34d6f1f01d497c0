// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/roster.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/base/anonymous_file.h"
#include "runtime/base/text.h"

namespace lamina {
namespace {

template <std::size_t Size>
void CopyText(std::string_view text, char (&to)[Size]) {
  std::memcpy(to, text.data(), std::min(text.size(), Size - 1));
}

Result<Roster*> Map(int fd, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return SystemError(Code::kResource, errno, "cannot map the roster");
  return static_cast<Roster*>(memory);
}

// True if `fd` is the whole roster of `job`. It may be anything, because descriptors are only
// numbers.
bool IsRoster(int fd, std::string_view job) {
  struct stat file;
  Roster head;
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
         pread(fd, &head, sizeof head, 0) == static_cast<ssize_t>(sizeof head) &&
         head.magic == Roster::kMagic &&
         job == std::string_view(head.job, strnlen(head.job, 255)) &&
         file.st_size == static_cast<off_t>(Roster::Bytes(head.ranks));
}

}  // namespace

Result<int> MakeRoster(std::string_view job, std::string_view node, std::uint32_t universe_ranks,
                       std::span<const std::uint32_t> apps) {
  Result<int> made = MakeAnonymousFile("lamina-roster");
  if (!made.ok()) return std::move(made).status().Within("cannot make the roster");
  const int fd = *made;
  const std::size_t bytes = Roster::Bytes(apps.size());
  Result<Roster*> mapped = nullptr;
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0)
    mapped = SystemError(Code::kResource, errno, "cannot size the roster");
  else
    mapped = Map(fd, bytes);
  if (!mapped.ok()) {
    close(fd);
    return std::move(mapped).status();
  }
  Roster* roster = *mapped;
  roster->magic = Roster::kMagic;
  roster->ranks = static_cast<std::uint32_t>(apps.size());
  roster->universe_ranks = universe_ranks;
  roster->pid_namespace = OwnPidNamespace();
  CopyText(job, roster->job);
  CopyText(node, roster->node);
  for (std::size_t rank = 0; rank < apps.size(); ++rank)
    if (apps[rank] != 0) roster->entries()[rank].app = apps[rank];
  munmap(roster, bytes);
  return fd;
}

std::uint32_t PidNamespaceOfProc() {
  char self[16] = "";
  const bool known = readlink("/proc/self", self, sizeof self - 1) > 0;
  return known && ParseInteger(self) == getpid() ? OwnPidNamespace() : 0;
}

std::uint32_t OwnPidNamespace() {
  struct stat file;
  return stat("/proc/self/ns/pid", &file) == 0 ? static_cast<std::uint32_t>(file.st_ino) : 0;
}

std::string RosterAssignment(int fd) {
  return Format("%s=%d:%d", kRosterVariable, static_cast<int>(getpid()), fd);
}

Result<Roster*> OpenRoster(std::string_view place, std::string_view job) {
  const std::size_t colon = place.find(':');
  const auto process = ParseInteger(place.substr(0, colon));
  const auto number = ParseInteger(colon == place.npos ? "" : place.substr(colon + 1));
  if (!process || !number || *process < 1 || *number < 0)
    return Error(Code::kInvalid, "%s=\"%s\" is not PROCESS:DESCRIPTOR", kRosterVariable,
                 std::string(place).c_str());
  int fd = static_cast<int>(*number);
  if (!IsRoster(fd, job)) {
    // A wrapper, for instance, may have closed the descriptor on the way here; its maker still has
    // it.
    const std::string path =
        Format("/proc/%lld/fd/%d", static_cast<long long>(*process), static_cast<int>(*number));
    fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return SystemError(Code::kNotFound, errno, "%s", path.c_str());
    if (!IsRoster(fd, job)) {
      close(fd);
      return Error(Code::kNotFound, "%s is not the roster of this job", path.c_str());
    }
  }
  struct stat file;
  fstat(fd, &file);
  Result<Roster*> roster = Map(fd, static_cast<std::size_t>(file.st_size));
  close(fd);
  return roster;
}

}  // namespace lamina
