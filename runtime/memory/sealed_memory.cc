// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/memory/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/text.h"

namespace lamina::memory {
namespace {

#ifndef MADV_POPULATE_WRITE  // Linux 5.14
#define MADV_POPULATE_WRITE 23
#endif

Status SizeAndSeal(int descriptor, std::size_t bytes) {
  // The limit is asked for first, because growing a file beyond it would raise SIGXFSZ.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < bytes)
    return Error(Code::kResource,
                 "%zu bytes of shared memory exceed the file size limit of %llu bytes (ulimit -f)",
                 bytes, static_cast<unsigned long long>(limit.rlim_cur));
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0)
    return SystemError(Code::kResource, errno, "ftruncate(memfd, %zu bytes)", bytes);
  if (fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return SystemError(Code::kUnsupported, errno, "fcntl(memfd, F_ADD_SEALS)");
  return {};
}

Code CodeOfOpen(int error) {
  if (error == ENOENT || error == ESRCH) return Code::kPeerLost;
  const bool ours = error == EMFILE || error == ENFILE || error == ENOMEM;
  return ours ? Code::kResource : Code::kUnsupported;
}

}  // namespace

std::string DescriptorPath(std::int32_t pid, std::int32_t descriptor) {
  return Format("/proc/%d/fd/%d", pid, descriptor);
}

Result<Descriptor> MakeSealed(const char* label, std::size_t bytes) {
  Descriptor made(memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (made.value() < 0)
    return SystemError(errno == ENOSYS ? Code::kUnsupported : Code::kResource, errno,
                       "memfd_create");
  if (Status status = SizeAndSeal(made.value(), bytes); !status.ok()) return status;
  return made;
}

Result<SealedName> NameOf(const Descriptor& own) {
  struct stat info;
  if (fstat(own.value(), &info) != 0) return SystemError(Code::kInternal, errno, "fstat");
  return SealedName{getpid(), own.value(), info.st_ino};
}

Result<Descriptor> OpenSealed(const SealedName& name, std::size_t bytes) {
  const std::string path = DescriptorPath(name.pid, name.descriptor);
  Descriptor opened(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (opened.value() < 0) return SystemError(CodeOfOpen(errno), errno, "open(%s)", path.c_str());
  struct stat info;
  const int seals = fcntl(opened.value(), F_GET_SEALS);
  if (fstat(opened.value(), &info) != 0 || info.st_ino != name.inode || seals < 0 ||
      (seals & F_SEAL_SHRINK) == 0)
    return Error(Code::kPeerLost, "process %d is gone (%s is another file)", name.pid,
                 path.c_str());
  if (static_cast<std::size_t>(info.st_size) != bytes)
    return Error(Code::kInvalid, "%s has %lld bytes instead of %zu", path.c_str(),
                 static_cast<long long>(info.st_size), bytes);
  return opened;
}

Result<std::byte*> MapShared(const Descriptor& descriptor, std::size_t offset, std::size_t bytes) {
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                          descriptor.value(), static_cast<off_t>(offset));
  if (base == MAP_FAILED)
    return SystemError(Code::kResource, errno, "mmap of %zu bytes of shared memory", bytes);
  return static_cast<std::byte*>(base);
}

Status Populate(std::byte* address, std::size_t bytes) {
  const std::size_t before = reinterpret_cast<std::uintptr_t>(address) % kPageBytes;
  if (madvise(address - before, before + bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL)
    return {};
  return SystemError(Code::kResource, errno, "%zu bytes of shared memory", bytes);
}

Result<std::uint64_t> RandomToken() {
  std::uint64_t token = 0;
  while (token == 0)
    if (getrandom(&token, sizeof token, 0) != sizeof token)
      return SystemError(Code::kResource, errno, "getrandom");
  return token;
}

// A process that has ended holds no descriptors, even before it is waited for. A process that got
// its number later has another file there.
bool IsHeld(const SealedName& name) {
  struct stat info;
  if (stat(DescriptorPath(name.pid, name.descriptor).c_str(), &info) == 0)
    return info.st_ino == name.inode;
  return errno != ENOENT && errno != ESRCH;
}

// A process that has ended has no program.
bool IsRunning(std::int32_t pid) {
  char target[1];
  return readlink(Format("/proc/%d/exe", pid).c_str(), target, sizeof target) >= 0 ||
         (errno != ENOENT && errno != ESRCH);
}

}  // namespace lamina::memory
