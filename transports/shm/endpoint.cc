// SPDX-License-Identifier: BSD-3-Clause
#include "transports/shm/endpoint.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "transports/shm/tuning.h"

namespace lamina::shm {

using memory::Access;

Endpoint::Endpoint(LocalTransport* transport, PeerId peer, const Address& remote,
                   const memory::SealedName& name, std::unique_ptr<PeerSegment> segment,
                   const Options& options)
    : writer_(&segment->head(), segment->ring(), segment->geometry(), options.fetch_bytes_max),
      bell_(&segment->header().bell),
      fence_(options.fence),
      transport_(transport),
      peer_(peer),
      remote_(remote),
      name_(name),
      segment_(std::move(segment)),
      frame_bytes_max_(std::min(options.frame_bytes_max, segment_->geometry().FrameBytesMax())),
      eager_bytes_max_(options.eager_bytes_max),
      joint_bytes_min_(options.joint_bytes_min) {
  can_get_ = options.single_copy && CanRead();
  if (eager_bytes_max_ == 0)
    eager_bytes_max_ = can_get_ && !ReadsSlowly() ? kEagerBytesMax : kEagerBytesMaxElse;
}

Endpoint::~Endpoint() {
  transport_->Forget(this);
  if (pipe_ >= 0) close(pipe_);
}

// Reads the word that the peer set aside for this, once.
bool Endpoint::CanRead() const {
  if (remote_.probe_address == 0) return false;
  std::uint64_t word = 0;
  const Access access = memory::ReadPeer(remote_.pid, remote_.probe_address,
                                         std::as_writable_bytes(std::span(&word, 1)));
  if (access == Access::kDone && word == remote_.token) return true;
  Log(Level::kInfo, "shm",
      "memory of process %d cannot be read (process_vm_readv: %s); long "
      "messages to and from it are copied twice",
      remote_.pid, access == Access::kDone ? "another process answered" : strerror(errno));
  return false;
}

// True if the kernel takes longer to begin a read than a copy of a few KiB takes. Several reads are
// timed, because the first ones of a process take much longer than later ones.
bool Endpoint::ReadsSlowly() const {
  for (int i = 0; i < kReadsTimed; ++i) {
    std::uint64_t word = 0;
    const std::uint64_t began_ns = MonotonicNs();
    static_cast<void>(memory::ReadPeer(remote_.pid, remote_.probe_address,
                                       std::as_writable_bytes(std::span(&word, 1))));
    if (MonotonicNs() - began_ns < kSlowReadNs) return false;
  }
  return true;
}

transport::EndpointCaps Endpoint::caps() const {
  transport::EndpointCaps caps;
  caps.short_bytes_max = frame_bytes_max_;
  caps.eager_bytes_max = std::min(eager_bytes_max_, frame_bytes_max_);
  caps.get_bytes_max = can_get_ && !lost_ ? UINT64_MAX : 0;
  return caps;
}

Code Endpoint::SendShort(const transport::Frame& frame) {
  if (!writer_.Write(frame)) [[unlikely]]
    return NoRoom();
  // The frame must be visible before this asks whether its reader sleeps; see bell.h.
  if (fence_) [[unlikely]]
    Fence();
  else
    std::atomic_signal_fence(std::memory_order_seq_cst);
  if (bell_->sleeping.load(std::memory_order_relaxed) != kAwake) [[unlikely]]
    WakeOwner(*bell_, name_.pid, &pipe_);
  return Code::kOk;
}

Code Endpoint::NoRoom() {
  if (lost_) return Code::kPeerLost;
  if (++refused_ < kRefusalsPerLook) return Code::kAgain;
  refused_ = 0;
  if (segment_->header().leaving.load(std::memory_order_relaxed) != 0) return Code::kPeerLost;
  LookAfter();
  return lost_ ? Code::kPeerLost : Code::kAgain;
}

void Endpoint::LookAfter() {
  if (lost_ || left_) return;
  if (segment_->header().leaving.load(std::memory_order_relaxed) != 0) {
    left_ = true;
    return transport_->PeerLeft(peer_);
  }
  if (memory::AskAfter(name_) != memory::Maker::kHasGone) return;
  lost_ = true;
  writer_.Close();
  transport_->PeerDied(peer_, remote_.pid);
}

Code Endpoint::SendZeroCopy(const transport::Frame&, transport::Completion*) {
  return Code::kUnsupported;  // caps() says so
}

// Reads with the peer's help, if it comes; see joint.h.
Access Endpoint::ReadTogether(std::uint64_t address, std::span<std::byte> into) {
  const Invitation invitation{address, reinterpret_cast<std::uintptr_t>(into.data()), into.size(),
                              ChunkBytes(into.size()), ++joint_serial_};
  if (invitation.chunks() > kChunksMax) return memory::ReadPeer(remote_.pid, address, into);
  const auto chunks = static_cast<std::uint32_t>(invitation.chunks());
  Joint& joint = segment_->head().joint;
  joint.finished.store(0, std::memory_order_relaxed);
  joint.failed.store(0, std::memory_order_relaxed);
  joint.claims.store(std::uint64_t{joint_serial_} << 32, std::memory_order_release);
  // The peer's bell is not rung, because waking a sleeper takes as long as copying a large part.
  static_cast<void>(writer_.Invite(invitation));
  Access access = Access::kDone;
  std::uint32_t chunk;
  while ((chunk = Claim(joint, joint_serial_, chunks, true)) != kNoChunk) {
    const std::size_t at = std::size_t{chunk} * invitation.chunk_bytes;
    const std::size_t bytes = std::min<std::size_t>(invitation.chunk_bytes, into.size() - at);
    if (access == Access::kDone)
      access = memory::ReadPeer(remote_.pid, address + at, into.subspan(at, bytes));
  }
  const std::uint32_t helped = ClaimedBehind(joint);
  if (!AwaitHelper(joint, helped)) return Access::kGone;
  if (access != Access::kDone || joint.failed.load(std::memory_order_acquire) == 0) return access;
  // The peer may not write to this process, so its part is read here, now and in future.
  joint_bytes_min_ = UINT64_MAX;
  const std::size_t at = std::size_t{chunks - helped} * invitation.chunk_bytes;
  return memory::ReadPeer(remote_.pid, address + at, into.subspan(at));
}

// A peer that is copying as well, as where long messages go both ways, has no time to help, and
// one piece is faster than many.
Access Endpoint::Read(std::uint64_t address, std::span<std::byte> into) {
  if (into.size() < joint_bytes_min_) return memory::ReadPeer(remote_.pid, address, into);
  const LocalTransport::Copying copying(*transport_);
  if (segment_->header().copying.load(std::memory_order_relaxed) != 0)
    return memory::ReadPeer(remote_.pid, address, into);
  return ReadTogether(address, into);
}

// Waits until the helper has finished the chunks that it claimed. False: it died meanwhile.
bool Endpoint::AwaitHelper(const Joint& joint, std::uint32_t chunks) {
  for (std::uint32_t looks = 1; joint.finished.load(std::memory_order_acquire) != chunks; ++looks) {
    if (looks > kLooksBeforeYield) sched_yield();
    if (looks % kRefusalsPerLook == 0) LookAfter();
    if (lost_) return false;
  }
  return true;
}

Code Endpoint::Get(const transport::Region& from, std::uint64_t offset, std::span<std::byte> into,
                   transport::Completion* done) {
  if (!can_get_) return Code::kDenied;
  if (offset > from.bytes || into.size() > from.bytes - offset) return Code::kInvalid;
  switch (Read(from.address + offset, into)) {
    case Access::kDone:
      done->done(done, Code::kOk);
      return Code::kOk;
    case Access::kGone:
      return Code::kPeerLost;
    case Access::kDenied:
      can_get_ = false;
      return Code::kDenied;
    case Access::kAbsent:
      break;
  }
  return Code::kInvalid;
}

}  // namespace lamina::shm
