// SPDX-License-Identifier: BSD-3-Clause
#include "transports/shm/endpoint.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "runtime/base/log.h"

namespace lamina::shm {

namespace {

// A ring may stay full for as long as its reader computes; how often to ask whether it still lives.
constexpr std::uint32_t kRefusalsPerLook = 4096;

// Reads `into.size()` bytes at `address` of process `pid`. 0 or an errno value.
int ReadMemory(std::int32_t pid, std::uint64_t address, std::span<std::byte> into) {
  while (!into.empty()) {
    const iovec local{into.data(), into.size()};
    const iovec remote{reinterpret_cast<void*>(address), into.size()};
    const ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got <= 0) return got < 0 ? errno : EFAULT;
    into = into.subspan(static_cast<std::size_t>(got));
    address += static_cast<std::uint64_t>(got);
  }
  return 0;
}

}  // namespace

Endpoint::Endpoint(LocalTransport* transport, PeerId peer, const Address& remote,
                   std::unique_ptr<PeerSegment> segment, const Options& options)
    : writer_(segment->ring(), segment->geometry()),
      bell_(&segment->header().bell),
      fence_(options.fence),
      transport_(transport),
      peer_(peer),
      remote_(remote),
      segment_(std::move(segment)),
      eager_bytes_max_(options.eager_bytes_max) {
  can_get_ = options.single_copy && CanRead();
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

transport::EndpointCaps Endpoint::caps() const {
  transport::EndpointCaps caps;
  caps.short_bytes_max = segment_->geometry().FrameBytesMax();
  // Without single copy nothing beats sending at once what fits.
  caps.eager_bytes_max =
      can_get_ ? std::min(eager_bytes_max_, caps.short_bytes_max) : caps.short_bytes_max;
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

Code Endpoint::Get(const transport::Region& from, std::uint64_t offset, std::span<std::byte> into,
                   transport::Completion* done) {
  if (!can_get_) return Code::kDenied;
  if (from.key != 0 && from.key != static_cast<std::uint64_t>(remote_.pid)) return Code::kInvalid;
  if (offset > from.bytes || into.size() > from.bytes - offset) return Code::kInvalid;
  switch (ReadMemory(remote_.pid, from.address + offset, into)) {
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
