// SPDX-License-Identifier: BSD-3-Clause
// This process's end of shared memory: its own segment, the rings that others opened in it, and its
// bell.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "transports/shm/params.h"
#include "transports/shm/segment.h"
#include "transports/transport.h"

namespace lamina::shm {

class Endpoint;

class LocalTransport final : public transport::Transport {
 public:
  static Result<std::unique_ptr<LocalTransport>> Create(const Params& params,
                                                        const transport::Context& context);
  ~LocalTransport() override;
  LocalTransport(const LocalTransport&) = delete;
  LocalTransport& operator=(const LocalTransport&) = delete;

  Result<std::vector<std::byte>> LocalAddress() override;
  Result<std::unique_ptr<transport::Endpoint>> Connect(PeerId peer,
                                                       std::span<const std::byte> remote) override;
  std::uint32_t Progress(std::uint32_t events_max) override;
  Code Arm(bool need_descriptor, transport::Bell* bell) override;
  void Disarm() override;
  void Wake() override;
  bool Drained() override { return true; }  // what was accepted lies in its receiver's memory
  void SetReading(bool reads) override;

  // Endpoints of this transport call this when they find `peer` dead; Progress() tells the Inbox.
  void PeerDied(PeerId peer, std::int32_t pid);
  // `peer` has finalized and reads no more.
  void PeerLeft(PeerId peer);
  void Forget(Endpoint* endpoint);
  // While one of these lives, peers see that this process is copying a long message.
  class Copying {
   public:
    explicit Copying(LocalTransport& transport) : flag_(transport.segment_->header().copying) {
      flag_.store(1, std::memory_order_relaxed);
    }
    ~Copying() { flag_.store(0, std::memory_order_relaxed); }
    Copying(const Copying&) = delete;
    Copying& operator=(const Copying&) = delete;

   private:
    std::atomic<std::uint32_t>& flag_;
  };

 private:
  // A ring that a peer writes and we read.
  struct Incoming {
    RingReader reader;
    PeerId peer = kNoPeer;
    std::uint32_t index = 0;  // its place in the segment
    bool gone = false;        // its writer is dead: it ends when it is empty
    bool invited = false;     // its writer wants help with copying what this process sent
    Invitation invitation{};
  };
  // A peer to report as lost, or as one that has left in good order.
  struct Departure {
    PeerId peer;
    std::int32_t pid;
    bool in_order;
  };

  LocalTransport(const Params& params, const transport::Context& context,
                 std::unique_ptr<OwnSegment> segment);

  std::uint32_t Drain(Incoming& ring, std::uint32_t frames_max);
  std::uint32_t DrainColdRings(std::uint32_t frames_max);
  std::uint32_t Help();
  bool HelpWithAChunk(const Incoming& ring);
  void ReviewRings();
  bool IsAdopted(std::uint32_t index) const;
  bool MustWait(std::uint32_t index, std::uint32_t rings);
  void Adopt(std::uint32_t index);
  void Retire(std::size_t position);
  bool AnyNews() const;
  bool LookAfterPeers();
  void Gone(const Departure& gone);
  std::uint32_t ReportDepartures();
  bool StillDelivering(PeerId peer);
  bool OpenPipe();
  void ClosePipe();
  void SayHidden(std::int32_t pid);

  const Params params_;
  const transport::ProcessName self_;
  transport::Inbox* const inbox_;
  NodeMemory* const node_memory_;  // null: there is none
  const std::unique_ptr<OwnSegment> segment_;
  const bool registered_;  // peers' fences reach this process, so its sends need none
  const bool exclusive_;   // every process of the job here has a CPU of its own
  const bool fence_all_;   // fences for peers before it sleeps, so that their sends need none
  bool single_copy_ = false;

  std::vector<Incoming> incoming_;  // those that delivered lately come first
  std::vector<Endpoint*> endpoints_;
  std::uint32_t hot_ = 0;            // the ring that delivered last
  std::uint32_t oldest_recent_ = 0;  // the recent one that makes room for the next
  std::uint32_t cold_ = 0;           // the other one that was looked at last
  std::uint32_t changes_seen_ = 0;
  bool in_progress_ = false;
  bool invited_ = false;       // some ring holds an invitation
  bool review_again_ = false;  // a ring that has ended may still hold frames

  std::vector<Departure> departures_;  // to be reported
  std::vector<PeerId> reported_;       // whose departure was reported
  bool said_hidden_ = false;
  std::uint64_t looked_after_ms_ = 0;
  int pipe_[2] = {-1, -1};
  const std::unique_ptr<std::uint64_t> probe_;  // peers read it to try single copy
};

}  // namespace lamina::shm
