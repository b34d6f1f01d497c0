// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/anonymous_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace lamina {
namespace {

constexpr int kFirstFree = 3;  // the numbers below belong to the program

// Only what forbids memfd_create has another way; a limit would be met there as well.
bool IsForbidden(int error) { return error == EPERM || error == EACCES || error == ENOSYS; }

}  // namespace

int OutOfTheWay(int fd) {
  if (fd < 0 || fd >= kFirstFree) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree);
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

Result<int> MakeAnonymousFile(const char* label) {
  int fd = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) {
    const int error = errno;
    Status refused = SystemError(Code::kResource, error, "memfd_create(%s)", label);
    if (!IsForbidden(error)) return refused;
    std::string refusals(refused.message());
    for (const char* folder : {"/dev/shm", "/tmp"}) {
      fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
      if (fd >= 0) break;
      refused = SystemError(Code::kResource, errno, "%s", folder);
      refusals += "; no file in " + std::string(refused.message());
    }
    if (fd < 0) return Status(Code::kResource, std::move(refusals));
  }
  fd = OutOfTheWay(fd);
  if (fd < 0) return SystemError(Code::kResource, errno, "a descriptor for %s", label);
  return fd;
}

}  // namespace lamina
