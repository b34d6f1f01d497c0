// SPDX-License-Identifier: BSD-3-Clause
#include "transports/shm/local_transport.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/base/anonymous_file.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/memory/peer_memory.h"
#include "transports/shm/bell.h"
#include "transports/shm/endpoint.h"
#include "transports/shm/tuning.h"

namespace lamina::shm {

namespace {

// Under Yama's scope 1 only its ancestors may read a process, unless it permits others. This
// permits all processes of the same user, as a kernel without Yama does anyway.
void PermitReading() {
  const int descriptor = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;  // no Yama
  char scope = '0';
  const ssize_t got = read(descriptor, &scope, 1);
  close(descriptor);
  if (got == 1 && scope == '1') prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

// The best value differs between the makers of processors; see tuning.h.
std::uint32_t FetchBytesMax() {
#if defined(__x86_64__)
  unsigned level = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &level, &ebx, &ecx, &edx) != 0 && ebx == signature_INTEL_ebx)
    return kFetchBytesMaxIntel;
#endif
  return kFetchBytesMax;
}

// True if a peer writes to this ring or has written to it.
bool InUse(const RingEntry& entry) {
  const RingState state = entry.state.load(std::memory_order_acquire);
  return state == RingState::kOpen || state == RingState::kClosed;
}

// Where every rank has a CPU of its own, sleeps are rare and may cost more, so that sends cost
// less; see bell.h.
bool SleeperFences(const Params& params, bool exclusive) {
  return params.fence == "auto" ? exclusive : params.fence == "sleeper";
}

}  // namespace

Result<std::unique_ptr<LocalTransport>> LocalTransport::Create(const Params& params,
                                                               const transport::Context& context) {
  const Layout layout{{params.ring_cells, params.area_bytes},
                      context.local_ranks + params.rings_spare};
  auto segment = OwnSegment::Create(layout, context.node_memory);
  if (!segment.ok()) return std::move(segment).status();
  return std::unique_ptr<LocalTransport>(new LocalTransport(params, context, *std::move(segment)));
}

LocalTransport::LocalTransport(const Params& params, const transport::Context& context,
                               std::unique_ptr<OwnSegment> segment)
    : params_(params),
      self_(context.self),
      inbox_(context.inbox),
      node_memory_(context.node_memory),
      segment_(std::move(segment)),
      registered_(RegisterForFences()),
      exclusive_(context.sharing == Sharing::kExclusive),
      fence_all_(registered_ && SleeperFences(params, exclusive_)),
      single_copy_(params.single_copy == "auto"),
      probe_(std::make_unique<std::uint64_t>(segment_->address().token)) {
  if (!fence_all_) segment_->header().writers_fence.store(1, std::memory_order_relaxed);
  if (single_copy_) PermitReading();
  incoming_.reserve(segment_->layout().rings_max);
}

LocalTransport::~LocalTransport() {
  SetReading(false);
  ClosePipe();
}

void LocalTransport::SetReading(bool reads) { segment_->header().leaving.store(reads ? 0 : 1); }

void LocalTransport::ClosePipe() {
  for (int& end : pipe_)
    if (const int descriptor = std::exchange(end, -1); descriptor >= 0) close(descriptor);
}

// Said once, because what hides one process mostly hides all.
void LocalTransport::SayHidden(std::int32_t pid) {
  if (std::exchange(said_hidden_, true)) return;
  Log(Level::kInfo, "shm",
      "a process of this node is hidden from this one (%s); messages to it go through the memory "
      "that mpiexec shares with its ranks, and this process copies long ones twice",
      pid == 0 ? "it is in another pid namespace"
               : Format("the kernel does not let us open /proc/%d/fd, as between users, user "
                        "namespaces or sets of capabilities",
                        pid)
                     .c_str());
}

Result<std::vector<std::byte>> LocalTransport::LocalAddress() {
  Address address = segment_->address();
  if (single_copy_) address.probe_address = reinterpret_cast<std::uintptr_t>(probe_.get());
  return Encode(address);
}

