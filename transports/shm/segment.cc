// SPDX-License-Identifier: BSD-3-Clause
#include "transports/shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/text.h"

namespace lamina::shm {

namespace {

#ifndef MADV_POPULATE_WRITE  // Linux 5.14
#define MADV_POPULATE_WRITE 23
#endif

constexpr std::size_t kPageBytes = 4096;

std::size_t WholePages(std::size_t bytes) { return (bytes + kPageBytes - 1) & ~(kPageBytes - 1); }

std::string PathOf(std::int32_t pid, std::int32_t descriptor) {
  return Format("/proc/%d/fd/%d", pid, descriptor);
}

// Closes on scope exit.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

Status SizeSegment(int descriptor, std::size_t bytes) {
  // Asked first: growing a file beyond the limit would raise SIGXFSZ.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < bytes)
    return Error(Code::kResource,
                 "a segment of %zu bytes exceeds the file size limit of %llu bytes (ulimit -f)",
                 bytes, static_cast<unsigned long long>(limit.rlim_cur));
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0)
    return SystemError(Code::kResource, errno, "ftruncate(memfd, %zu bytes)", bytes);
  // Peers may rely on the size: nobody can make them fault by shrinking it.
  if (fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return SystemError(Code::kUnsupported, errno, "fcntl(memfd, F_ADD_SEALS)");
  return {};
}

Layout LayoutOf(const Address& address) {
  return {{address.cells, address.area_bytes}, address.rings_max};
}

// Whether `remote` can be opened from here at all.
Status CheckReachable(const Address& remote, const Address& own) {
  if (remote.boot_id != own.boot_id) return Error(Code::kUnsupported, "it is on another node");
  if (remote.pid_namespace != own.pid_namespace)
    return Error(Code::kUnsupported,
                 "it is in another pid namespace (%llu, ours is %llu), as in another container; "
                 "mpiexec --param transport.include=self,ucx has all ranks do without",
                 static_cast<unsigned long long>(remote.pid_namespace),
                 static_cast<unsigned long long>(own.pid_namespace));
  return {};
}

}  // namespace

std::size_t Layout::HeaderBytes() const {
  return WholePages(HeadsOffset() + std::size_t{rings_max} * sizeof(Head));
}
std::size_t Layout::RingStride() const { return WholePages(geometry.RingBytes()); }

Status Populate(std::byte* address, std::size_t bytes) {
  const std::size_t before = reinterpret_cast<std::uintptr_t>(address) % kPageBytes;
  if (madvise(address - before, before + bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL)
    return {};
  return SystemError(Code::kResource, errno, "%zu bytes of shared memory", bytes);
}

bool Alive(std::int32_t pid, std::int32_t descriptor, std::uint64_t inode) {
  struct stat info;
  // A dead process has no descriptors, not even before it is waited for; a process that got its
  // number later has another file there.
  if (stat(PathOf(pid, descriptor).c_str(), &info) == 0) return info.st_ino == inode;
  return errno != ENOENT && errno != ESRCH;
}

Result<std::unique_ptr<OwnSegment>> OwnSegment::Create(const Layout& layout) {
  Address address;
  if (Status status = FillMachine(&address); !status.ok()) return status;
  Descriptor descriptor{memfd_create("lamina-shm", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (descriptor.value < 0) {
    const Code code = errno == ENOSYS ? Code::kUnsupported : Code::kResource;
    return SystemError(code, errno, "memfd_create");
  }
  const std::size_t bytes = layout.SegmentBytes();
  if (Status status = SizeSegment(descriptor.value, bytes); !status.ok()) return status;
  struct stat info;
  if (fstat(descriptor.value, &info) != 0) return SystemError(Code::kInternal, errno, "fstat");
  if (getrandom(&address.token, sizeof address.token, 0) != sizeof address.token)
    return SystemError(Code::kResource, errno, "getrandom");
  void* base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor.value, 0);
  if (base == MAP_FAILED)
    return SystemError(Code::kResource, errno, "mmap of a segment of %zu bytes", bytes);
  auto* start = static_cast<std::byte*>(base);
  if (Status status = Populate(start, kPageBytes); !status.ok()) {
    munmap(base, bytes);
    return status;
  }

  address.pid = getpid();
  address.descriptor = descriptor.value;
  address.uid = geteuid();
  address.cells = layout.geometry.cells;
  address.area_bytes = layout.geometry.area_bytes;
  address.rings_max = layout.rings_max;
  address.inode = info.st_ino;
  auto& header = *reinterpret_cast<SegmentHeader*>(start);
  header.magic = kSegmentMagic;
  header.token = address.token;
  header.cells = address.cells;
  header.area_bytes = address.area_bytes;
  header.rings_max = address.rings_max;
  header.bell.pipe.store(-1, std::memory_order_relaxed);
  std::unique_ptr<OwnSegment> segment(new OwnSegment(layout, start, descriptor.value, address));
  descriptor.value = -1;
  return segment;
}

OwnSegment::~OwnSegment() {
  munmap(base_, layout_.SegmentBytes());
  close(descriptor_);
}

void OwnSegment::Erase(std::uint32_t index) {
  std::memset(static_cast<void*>(&head(index)), 0, sizeof(Head));
  const std::size_t offset = layout_.RingOffset(index);
  if (fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(layout_.RingStride())) != 0)
    std::memset(base_ + offset, 0, layout_.geometry.RingBytes());
}

Result<std::unique_ptr<PeerSegment>> PeerSegment::Open(const Address& remote,
                                                       transport::ProcessName self,
                                                       const Address& own) {
  if (Status status = CheckReachable(remote, own); !status.ok()) return status;
  const std::string path = PathOf(remote.pid, remote.descriptor);
  const Descriptor descriptor{open(path.c_str(), O_RDWR | O_CLOEXEC)};
  if (descriptor.value < 0) {
    const int error = errno;
    if (error == ENOENT || error == ESRCH)
      return Error(Code::kPeerLost, "process %d is gone", remote.pid);
    const bool ours = error == EMFILE || error == ENFILE || error == ENOMEM;
    return SystemError(
        ours ? Code::kResource : Code::kUnsupported, error, "open(%s) of a process of user %u%s",
        path.c_str(), remote.uid,
        error == EACCES ? " (who gives up rights has to have spoken to it before)" : "");
  }
  const Layout layout = LayoutOf(remote);
  struct stat info;
  const int seals = fcntl(descriptor.value, F_GET_SEALS);
  if (fstat(descriptor.value, &info) != 0 || info.st_ino != remote.inode || seals < 0 ||
      (seals & F_SEAL_SHRINK) == 0)
    return Error(Code::kPeerLost, "process %d is gone (%s is another file)", remote.pid,
                 path.c_str());
  if (static_cast<std::size_t>(info.st_size) != layout.SegmentBytes())
    return Error(Code::kInvalid, "segment of process %d has %lld bytes, its address says %zu",
                 remote.pid, static_cast<long long>(info.st_size), layout.SegmentBytes());

  void* base =
      mmap(nullptr, layout.HeaderBytes(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.value, 0);
  if (base == MAP_FAILED)
    return SystemError(Code::kResource, errno, "mmap of %zu bytes of process %d",
                       layout.HeaderBytes(), remote.pid);
  std::unique_ptr<PeerSegment> segment(new PeerSegment(layout, static_cast<std::byte*>(base)));
  const SegmentHeader& header = segment->header();
  if (header.magic != kSegmentMagic || header.token != remote.token ||
      header.cells != remote.cells || header.area_bytes != remote.area_bytes ||
      header.rings_max != remote.rings_max)
    return Error(Code::kInvalid, "segment of process %d does not match its address", remote.pid);
  if (Status status = segment->ClaimRing(descriptor.value, self, own); !status.ok()) return status;
  return segment;
}

// New rings first; freed ones when those are used up.
Status PeerSegment::ClaimRing(int descriptor, transport::ProcessName self, const Address& own) {
  SegmentHeader& segment = header();
  RingEntry* claimed = nullptr;
  index_ = layout_.rings_max;
  if (segment.rings_claimed.load() < layout_.rings_max) index_ = segment.rings_claimed.fetch_add(1);
  if (index_ < layout_.rings_max) {
    claimed = &entry(index_);
    claimed->state.store(RingState::kClaimed);
  }
  for (std::uint32_t i = 0; claimed == nullptr && i < layout_.rings_max; ++i) {
    RingState expected = RingState::kFree;
    if (!entry(i).state.compare_exchange_strong(expected, RingState::kClaimed)) continue;
    claimed = &entry(i);
    index_ = i;
  }
  if (claimed == nullptr)
    return Error(Code::kResource,
                 "all %u rings of the peer's segment are taken (transport.shm.rings_spare)",
                 layout_.rings_max);

  void* ring = mmap(nullptr, layout_.RingStride(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                    static_cast<off_t>(layout_.RingOffset(index_)));
  if (ring == MAP_FAILED) {
    const int error = errno;
    claimed->state.store(RingState::kFree);
    return SystemError(Code::kResource, error, "mmap of a ring of %zu bytes", layout_.RingStride());
  }
  // The ring's own pages come as they are used: most peers need none.
  if (Status status = Populate(reinterpret_cast<std::byte*>(&head()), sizeof(Head)); !status.ok()) {
    munmap(ring, layout_.RingStride());
    claimed->state.store(RingState::kFree);
    return status;
  }
  ring_ = static_cast<std::byte*>(ring);
  claimed->pid = own.pid;
  claimed->writer = self;
  claimed->descriptor = own.descriptor;
  claimed->inode = own.inode;
  claimed->opening = segment.openings.fetch_add(1);
  claimed->state.store(RingState::kOpen, std::memory_order_release);
  segment.changes.fetch_add(1, std::memory_order_release);
  return {};
}

PeerSegment::~PeerSegment() {
  if (ring_ != nullptr) {
    munmap(ring_, layout_.RingStride());
    entry(index_).state.store(RingState::kClosed, std::memory_order_release);
    header().changes.fetch_add(1, std::memory_order_release);
  }
  munmap(base_, layout_.HeaderBytes());
}

}  // namespace lamina::shm
