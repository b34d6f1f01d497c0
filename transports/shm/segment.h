// SPDX-License-Identifier: BSD-3-Clause
// The memory that other processes of the node may write to: a header, a directory of rings, their
// heads, the rings.
//
// Each process has one segment of sealed memory (runtime/memory/sealed_memory.h), so memory grows
// with the peers spoken to. README.md has the layout.
//
// Ownership:  OwnSegment unmaps and closes when it is destroyed; peers keep their mappings.
// Allocation: at creation only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/base/node_memory.h"
#include "runtime/base/status.h"
#include "runtime/memory/sealed_memory.h"
#include "transports/shm/address.h"
#include "transports/shm/ring.h"
#include "transports/transport.h"

namespace lamina::shm {

// How a sleeper is woken. Whoever writes a frame reads `sleeping` afterwards; see bell.h.
struct alignas(kLineBytes) Doorbell {
  std::atomic<std::uint32_t> sleeping;  // 0, or how the owner sleeps: kOnWord, kOnPipe
  std::atomic<std::uint32_t> word;      // changes with every ring
  std::atomic<std::int32_t> pipe;       // the owner's descriptor of the pipe's write end
  // Some writer cannot open that descriptor, so the owner must not sleep on the pipe.
  std::atomic<std::uint32_t> pipe_is_hidden;
};

// Life of one ring. Writers claim (kUnused or kFree -> kClaimed -> kOpen) and close; the owner
// empties a closed ring and frees it.
enum class RingState : std::uint32_t { kUnused, kClaimed, kOpen, kClosed, kFree };

struct alignas(kLineBytes) RingEntry {
  std::atomic<RingState> state;
  std::int32_t pid;  // the writer, whose death is to be noticed
  transport::ProcessName writer;
  std::int32_t descriptor;      // of the writer's own segment: /proc/pid/fd/descriptor
  std::uint32_t pid_namespace;  // in which the writer has that number
  std::uint64_t inode;          // of the file that the writer's own segment is in
  std::uint64_t opening;        // the number of this opening among all of this segment
};

struct SegmentHeader {
  std::uint64_t magic;
  std::uint64_t token;  // as on the card: proves that the descriptor is still this segment
  std::uint32_t cells;
  std::uint32_t area_bytes;
  std::uint32_t rings_max;
  std::uint32_t reserved;
  std::atomic<std::uint32_t> leaving;        // the owner reads no more, in good order
  std::atomic<std::uint32_t> writers_fence;  // the owner does not fence for them; see bell.h
  std::atomic<std::uint32_t> copying;        // the owner is copying a long message; see joint.h

  alignas(kLineBytes) std::atomic<std::uint32_t> rings_claimed;  // may exceed rings_max
  std::atomic<std::uint32_t> changes;  // how often a ring was opened or closed
  std::atomic<std::uint64_t> openings;
  Doorbell bell;
};
inline constexpr std::uint64_t kSegmentMagic = 0x33676573'6d68736cull;  // "lshmseg3"

// Where things lie in a segment of this shape.
struct Layout {
  Geometry geometry;
  std::uint32_t rings_max = 0;

  std::size_t DirectoryOffset() const { return kLineBytes * 8; }
  std::size_t HeadsOffset() const { return DirectoryOffset() + rings_max * sizeof(RingEntry); }
  std::size_t HeaderBytes() const;  // header, directory and heads, whole pages
  std::size_t RingStride() const;   // whole pages
  std::size_t RingOffset(std::uint32_t index) const { return HeaderBytes() + RingStride() * index; }
  std::size_t SegmentBytes() const { return RingOffset(rings_max); }
};
static_assert(sizeof(SegmentHeader) <= kLineBytes * 8);

class OwnSegment {
 public:
  // `node` may be null and must outlive the segment. kResource names what ran out and how much was
  // asked for; kUnsupported: no /proc.
  static Result<std::unique_ptr<OwnSegment>> Create(const Layout& layout, NodeMemory* node);
  ~OwnSegment();
  OwnSegment(const OwnSegment&) = delete;
  OwnSegment& operator=(const OwnSegment&) = delete;

  SegmentHeader& header() { return *reinterpret_cast<SegmentHeader*>(base_); }
  RingEntry& entry(std::uint32_t index) {
    return reinterpret_cast<RingEntry*>(base_ + layout_.DirectoryOffset())[index];
  }
  Head& head(std::uint32_t index) {
    return reinterpret_cast<Head*>(base_ + layout_.HeadsOffset())[index];
  }
  std::byte* ring(std::uint32_t index) { return base_ + layout_.RingOffset(index); }
  const Layout& layout() const { return layout_; }
  // What peers need to open it. `probe_address` and uid are filled in by the transport.
  const Address& address() const { return address_; }
  // Gives the memory of a ring back to the kernel; it and its head read as zeros afterwards.
  void Erase(std::uint32_t index);

 private:
  OwnSegment(const Layout& layout, std::byte* base, memory::Sealed memory, const Address& address)
      : layout_(layout), base_(base), memory_(std::move(memory)), address_(address) {}

  const Layout layout_;
  std::byte* const base_;
  const memory::Sealed memory_;
  const Address address_;
};

// A peer's header, directory and heads, and one ring of it that is ours to write.
class PeerSegment {
 public:
  // `node` is what this process's own segment was made with. kUnsupported: other node, other pid
  // namespace, not permitted; the message says which. kPeerLost: the process is gone. kResource:
  // its rings, or our memory, ran out.
  static Result<std::unique_ptr<PeerSegment>> Open(const Address& remote,
                                                   transport::ProcessName self, const Address& own,
                                                   NodeMemory* node);
  ~PeerSegment();  // closes the ring
  PeerSegment(const PeerSegment&) = delete;
  PeerSegment& operator=(const PeerSegment&) = delete;

  SegmentHeader& header() { return *reinterpret_cast<SegmentHeader*>(base_); }
  Head& head() { return reinterpret_cast<Head*>(base_ + layout_.HeadsOffset())[index_]; }
  std::byte* ring() { return ring_; }
  const Geometry& geometry() const { return layout_.geometry; }

 private:
  PeerSegment(const Layout& layout, std::byte* base) : layout_(layout), base_(base) {}
  RingEntry& entry(std::uint32_t index) {
    return reinterpret_cast<RingEntry*>(base_ + layout_.DirectoryOffset())[index];
  }
  Status ClaimRing(const memory::Sealed& opened, transport::ProcessName self, const Address& own);

  const Layout layout_;
  std::byte* const base_;
  std::byte* ring_ = nullptr;
  std::uint32_t index_ = 0;
};

// True if the number of a process in `pid_namespace` means that process to one with the address
// `own` too.
inline bool SharesNumbers(std::uint64_t pid_namespace, const Address& own) {
  return pid_namespace != 0 && pid_namespace == own.pid_namespace;
}
// Where the segment of that address is found by a process with the address `own`.
inline memory::SealedName NameIn(const Address& address, const Address& own) {
  const bool has_number = SharesNumbers(address.pid_namespace, own);
  return {has_number ? address.pid : 0, address.descriptor, address.inode, address.offset};
}
// Whether the writer of a ring lives is asked about this name.
inline memory::SealedName NameIn(const RingEntry& entry, const Address& own) {
  const bool has_number = SharesNumbers(entry.pid_namespace, own);
  return {has_number ? entry.pid : 0, entry.descriptor, entry.inode};
}

}  // namespace lamina::shm