Result<std::unique_ptr<transport::Endpoint>> LocalTransport::Connect(
    PeerId peer, std::span<const std::byte> remote) {
  auto address = DecodeAddress(remote);
  if (!address.ok()) return std::move(address).status();
  const memory::SealedName name = NameIn(*address, segment_->address());
  const memory::Maker maker = memory::AskAfter(name);
  if (maker == memory::Maker::kHasGone)
    return Error(Code::kPeerLost, "process %d is gone", name.pid);
  auto segment = PeerSegment::Open(*address, self_, segment_->address(), node_memory_);
  if (!segment.ok()) return std::move(segment).status();
  if (maker == memory::Maker::kHidden) {
    (*segment)->header().bell.pipe_is_hidden.store(1);
    SayHidden(name.pid);
  }
  const bool peer_fences = (*segment)->header().writers_fence.load(std::memory_order_relaxed) == 0;
  const Endpoint::Options options{
      .frame_bytes_max = params_.frame_bytes_max,
      .eager_bytes_max = params_.eager_bytes_max,
      .fetch_bytes_max = params_.fetch_bytes_max != 0 ? params_.fetch_bytes_max : FetchBytesMax(),
      .single_copy = single_copy_ && name.pid != 0,
      .fence = !(registered_ && peer_fences),
      .joint_bytes_min = exclusive_ ? params_.joint_bytes_min : UINT64_MAX};
  auto endpoint =
      std::make_unique<Endpoint>(this, peer, *address, name, *std::move(segment), options);
  endpoints_.push_back(endpoint.get());
  return std::unique_ptr<transport::Endpoint>(std::move(endpoint));
}

std::uint32_t LocalTransport::Progress(std::uint32_t events_max) {
  if (in_progress_) return 0;  // the Inbox called this from inside
  in_progress_ = true;
  if (segment_->header().changes.load(std::memory_order_acquire) != changes_seen_ || review_again_)
      [[unlikely]]
    ReviewRings();
  std::uint32_t handled = 0;
  if (hot_ < incoming_.size()) [[likely]]
    handled = Drain(incoming_[hot_], events_max);
  if (invited_) [[unlikely]]
    handled += Help();
  if (incoming_.size() > 1 && handled < events_max) handled += DrainColdRings(events_max - handled);
  if (!departures_.empty() && handled < events_max) [[unlikely]]
    handled += ReportDepartures();
  in_progress_ = false;
  return handled;
}

std::uint32_t LocalTransport::Drain(Incoming& ring, std::uint32_t frames_max) {
  const PeerId peer = ring.peer;
  transport::Inbox* const inbox = inbox_;
  const std::uint32_t taken = ring.reader.Drain(
      frames_max,
      [peer, inbox](const transport::Header& header, std::span<const std::byte> payload) {
        inbox->Arrived(peer, header, payload);
      },
      [this, &ring](const Invitation& invitation) {
        ring.invitation = invitation;
        invited_ = ring.invited = true;
      });
  if (ring.reader.corrupt() && !ring.gone) [[unlikely]] {
    Log(Level::kWarn, "shm", "process %d wrote nonsense into its ring; it counts as lost",
        segment_->entry(ring.index).pid);
    PeerDied(peer, segment_->entry(ring.index).pid);
  }
  return taken;
}

// Copies one chunk for each peer that asked, so that a poll does not take longer.
std::uint32_t LocalTransport::Help() {
  std::uint32_t chunks = 0;
  for (Incoming& ring : incoming_) {
    ring.invited = ring.invited && HelpWithAChunk(ring);
    chunks += ring.invited;
  }
  invited_ = chunks != 0;
  return chunks;
}

// Returns false if nothing was left to copy or the invitation makes no sense.
bool LocalTransport::HelpWithAChunk(const Incoming& ring) {
  const Invitation& invitation = ring.invitation;
  if (invitation.chunk_bytes == 0 ||
      invitation.bytes > invitation.chunk_bytes * std::uint64_t{kChunksMax})
    return false;
  Joint& joint = segment_->head(ring.index).joint;
  const std::uint32_t chunk =
      Claim(joint, invitation.serial, static_cast<std::uint32_t>(invitation.chunks()), false);
  if (chunk == kNoChunk) return false;
  const std::uint64_t at = std::uint64_t{chunk} * invitation.chunk_bytes;
  const memory::Access access =
      memory::WritePeer(segment_->entry(ring.index).pid, invitation.to + at, invitation.from + at,
                        std::min<std::uint64_t>(invitation.chunk_bytes, invitation.bytes - at));
  if (access != memory::Access::kDone) joint.failed.store(1, std::memory_order_relaxed);
  joint.finished.fetch_add(1, std::memory_order_release);
  return true;
}

