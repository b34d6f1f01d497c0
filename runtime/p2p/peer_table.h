// SPDX-License-Identifier: BSD-3-Clause
// The processes of other jobs that this one may speak to, and how they are reached.
//
// The job's own processes have their ranks as PeerIds and are not in here. Another process gets the
// next number when a communicator or a frame first names it, and keeps that number for good,
// because a transport may still deliver under it.
//
// Allocation: about a hundred bytes for each process of another job that was ever met.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/base/ids.h"
#include "transports/transport.h"

namespace lamina::p2p {

class PeerTable {
 public:
  PeerTable(std::uint32_t job_hash, std::uint32_t job_ranks)
      : job_hash_(job_hash), job_ranks_(job_ranks) {}

  // From now on frames of processes that are not known yet are taken too, because a message may
  // arrive before its communicator exists here.
  void Open() { open_ = true; }
  bool is_open() const { return open_; }

  // PeerIds are below this.
  std::uint32_t end() const { return job_ranks_ + static_cast<std::uint32_t>(others_.size()); }
  bool IsOfOtherJob(PeerId peer) const { return Index(peer) >= job_ranks_; }
  bool IsOfThisJob(transport::ProcessName name) const { return JobOf(name) == job_hash_; }
  static std::uint32_t JobOf(transport::ProcessName name) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(name) >> 32);
  }

  // Returns kNoPeer for a rank that this job does not have, and for strangers before Open().
  PeerId Identify(transport::ProcessName name);
  transport::ProcessName NameOf(PeerId peer) const;
  // Sets how a process of another job is reached.
  void SetCard(PeerId peer, std::vector<std::byte> card);
  // Returns the card of a process of another job; it is empty if that is not known.
  const std::vector<std::byte>& CardOf(PeerId peer) const { return Of(peer).card; }

  // Returns the processes that `self` attends to, so that each member of `from` attends to one of
  // each other job in `to`. If one process attends to another, the other does so too.
  std::vector<PeerId> Attendants(PeerId self, std::span<const PeerId> from,
                                 std::span<const PeerId> to) const;
  // Both processes have connected to each other, so that neither goes without a goodbye unless it
  // has failed. This ends when the last group has let go.
  void Attend(PeerId peer) { Of(peer).attended = true; }
  bool IsAttended(PeerId peer) const { return IsOfOtherJob(peer) && Of(peer).attended; }
  // The process has connected to this one, at any time.
  void Heard(PeerId peer) {
    if (IsOfOtherJob(peer)) Of(peer).heard = true;
  }
  // Returns those that attend to this process and have not connected to it yet.
  std::vector<PeerId> Awaited() const;

  // Groups hold those of their members that belong to other jobs. Release returns true when the
  // last group has let go, and forgets the card.
  void Retain(PeerId peer) { ++Of(peer).groups; }
  bool Release(PeerId peer);
  bool IsHeld(PeerId peer) const {
    return IsOfOtherJob(peer) && Index(peer) < end() && Of(peer).groups > 0;
  }
  // True if a group has a member of that job, beside one group whose members are `beside`.
  bool Holds(std::uint32_t job_hash, std::span<const PeerId> beside) const;

 private:
  struct Other {
    transport::ProcessName name{};
    std::uint32_t groups = 0;
    bool attended = false;
    bool heard = false;
    std::vector<std::byte> card;
  };
  Other& Of(PeerId peer) { return others_[Index(peer) - job_ranks_]; }
  const Other& Of(PeerId peer) const { return others_[Index(peer) - job_ranks_]; }

  const std::uint32_t job_hash_;
  const std::uint32_t job_ranks_;
  bool open_ = false;
  std::vector<Other> others_;
  std::unordered_map<std::uint64_t, PeerId> by_name_;
};

}  // namespace lamina::p2p
