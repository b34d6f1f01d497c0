// SPDX-License-Identifier: BSD-3-Clause
// Files of the operating system, by system calls on one descriptor.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "runtime/io/open_file.h"

namespace lamina::io {
namespace {

// Linux moves at most about this many bytes in a call (read(2), NOTES).
constexpr std::int64_t kCallBytesMax = 0x7ffff000;
// Zeros are written in pieces of this size where a file system cannot reserve room.
constexpr std::int64_t kZerosBytes = 1 << 20;

class SystemFile final : public OpenFile {
 public:
  SystemFile(int descriptor, bool seekable) : descriptor_(descriptor), seekable_(seekable) {}
  ~SystemFile() override { static_cast<void>(SystemFile::Close()); }

  Moved ReadAt(std::int64_t offset, std::span<std::byte> into) override {
    Moved moved;
    const auto wanted = static_cast<std::int64_t>(into.size());
    while (moved.bytes < wanted) {
      const auto bytes = static_cast<std::size_t>(std::min(kCallBytesMax, wanted - moved.bytes));
      std::byte* const at = into.data() + moved.bytes;
      const ssize_t got = seekable_ ? pread(descriptor_, at, bytes, offset + moved.bytes)
                                    : read(descriptor_, at, bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) moved.error_number = errno;
      if (got <= 0) break;
      moved.bytes += got;
    }
    return moved;
  }

  // A write that moves nothing without an error would go on for ever; the next one names the error.
  Moved WriteAt(std::int64_t offset, std::span<const std::byte> from) override {
    Moved moved;
    const auto wanted = static_cast<std::int64_t>(from.size());
    while (moved.bytes < wanted) {
      const auto bytes = static_cast<std::size_t>(std::min(kCallBytesMax, wanted - moved.bytes));
      const std::byte* const at = from.data() + moved.bytes;
      const ssize_t put = seekable_ ? pwrite(descriptor_, at, bytes, offset + moved.bytes)
                                    : write(descriptor_, at, bytes);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) {
        moved.error_number = put < 0 ? errno : EIO;
        break;
      }
      moved.bytes += put;
    }
    return moved;
  }

  int Size(std::int64_t* bytes) override {
    // On a network file system, the server is asked.
    struct statx about;
    if (statx(descriptor_, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &about) != 0)
      return errno;
    *bytes = static_cast<std::int64_t>(about.stx_size);
    return 0;
  }

  int Resize(std::int64_t bytes) override {
    while (ftruncate(descriptor_, bytes) != 0)
      if (errno != EINTR) return errno;
    return 0;
  }

  int Reserve(std::int64_t bytes) override {
    if (bytes == 0) return 0;
    for (;;) {
      if (fallocate(descriptor_, 0, 0, bytes) == 0) return 0;
      if (errno == EOPNOTSUPP) return AppendZeros(bytes);
      if (errno != EINTR) return errno;
    }
  }

  int Sync() override {
    while (fdatasync(descriptor_) != 0) {
      if (errno == EINVAL || errno == EROFS) return 0;  // there is no device behind it
      if (errno != EINTR) return errno;
    }
    return 0;
  }

  // A network file system looks at the server when a file is opened, and for the size when it is
  // asked for. The file is opened by its descriptor, because its name may belong to another one by
  // now.
  int Refresh() override {
    const int flags = fcntl(descriptor_, F_GETFL);
    if (flags < 0) return errno;
    char self[32];
    std::snprintf(self, sizeof self, "/proc/self/fd/%d", descriptor_);
    int anew = -1;
    do anew = open(self, flags | O_CLOEXEC);
    while (anew < 0 && errno == EINTR);
    if (anew < 0) return errno;
    const int error = dup3(anew, descriptor_, O_CLOEXEC) < 0 ? errno : 0;
    close(anew);
    std::int64_t size = 0;
    return error != 0 ? error : Size(&size);
  }

  int Lock(std::int64_t offset, std::int64_t bytes, bool exclusive) override {
    return SetLock(exclusive ? F_WRLCK : F_RDLCK, offset, bytes);
  }
  int Unlock(std::int64_t offset, std::int64_t bytes) override {
    return SetLock(F_UNLCK, offset, bytes);
  }

  int IsLocked(std::int64_t offset, std::int64_t bytes, bool* locked) override {
    struct flock lock = LockOf(F_WRLCK, offset, bytes);
    if (fcntl(descriptor_, F_OFD_GETLK, &lock) != 0) return errno;
    *locked = lock.l_type != F_UNLCK;
    return 0;
  }

  int Close() override {
    if (descriptor_ < 0) return 0;
    const int result = close(descriptor_);
    descriptor_ = -1;
    return result == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int AppendZeros(std::int64_t bytes) {
    std::int64_t size = 0;
    if (const int error = Size(&size); error != 0) return error;
    const std::vector<std::byte> zeros(
        static_cast<std::size_t>(std::clamp<std::int64_t>(bytes - size, 0, kZerosBytes)));
    while (size < bytes) {
      const std::int64_t length = std::min(bytes - size, kZerosBytes);
      const Moved moved = WriteAt(size, {zeros.data(), static_cast<std::size_t>(length)});
      if (moved.error_number != 0) return moved.error_number;
      size += moved.bytes;
    }
    return 0;
  }

  static struct flock LockOf(short type, std::int64_t offset, std::int64_t bytes) {
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = offset;
    lock.l_len = bytes;
    return lock;
  }

  int SetLock(short type, std::int64_t offset, std::int64_t bytes) {
    struct flock lock = LockOf(type, offset, bytes);
    while (fcntl(descriptor_, F_OFD_SETLKW, &lock) != 0)
      if (errno != EINTR) return errno;
    return 0;
  }

  int descriptor_;
  const bool seekable_;
};

}  // namespace

int OpenSystemFile(const std::string& path, int flags, unsigned permissions,
                   std::unique_ptr<OpenFile>* file, Identity* identity) {
  int descriptor = -1;
  do descriptor = open(path.c_str(), flags, permissions);
  while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return errno;
  const bool seekable = lseek(descriptor, 0, SEEK_CUR) >= 0;
  auto opened = std::make_unique<SystemFile>(descriptor, seekable);
  // On a network file system, the server is asked, so that reads reach to the file's end.
  struct statx about;
  const unsigned wanted = STATX_TYPE | STATX_INO | STATX_SIZE;
  if (statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, wanted, &about) != 0) return errno;
  if (S_ISDIR(about.stx_mode)) return EISDIR;
  struct statfs system;
  if (fstatfs(descriptor, &system) != 0) return errno;
  const auto device = makedev(about.stx_dev_major, about.stx_dev_minor);
  *identity = {device, about.stx_ino, seekable, static_cast<std::uint64_t>(system.f_type)};
  *file = std::move(opened);
  return 0;
}

}  // namespace lamina::io
