// SPDX-License-Identifier: BSD-3-Clause
#include "transports/shm/endpoint.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "runtime/base/log.h"
#include "transports/shm/memory.h"

namespace lamina::shm {

namespace {

// A ring may stay full for as long as its reader computes; how often to ask whether it still lives.
constexpr std::uint32_t kRefusalsPerLook = 4096;
// Looks at a helper's progress before giving up the CPU: about what one chunk takes.
constexpr std::uint32_t kLooksBeforeYield = 2000;
constexpr int kReadsTimed = 16;                 // at most, where all are slow
constexpr std::uint32_t kEagerBytesMax = 4096;  // where reading the peer's memory is cheap
constexpr std::uint32_t kEagerBytesMaxElse = 16u * 1024;  // where it is not, or is forbidden

}  // namespace

Endpoint::Endpoint(LocalTransport* transport, PeerId peer, const Address& remote,
                   std::unique_ptr<PeerSegment> segment, const Options& options)
    : writer_(&segment->head(), segment->ring(), segment->geometry(), options.fetch_bytes_max),
      bell_(&segment->header().bell),
      fence_(options.fence),
      transport_(transport),
      peer_(peer),
      remote_(remote),
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

// Tried once, on the word that the peer set aside for it.
bool Endpoint::CanRead() const {
  if (remote_.probe_address == 0) return false;
  std::uint64_t word = 0;
  const int error =
      ReadMemory(remote_.pid, remote_.probe_address, std::as_writable_bytes(std::span(&word, 1)));
  if (error == 0 && word == remote_.token) return true;
  Log(Level::kInfo, "shm",
      "memory of process %d cannot be read (process_vm_readv: %s); long "
      "messages to and from it are copied twice",
      remote_.pid,
      error == 0 ? "another process answered"
                 : SystemError(Code::kDenied, error, " ").message().data());
  return false;
}

// Does the kernel take longer to begin a read than it takes to copy a few KiB? The first reads of a
// process take several times as long as later ones.
bool Endpoint::ReadsSlowly() const {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < kReadsTimed; ++i) {
    std::uint64_t word = 0;
    const Clock::time_point begin = Clock::now();
    static_cast<void>(ReadMemory(remote_.pid, remote_.probe_address,
                                 std::as_writable_bytes(std::span(&word, 1))));
    if (Clock::now() - begin < std::chrono::microseconds(1)) return false;
  }
  return true;
}

transport::EndpointCaps Endpoint::caps() const {
  transport::EndpointCaps caps;
  caps.short_bytes_max = frame_bytes_max_;
  caps.eager_bytes_max = std::min(eager_bytes_max_, frame_bytes_max_);
  caps.get_bytes_max = can_get_ && !lost_ ? UINT64_MAX : 0;
  caps.latency_ns = 200;
  caps.bandwidth_bytes_s = 10'000'000'000;
  return caps;
}

Code Endpoint::SendShort(const transport::Frame& frame) {
  if (!writer_.Write(frame)) [[unlikely]]
    return NoRoom();
  // The frame first, then the question whether anybody sleeps; see bell.h.
  if (fence_) [[unlikely]]
    Fence();
  else
    std::atomic_signal_fence(std::memory_order_seq_cst);
  if (bell_->sleeping.load(std::memory_order_relaxed) != kAwake) [[unlikely]]
    WakeOwner(*bell_, remote_.pid, &pipe_);
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
  if (lost_ || segment_->header().leaving.load(std::memory_order_relaxed) != 0 ||
      Alive(remote_.pid, remote_.descriptor, remote_.inode))
    return;
  lost_ = true;
  writer_.Close();
  transport_->PeerDied(peer_, remote_.pid);
}

Code Endpoint::SendZeroCopy(const transport::Frame&, transport::Completion*) {
  return Code::kUnsupported;  // caps() says so
}

// With the peer's help, if it comes; see joint.h. 0 or an errno value.
int Endpoint::ReadTogether(std::uint64_t address, std::span<std::byte> into) {
  const Invitation invitation{address, reinterpret_cast<std::uintptr_t>(into.data()), into.size(),
                              ChunkBytes(into.size()), ++joint_serial_};
  if (invitation.chunks() > kChunksMax) return ReadMemory(remote_.pid, address, into);
  const auto chunks = static_cast<std::uint32_t>(invitation.chunks());
  Joint& joint = segment_->head().joint;
  joint.finished.store(0, std::memory_order_relaxed);
  joint.failed.store(0, std::memory_order_relaxed);
  joint.claims.store(std::uint64_t{joint_serial_} << 32, std::memory_order_release);
  // Its bell is not rung: waking a sleeper takes as long as copying half a megabyte.
  static_cast<void>(writer_.Invite(invitation));
  int error = 0;
  std::uint32_t chunk;
  while ((chunk = Claim(joint, joint_serial_, chunks, true)) != kNoChunk) {
    const std::size_t at = std::size_t{chunk} * invitation.chunk_bytes;
    const std::size_t bytes = std::min<std::size_t>(invitation.chunk_bytes, into.size() - at);
    if (error == 0) error = ReadMemory(remote_.pid, address + at, into.subspan(at, bytes));
  }
  const std::uint32_t helped = ClaimedBehind(joint);
  if (!AwaitHelper(joint, helped)) return ESRCH;
  if (error != 0 || joint.failed.load(std::memory_order_acquire) == 0) return error;
  joint_bytes_min_ = UINT64_MAX;  // it may not write to us: we do its part, and all from now on
  const std::size_t at = std::size_t{chunks - helped} * invitation.chunk_bytes;
  return ReadMemory(remote_.pid, address + at, into.subspan(at));
}

// 0 or an errno value. A peer that is copying as well, as where messages go both ways, has no hand
// free, and one piece is faster than many.
int Endpoint::Read(std::uint64_t address, std::span<std::byte> into) {
  if (into.size() < joint_bytes_min_) return ReadMemory(remote_.pid, address, into);
  const LocalTransport::Copying copying(*transport_);
  if (segment_->header().copying.load(std::memory_order_relaxed) != 0)
    return ReadMemory(remote_.pid, address, into);
  return ReadTogether(address, into);
}

// Until the helper has finished the chunks it claimed; false if it died over them.
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
  if (from.key != 0 && from.key != static_cast<std::uint64_t>(remote_.pid)) return Code::kInvalid;
  if (offset > from.bytes || into.size() > from.bytes - offset) return Code::kInvalid;
  switch (Read(from.address + offset, into)) {
    case 0:
      done->done(done, Code::kOk);
      return Code::kOk;
    case ESRCH:
      return Code::kPeerLost;
    case EPERM:
    case ENOSYS:
      can_get_ = false;
      return Code::kDenied;
    default:
      return Code::kInvalid;  // no such memory
  }
}

}  // namespace lamina::shm
