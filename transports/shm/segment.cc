// SPDX-License-Identifier: BSD-3-Clause
#include "transports/shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::shm {

namespace {

using memory::WholePages;

Layout LayoutOf(const Address& address) {
  return {{address.cells, address.area_bytes}, address.rings_max};
}

// Fails if `remote` cannot be opened from here at all.
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

Result<std::unique_ptr<OwnSegment>> OwnSegment::Create(const Layout& layout) {
  Address address;
  if (Status status = FillMachine(&address); !status.ok()) return status;
  const std::size_t bytes = layout.SegmentBytes();
  Result<Descriptor> made = memory::MakeSealed("lamina-shm", bytes);
  if (!made.ok()) return std::move(made).status();
  Result<memory::SealedName> name = memory::NameOf(*made);
  if (!name.ok()) return std::move(name).status();
  Result<std::uint64_t> token = memory::RandomToken();
  if (!token.ok()) return std::move(token).status();
  Result<std::byte*> base = memory::MapShared(*made, 0, bytes);
  if (!base.ok()) return std::move(base).status();
  if (Status status = memory::Populate(*base, memory::kPageBytes); !status.ok()) {
    munmap(*base, bytes);
    return status;
  }

  address.pid = name->pid;
  address.descriptor = name->descriptor;
  address.inode = name->inode;
  address.token = *token;
  address.uid = geteuid();
  address.cells = layout.geometry.cells;
  address.area_bytes = layout.geometry.area_bytes;
  address.rings_max = layout.rings_max;
  std::unique_ptr<OwnSegment> segment(new OwnSegment(layout, *base, *std::move(made), address));
  SegmentHeader& header = segment->header();
  header.magic = kSegmentMagic;
  header.token = address.token;
  header.cells = address.cells;
  header.area_bytes = address.area_bytes;
  header.rings_max = address.rings_max;
  header.bell.pipe.store(-1, std::memory_order_relaxed);
  return segment;
}

OwnSegment::~OwnSegment() { munmap(base_, layout_.SegmentBytes()); }

void OwnSegment::Erase(std::uint32_t index) {
  std::memset(static_cast<void*>(&head(index)), 0, sizeof(Head));
  const std::size_t offset = layout_.RingOffset(index);
  if (fallocate(descriptor_.value(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(offset), static_cast<off_t>(layout_.RingStride())) != 0)
    std::memset(base_ + offset, 0, layout_.geometry.RingBytes());
}

Result<std::unique_ptr<PeerSegment>> PeerSegment::Open(const Address& remote,
                                                       transport::ProcessName self,
                                                       const Address& own) {
  if (Status status = CheckReachable(remote, own); !status.ok()) return status;
  const Layout layout = LayoutOf(remote);
  Result<Descriptor> opened = memory::OpenSealed(NameIn(remote), layout.SegmentBytes());
  if (!opened.ok()) {
    const bool refused = opened.status().code() == Code::kUnsupported;
    return std::move(opened).status().Within(
        refused ? Format("the memory of a process of user %u, which a process that gave up rights "
                         "can open only if it had sent this one a message before",
                         remote.uid)
                : std::string("its shared memory"));
  }
  Result<std::byte*> base = memory::MapShared(*opened, 0, layout.HeaderBytes());
  if (!base.ok()) return std::move(base).status();
  std::unique_ptr<PeerSegment> segment(new PeerSegment(layout, *base));
  const SegmentHeader& header = segment->header();
  if (header.magic != kSegmentMagic || header.token != remote.token ||
      header.cells != remote.cells || header.area_bytes != remote.area_bytes ||
      header.rings_max != remote.rings_max)
    return Error(Code::kInvalid, "segment of process %d does not match its address", remote.pid);
  if (Status status = segment->ClaimRing(*opened, self, own); !status.ok()) return status;
  return segment;
}

// Claims a new ring, or a freed one when all have been used.
Status PeerSegment::ClaimRing(const Descriptor& opened, transport::ProcessName self,
                              const Address& own) {
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

  Result<std::byte*> ring =
      memory::MapShared(opened, layout_.RingOffset(index_), layout_.RingStride());
  if (!ring.ok()) {
    claimed->state.store(RingState::kFree);
    return std::move(ring).status();
  }
  // The ring's own pages come as they are used, because most peers need none.
  if (Status status = memory::Populate(reinterpret_cast<std::byte*>(&head()), sizeof(Head));
      !status.ok()) {
    munmap(*ring, layout_.RingStride());
    claimed->state.store(RingState::kFree);
    return status;
  }
  ring_ = *ring;
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