std::uint32_t LocalTransport::DrainColdRings(std::uint32_t frames_max) {
  const auto count = static_cast<std::uint32_t>(incoming_.size());
  const std::uint32_t recent = std::min(count, kRecentRings);
  std::uint32_t handled = 0;
  for (std::uint32_t i = hot_, looked = 1; looked < recent && handled < frames_max; ++looked) {
    i = i + 1 < recent ? i + 1 : 0;
    if (!incoming_[i].reader.Ready()) continue;
    handled += Drain(incoming_[i], frames_max - handled);
    hot_ = i;
  }
  const std::uint32_t looks_max = exclusive_ ? kOtherRingsPerPoll : kOtherRingsPerYield;
  for (std::uint32_t looked = std::min(count - recent, looks_max);
       looked > 0 && handled < frames_max; --looked) {
    cold_ = cold_ + 1 < count ? std::max(cold_ + 1, recent) : recent;
    if (!incoming_[cold_].reader.Ready()) continue;
    handled += Drain(incoming_[cold_], frames_max - handled);
    hot_ = oldest_recent_;
    oldest_recent_ = (oldest_recent_ + 1) % kRecentRings;
    std::swap(incoming_[hot_], incoming_[cold_]);
  }
  return handled;
}

// Called when a peer has opened or closed a ring, or has died.
void LocalTransport::ReviewRings() {
  review_again_ = false;
  SegmentHeader& header = segment_->header();
  changes_seen_ = header.changes.load(std::memory_order_acquire);
  const std::uint32_t rings =
      std::min(header.rings_claimed.load(std::memory_order_acquire), segment_->layout().rings_max);
  for (std::size_t i = 0; i < incoming_.size();) {
    const Incoming& ring = incoming_[i];
    const bool closed =
        segment_->entry(ring.index).state.load(std::memory_order_acquire) == RingState::kClosed;
    if ((closed || ring.gone) && (ring.reader.corrupt() || !ring.reader.Ready())) {
      Retire(i);
      continue;
    }
    if (closed || ring.gone) review_again_ = true;
    ++i;
  }
  for (std::uint32_t index = 0; index < rings; ++index) {
    if (!InUse(segment_->entry(index)) || IsAdopted(index)) continue;
    if (MustWait(index, rings))
      review_again_ = true;
    else
      Adopt(index);
  }
}

bool LocalTransport::IsAdopted(std::uint32_t index) const {
  return std::any_of(incoming_.begin(), incoming_.end(),
                     [index](const Incoming& ring) { return ring.index == index; });
}

// If a writer closed its ring and opened another, the older one has to be emptied first, so that
// its frames stay in order.
bool LocalTransport::MustWait(std::uint32_t index, std::uint32_t rings) {
  const RingEntry& mine = segment_->entry(index);
  for (std::uint32_t other = 0; other < rings; ++other) {
    const RingEntry& entry = segment_->entry(other);
    if (other != index && InUse(entry) && entry.writer == mine.writer &&
        entry.opening < mine.opening)
      return true;
  }
  return false;
}

void LocalTransport::Adopt(std::uint32_t index) {
  Incoming ring;
  ring.reader =
      RingReader(&segment_->head(index), segment_->ring(index), segment_->layout().geometry);
  ring.peer = inbox_->Identify(segment_->entry(index).writer);
  ring.index = index;
  incoming_.push_back(ring);
}

void LocalTransport::Retire(std::size_t position) {
  const std::uint32_t index = incoming_[position].index;
  incoming_.erase(incoming_.begin() + static_cast<std::ptrdiff_t>(position));
  hot_ = 0;
  cold_ = 0;
  oldest_recent_ = 0;
  segment_->Erase(index);
  segment_->entry(index).state.store(RingState::kFree, std::memory_order_release);
}

bool LocalTransport::AnyNews() const {
  if (!departures_.empty() || review_again_) return true;
  if (segment_->header().changes.load(std::memory_order_acquire) != changes_seen_) return true;
  return std::any_of(incoming_.begin(), incoming_.end(),
                     [](const Incoming& ring) { return ring.reader.Ready(); });
}

