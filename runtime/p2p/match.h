// SPDX-License-Identifier: BSD-3-Clause
// Matching within one context: posted receives against arriving messages (MPI-5.0, section 3.5).
//
// A message (source, tag) is taken by the earliest posted receive that fits it, a receive takes the
// earliest arrived message that fits it. Both are found in O(1):
//   - a posted receive stands in one list, that of its key, wildcards included;
//     an arrival looks at the heads of the (up to) four keys it fits and takes the earliest;
//   - an unexpected message stands in four lists, those of the keys (s,t), (s,*), (*,t), (*,*);
//     a receive looks at the head of its own key's list.
//
// Ownership:  requests and messages belong to the engine; this only links them.
// Allocation: bins grow with what is queued; none when nothing new is queued.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/core/request.h"
#include "runtime/p2p/header.h"

namespace lamina::p2p {

// A message that arrived before its receive was posted, or was taken out by a matched probe.
struct Message : core::Object {
  static constexpr core::Kind kKind = core::Kind::kMessage;
  Message() : Object(kKind) {}

  Rank source = 0;
  int tag = 0;
  PeerId from = kNoPeer;
  FrameKind frame = FrameKind::kEager;
  std::uint64_t bytes = 0;       // of the message
  std::uint64_t token = 0;       // the sender's, for kEagerSync and kReadyToSend
  std::uint64_t address = 0;     // in the sender, for kReadyToSend
  std::byte* payload = nullptr;  // of eager kinds; follows this struct
  std::uint32_t room = 0;        // bytes there, for reuse
  core::Comm* comm = nullptr;    // set when a matched probe took it

  struct Link {
    Message* next = nullptr;
    Message* previous = nullptr;
  };
  std::array<Link, 4> links;  // by KeyIndex
};

class MatchSpace {
 public:
  MatchSpace();

  // Posts a receive; `request->peer` and `match_tag` may be wildcards.
  void Post(core::Request* request);
  // Takes a posted receive out again. It must be posted.
  void Withdraw(core::Request* request);
  // The receive that gets a message (source, tag), taken out; null: none.
  core::Request* TakePosted(Rank source, int tag);

  void AddUnexpected(Message* message);
  // The earliest message a receive for (source, tag) fits; null: none. Stays queued.
  Message* FindUnexpected(Rank source, int tag) const;
  void RemoveUnexpected(Message* message);

  std::uint32_t posted() const { return posted_; }
  std::uint32_t unexpected() const { return unexpected_; }
  Message* first_unexpected() const;
  // All posted receives, in no particular order.
  std::vector<core::Request*> Posted() const;

 private:
  struct PostedBin {
    core::Request* head = nullptr;
    core::Request* tail = nullptr;
  };
  struct UnexpectedBin {
    Message* head = nullptr;
    Message* tail = nullptr;
  };
  std::uint32_t PostedBinOf(Rank source, int tag) const;
  core::Request* EarliestIn(Rank source, int tag) const;
  void GrowPosted();
  void GrowUnexpected();
  void LinkUnexpected(Message* message, std::uint32_t key_index);
  void UnlinkUnexpected(Message* message, std::uint32_t key_index);

  std::vector<PostedBin> posted_bins_;
  std::array<std::vector<UnexpectedBin>, 4> unexpected_bins_;  // by KeyIndex
  std::uint32_t posted_ = 0;
  std::uint32_t unexpected_ = 0;
  std::uint32_t wildcards_[4] = {};  // posted receives by KeyIndex, to skip keys nobody waits for
  std::uint64_t next_serial_ = 0;
};

}  // namespace lamina::p2p
