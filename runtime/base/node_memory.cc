// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/node_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/base/anonymous_file.h"
#include "runtime/base/text.h"

namespace lamina {
namespace {

// Address space is all that this costs. File systems other than tmpfs take less than the first.
constexpr std::uint64_t kBytes[] = {std::uint64_t{1} << 46, std::uint64_t{1} << 43};
constexpr std::uint64_t kBytesMin = 1u << 20;

// The limit is asked for first, because growing a file beyond it would raise SIGXFSZ.
std::uint64_t BytesAllowed() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur & ~std::uint64_t{4095};
}

Status Size(int fd) {
  const std::uint64_t allowed = BytesAllowed();
  if (allowed < kBytesMin)
    return Error(Code::kResource, "the file size limit (ulimit -f) is %llu bytes",
                 static_cast<unsigned long long>(allowed));
  for (const std::uint64_t bytes : kBytes)
    if (ftruncate(fd, static_cast<off_t>(std::min(bytes, allowed))) == 0) return {};
  return SystemError(Code::kResource, errno, "ftruncate");
}

void* MapFile(int fd, std::uint64_t offset, std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
              static_cast<off_t>(offset));
}

// True if `fd` is the memory of `job`. It may be anything, because descriptors are only numbers.
bool IsNodeMemory(int fd, std::string_view job) {
  NodeMemoryHead head;
  return pread(fd, &head, sizeof head, 0) == static_cast<ssize_t>(sizeof head) &&
         head.magic == NodeMemoryHead::kMagic &&
         job == std::string_view(head.job, strnlen(head.job, sizeof head.job - 1));
}

struct Place {
  std::int64_t process, descriptor;
};

Result<Place> ParsePlace(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto process = ParseInteger(text.substr(0, colon));
  const auto number = ParseInteger(colon == text.npos ? "" : text.substr(colon + 1));
  if (!process || !number || *process < 1 || *number < 0 || *number > INT32_MAX)
    return Error(Code::kInvalid, "%s=\"%s\" is not PROCESS:DESCRIPTOR", kNodeMemoryVariable,
                 std::string(text).c_str());
  return Place{*process, *number};
}

// A wrapper, for instance, may have closed the inherited descriptor; its maker still has it.
Result<int> OpenAtMaker(const Place& place) {
  const std::string path = Format("/proc/%lld/fd/%lld", static_cast<long long>(place.process),
                                  static_cast<long long>(place.descriptor));
  const int fd = OutOfTheWay(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (fd < 0) return SystemError(Code::kNotFound, errno, "%s", path.c_str());
  return fd;
}

}  // namespace

Result<int> MakeNodeMemory(std::string_view job) {
  Result<int> made = MakeAnonymousFile("lamina-node");
  if (!made.ok()) return made;
  NodeMemoryHead head{};
  head.magic = NodeMemoryHead::kMagic;
  head.taken = NodeMemoryHead::kBytes;
  std::memcpy(head.job, job.data(), std::min(job.size(), sizeof head.job - 1));
  Status status = Size(*made);
  if (status.ok() && pwrite(*made, &head, sizeof head, 0) != static_cast<ssize_t>(sizeof head))
    status = SystemError(Code::kResource, errno, "pwrite");
  if (!status.ok()) {
    close(*made);
    return status;
  }
  // A file that is no memfd has no seals.
  fcntl(*made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return made;
}

std::string NodeMemoryAssignment(int fd) {
  return Format("%s=%d:%d", kNodeMemoryVariable, static_cast<int>(getpid()), fd);
}

Result<std::unique_ptr<NodeMemory>> NodeMemory::Open(std::string_view text, std::string_view job) {
  Result<Place> place = ParsePlace(text);
  if (!place.ok()) return std::move(place).status();
  int fd = static_cast<int>(place->descriptor);
  if (!IsNodeMemory(fd, job)) {
    Result<int> opened = OpenAtMaker(*place);
    if (!opened.ok()) return std::move(opened).status();
    fd = *opened;
    if (!IsNodeMemory(fd, job)) {
      close(fd);
      return Error(Code::kNotFound, "%s=%s leads to no memory of this job", kNodeMemoryVariable,
                   std::string(text).c_str());
    }
  }
  struct stat file;
  void* const head = MapFile(fd, 0, NodeMemoryHead::kBytes);
  if (head == MAP_FAILED || fstat(fd, &file) != 0) {
    Status status = SystemError(Code::kResource, errno, "cannot map the memory of the node");
    close(fd);
    return status;
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return std::unique_ptr<NodeMemory>(new NodeMemory(text, fd, file.st_ino,
                                                    static_cast<std::uint64_t>(file.st_size),
                                                    static_cast<NodeMemoryHead*>(head)));
}

NodeMemory::~NodeMemory() {
  munmap(head_, NodeMemoryHead::kBytes);
  if (IsOpen()) close(fd_);
}

// A program may close descriptors that it does not know, and open others under their numbers.
bool NodeMemory::IsOpen() const {
  struct stat file;
  return fstat(fd_, &file) == 0 && file.st_ino == inode_ && file.st_nlink == 0;
}

Status NodeMemory::Reopen() {
  Result<Place> place = ParsePlace(place_);
  if (!place.ok()) return std::move(place).status();
  Result<int> opened = OpenAtMaker(*place);
  if (!opened.ok())
    return std::move(opened).status().Within(
        "the program has closed a descriptor that it had inherited");
  fd_ = *opened;
  if (!IsOpen()) return Error(Code::kResource, "the memory of the node has gone");
  return {};
}

Result<std::uint64_t> NodeMemory::Take(std::size_t bytes) {
  const std::uint64_t offset = head_->taken.fetch_add(bytes, std::memory_order_relaxed);
  if (offset + bytes <= bytes_) return offset;
  return Error(Code::kResource,
               "%zu bytes of shared memory exceed the %llu bytes that mpiexec made for the node, "
               "which a file size limit (ulimit -f) may have kept small",
               bytes, static_cast<unsigned long long>(bytes_));
}

bool NodeMemory::Erase(std::uint64_t offset, std::size_t bytes) {
  return IsOpen() && fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                               static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
}

Result<std::byte*> NodeMemory::Map(std::uint64_t offset, std::size_t bytes) {
  if (offset > bytes_ || bytes > bytes_ - offset)
    return Error(Code::kInvalid, "%zu bytes at %llu are not in the memory of the node", bytes,
                 static_cast<unsigned long long>(offset));
  if (!IsOpen())
    if (Status status = Reopen(); !status.ok()) return status;
  void* const base = MapFile(fd_, offset, bytes);
  if (base == MAP_FAILED)
    return SystemError(Code::kResource, errno, "mmap of %zu bytes of shared memory", bytes);
  return static_cast<std::byte*>(base);
}

}  // namespace lamina