Code LocalTransport::Arm(bool need_descriptor, transport::Bell* bell) {
  if (AnyNews() || LookAfterPeers()) return Code::kAgain;
  Doorbell& door = segment_->header().bell;
  if (need_descriptor && (door.pipe_is_hidden.load() != 0 || !OpenPipe())) return Code::kAgain;
  bell->word = &door.word;
  bell->value = door.word.load();
  bell->descriptor = need_descriptor ? pipe_[0] : -1;
  door.sleeping.store(need_descriptor ? kOnPipe : kOnWord);
  Fence();
  if (fence_all_) FenceAll();
  if (!AnyNews()) return Code::kOk;
  Disarm();
  return Code::kAgain;
}

void LocalTransport::Disarm() {
  Doorbell& door = segment_->header().bell;
  if (door.sleeping.load(std::memory_order_relaxed) != kAwake) door.sleeping.exchange(kAwake);
  if (pipe_[0] < 0) return;
  char rings[64];
  while (read(pipe_[0], rings, sizeof rings) > 0) continue;
}

void LocalTransport::Wake() {
  Fence();
  Doorbell& door = segment_->header().bell;
  if (door.sleeping.load() != kAwake) WakeOwner(door, getpid(), &pipe_[1]);
}

bool LocalTransport::OpenPipe() {
  if (pipe_[0] >= 0) return true;
  if (pipe2(pipe_, O_NONBLOCK | O_CLOEXEC) != 0) return false;
  for (int& end : pipe_) end = OutOfTheWay(end);
  if (pipe_[0] < 0 || pipe_[1] < 0) {
    ClosePipe();
    return false;
  }
  segment_->header().bell.pipe.store(pipe_[1], std::memory_order_release);
  return true;
}

// Asks whether all known peers still live, and returns true if one has died. This takes a system
// call for each peer, so it is not done at every sleep.
bool LocalTransport::LookAfterPeers() {
  const std::uint64_t now_ms = MonotonicMs();
  if (now_ms - looked_after_ms_ < kLookAfterEveryMs) return false;
  looked_after_ms_ = now_ms;
  for (const Incoming& ring : incoming_) {
    const RingEntry& entry = segment_->entry(ring.index);
    if (ring.gone ||
        memory::AskAfter(NameIn(entry, segment_->address())) != memory::Maker::kHasGone)
      continue;
    if (entry.state.load(std::memory_order_acquire) == RingState::kClosed) continue;
    PeerDied(ring.peer, entry.pid);
  }
  for (Endpoint* endpoint : endpoints_) endpoint->LookAfter();
  return !departures_.empty();
}

void LocalTransport::PeerDied(PeerId peer, std::int32_t pid) { Gone({peer, pid, false}); }
void LocalTransport::PeerLeft(PeerId peer) { Gone({peer, 0, true}); }

void LocalTransport::Gone(const Departure& gone) {
  review_again_ = true;  // it may have opened a ring just before
  const auto same = [&](const Departure& departure) { return departure.peer == gone.peer; };
  if (std::find(reported_.begin(), reported_.end(), gone.peer) == reported_.end() &&
      std::none_of(departures_.begin(), departures_.end(), same))
    departures_.push_back(gone);
}

void LocalTransport::Forget(Endpoint* endpoint) { std::erase(endpoints_, endpoint); }

// Marks the rings of a dead peer as ending. Returns true while they hold something to deliver.
bool LocalTransport::StillDelivering(PeerId peer) {
  bool delivering = false;
  for (Incoming& ring : incoming_) {
    if (ring.peer != peer) continue;
    ring.gone = true;
    delivering = true;
  }
  return delivering;
}

std::uint32_t LocalTransport::ReportDepartures() {
  std::uint32_t reported = 0;
  for (const Departure& departure : std::exchange(departures_, {})) {
    if (review_again_ || StillDelivering(departure.peer)) {
      review_again_ = true;
      departures_.push_back(departure);
      continue;
    }
    reported_.push_back(departure.peer);
    ++reported;
    if (departure.in_order)
      inbox_->Left(departure.peer);
    else
      inbox_->Lost(departure.peer,
                   Error(Code::kPeerLost, "process %d on this node is gone", departure.pid));
  }
  return reported;
}

}  // namespace lamina::shm
