// SPDX-License-Identifier: BSD-3-Clause
#include "transports/shm/segment.h"

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
Status CheckReachable(const Address& remote, const Address& own, const NodeMemory* node) {
  if (remote.boot_id != own.boot_id) return Error(Code::kUnsupported, "it is on another node");
  if (node != nullptr && remote.inode == node->inode()) return {};
  if (!SharesNumbers(remote.pid_namespace, own))
    return Error(Code::kUnsupported,
                 "it is in another pid namespace (%llu, ours is %llu), as in another container, "
                 "and has no memory in common with us; mpiexec --param transport.include=self,ucx "
                 "has all ranks do without",
                 static_cast<unsigned long long>(remote.pid_namespace),
                 static_cast<unsigned long long>(own.pid_namespace));
  return {};
}

}  // namespace

std::size_t Layout::HeaderBytes() const {
  return WholePages(HeadsOffset() + std::size_t{rings_max} * sizeof(Head));
}
std::size_t Layout::RingStride() const { return WholePages(geometry.RingBytes()); }

Result<std::unique_ptr<OwnSegment>> OwnSegment::Create(const Layout& layout, NodeMemory* node) {
  Address address;
  if (Status status = FillMachine(&address); !status.ok()) return status;
  const std::size_t bytes = layout.SegmentBytes();
  Result<memory::MadeSealed> made = memory::MakeSealed("lamina-shm", bytes, node);
  if (!made.ok()) return std::move(made).status();
  Result<std::byte*> base = made->memory.Map(0, bytes);
  if (!base.ok()) return std::move(base).status();
  if (Status status = memory::Populate(*base, memory::kPageBytes); !status.ok()) {
    munmap(*base, bytes);
    return status;
  }

  address.pid = made->name.pid;
  address.descriptor = made->name.descriptor;
  address.inode = made->name.inode;
  address.offset = made->name.offset;
  address.token = made->token;
  address.uid = geteuid();
  address.cells = layout.geometry.cells;
  address.area_bytes = layout.geometry.area_bytes;
  address.rings_max = layout.rings_max;
  std::unique_ptr<OwnSegment> segment(
      new OwnSegment(layout, *base, std::move(made->memory), address));
  SegmentHeader& header = segment->header();
  header.magic = kSegmentMagic;
  header.token = address.token;
  header.cells = address.cells;
  header.area_bytes = address.area_bytes;
  header.rings_max = address.rings_max;
  header.bell.pipe.store(-1, std::memory_order_relaxed);
  return segment;
}

// The first page stays, because peers may still look into the header.
OwnSegment::~OwnSegment() {
  munmap(base_, layout_.SegmentBytes());
  if (memory_.in_node_memory())
    memory_.Erase(memory::kPageBytes, layout_.SegmentBytes() - memory::kPageBytes);
}

void OwnSegment::Erase(std::uint32_t index) {
  std::memset(static_cast<void*>(&head(index)), 0, sizeof(Head));
  const std::size_t offset = layout_.RingOffset(index);
  if (!memory_.Erase(offset, layout_.RingStride()))
    std::memset(base_ + offset, 0, layout_.geometry.RingBytes());
}

Result<std::unique_ptr<PeerSegment>> PeerSegment::Open(const Address& remote,
                                                       transport::ProcessName self,
                                                       const Address& own, NodeMemory* node) {
  if (Status status = CheckReachable(remote, own, node); !status.ok()) return status;
  const Layout layout = LayoutOf(remote);
  Result<memory::Sealed> opened =
      memory::OpenSealed(NameIn(remote, own), layout.SegmentBytes(), node);
  if (!opened.ok()) {
    const bool refused = opened.status().code() == Code::kUnsupported;
    return std::move(opened).status().Within(
        refused ? Format("the memory of a process of user %u, which a process that gave up rights "
                         "can open only if it had sent this one a message before",
                         remote.uid)
                : std::string("its shared memory"));
  }
  Result<std::byte*> base = opened->Map(0, layout.HeaderBytes());
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
Status PeerSegment::ClaimRing(const memory::Sealed& opened, transport::ProcessName self,
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

  Result<std::byte*> ring = opened.Map(layout_.RingOffset(index_), layout_.RingStride());
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
  claimed->pid_namespace = static_cast<std::uint32_t>(own.pid_namespace);
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
