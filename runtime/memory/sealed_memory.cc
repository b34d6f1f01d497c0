// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/memory/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/anonymous_file.h"
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
    return SystemError(Code::kResource, errno, "ftruncate(%zu bytes of shared memory)", bytes);
  // What stands in for a memfd has no seals.
  fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return {};
}

// Sealed memory proves by such a number that it is the right one.
Result<std::uint64_t> RandomToken() {
  std::uint64_t token = 0;
  while (token == 0)
    if (getrandom(&token, sizeof token, 0) != sizeof token)
      return SystemError(Code::kResource, errno, "getrandom");
  return token;
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

Result<MadeSealed> MakeSealed(const char* label, std::size_t bytes, NodeMemory* node) {
  Result<std::uint64_t> token = RandomToken();
  if (!token.ok()) return std::move(token).status();
  if (node != nullptr)
    if (Result<std::uint64_t> offset = node->Take(WholePages(bytes)); offset.ok())
      return MadeSealed{
          Sealed(node, *offset), {getpid(), node->descriptor(), node->inode(), *offset}, *token};
  Result<int> made = MakeAnonymousFile(label);
  if (!made.ok()) return std::move(made).status();
  Descriptor own(*made);
  if (Status status = SizeAndSeal(own.value(), bytes); !status.ok()) return status;
  struct stat info;
  if (fstat(own.value(), &info) != 0) return SystemError(Code::kInternal, errno, "fstat");
  const SealedName name{getpid(), own.value(), info.st_ino, 0};
  return MadeSealed{Sealed(std::move(own), 0), name, *token};
}

Result<Sealed> OpenSealed(const SealedName& name, std::size_t bytes, NodeMemory* node) {
  if (node != nullptr && name.inode == node->inode()) return Sealed(node, name.offset);
  if (name.pid == 0)
    return Error(Code::kUnsupported, "its process has no number in this pid namespace");
  const std::string path = DescriptorPath(name.pid, name.descriptor);
  Descriptor opened(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (opened.value() < 0) return SystemError(CodeOfOpen(errno), errno, "open(%s)", path.c_str());
  struct stat info;
  if (fstat(opened.value(), &info) != 0 || info.st_ino != name.inode || info.st_nlink != 0)
    return Error(Code::kPeerLost, "process %d is gone (%s is another file)", name.pid,
                 path.c_str());
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (name.offset == 0 ? size != bytes : name.offset > size || bytes > size - name.offset)
    return Error(Code::kInvalid, "%s has %llu bytes instead of %zu", path.c_str(),
                 static_cast<unsigned long long>(size), bytes);
  return Sealed(std::move(opened), name.offset);
}

Result<std::byte*> Sealed::Map(std::size_t offset, std::size_t bytes) const {
  if (node_ != nullptr) return node_->Map(offset_ + offset, bytes);
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                          own_.value(), static_cast<off_t>(offset_ + offset));
  if (base == MAP_FAILED)
    return SystemError(Code::kResource, errno, "mmap of %zu bytes of shared memory", bytes);
  return static_cast<std::byte*>(base);
}

bool Sealed::Erase(std::size_t offset, std::size_t bytes) const {
  if (node_ != nullptr) return node_->Erase(offset_ + offset, bytes);
  return fallocate(own_.value(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                   static_cast<off_t>(offset_ + offset), static_cast<off_t>(bytes)) == 0;
}

Status Populate(std::byte* address, std::size_t bytes) {
  const std::size_t before = reinterpret_cast<std::uintptr_t>(address) % kPageBytes;
  if (madvise(address - before, before + bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL)
    return {};
  return SystemError(Code::kResource, errno, "%zu bytes of shared memory", bytes);
}

// A process that has ended holds no descriptors, even before it is waited for. A process that got
// its number later has another file there.
Maker AskAfter(const SealedName& name) {
  struct stat info;
  if (name.pid == 0) return Maker::kHidden;
  if (stat(DescriptorPath(name.pid, name.descriptor).c_str(), &info) == 0)
    return info.st_ino == name.inode ? Maker::kHolds : Maker::kHasGone;
  return errno == ENOENT || errno == ESRCH ? Maker::kHasGone : Maker::kHidden;
}

// A process that has ended has no program.
bool IsRunning(std::int32_t pid) {
  char target[1];
  return readlink(Format("/proc/%d/exe", pid).c_str(), target, sizeof target) >= 0 ||
         (errno != ENOENT && errno != ESRCH);
}

}  // namespace lamina::memory
