// SPDX-License-Identifier: BSD-3-Clause
// Matching within one context: posted receives against arriving messages (MPI-5.0, section 3.5).
//
// A message (source, tag) is taken by the earliest posted receive that fits it, and a receive takes
// the earliest arrived message that fits it. Both are found in O(1):
//   - A posted receive stands in one list, that of its key, wildcards included. An arrival looks at
//     the heads of the keys it fits, four at most, and takes the earliest. As long as only one
//     receive is posted, as where receives block, it stands by itself.
//   - An unexpected message stands in the list of its key (s,t). From the first receive on that
//     names a wildcard it also stands in the lists of (s,*), (*,t) or (*,*). A receive looks at the
//     head of its own key's list. Most programs never need more than the first list.
//
// Ownership:  requests and messages belong to the caller and are only linked here.
// Allocation: the bins grow with what is queued.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/core/request.h"
#include "runtime/p2p/header.h"
#include "runtime/trace/trace.h"

namespace lamina::p2p {

// A message that arrived before its receive was posted, or that a matched probe has taken out. The
// fields that an exact match touches come first. The payload follows the struct.
struct Message : core::Object {
  static constexpr core::Kind kKind = core::Kind::kMessage;
  Message() : Object(kKind) {}

  Rank source = 0;
  int tag = 0;
  std::uint64_t bytes = 0;   // length of the message
  std::uint64_t serial = 0;  // order of arrival
  PeerId from = kNoPeer;
  std::uint32_t room = 0;  // bytes behind the struct
  FrameKind frame = FrameKind::kEager;
  struct Link {
    Message* next = nullptr;
    Message* previous = nullptr;
  };
  std::array<Link, 4> links;  // by KeyIndex
  // The sender's token of a kEagerSync or kReadyToSend; of a kParcel, its number from this peer.
  std::uint64_t token = 0;
  union {
    std::uint64_t address = 0;  // kReadyToSend: where the data lies in the sender's memory
    transport::Parcel* parcel;  // kParcel; null: it will be offered anew (rest.h)
  };
  core::Comm* comm = nullptr;  // set when a matched probe takes the message

  std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }  // eager kinds only
};

class MatchSpace {
 public:
  MatchSpace();

  // Posts a receive; `request->peer` and `match_tag` may be wildcards.
  [[gnu::always_inline]] void Post(core::Request* request) {
    trace::Raise(trace::Level::kPosted, 1);
    if (posted_++ == 0) {
      sole_ = request;
      return;
    }
    if (sole_ != nullptr) PostInBin(std::exchange(sole_, nullptr));
    if (posted_ > kLoadMax * posted_bins_.size()) [[unlikely]]
      GrowPosted();
    PostInBin(request);
  }
  // Takes a posted receive out again. It must be posted.
  void Withdraw(core::Request* request);
  // Takes out the receive that gets a message (source, tag). Null: none is posted.
  [[gnu::always_inline]] core::Request* TakePosted(Rank source, int tag) {
    if (sole_ != nullptr) return Fits(*sole_, source, tag) ? TakeSole() : nullptr;
    if (posted_by_key_[0] != posted_) [[unlikely]]
      return TakeAmongWildcards(source, tag);
    if (posted_ == 0) return nullptr;
    PostedBin& bin = PostedBinOf(source, tag);
    core::Request* request = FirstWith(bin.head, source, tag);
    if (request != nullptr) [[likely]]
      Unlink(request, bin, 0);
    return request;
  }

  void AddUnexpected(Message* message);
  // The earliest message that a receive for (source, tag) gets. It stays queued. Null: none is
  // here.
  Message* FindUnexpected(Rank source, int tag);
  void RemoveUnexpected(Message* message);

  std::uint32_t posted() const { return posted_; }
  std::uint32_t unexpected() const { return unexpected_; }
  // The serial number of what came last.
  std::uint64_t last_serial() const { return next_serial_ - 1; }
  // All posted receives, and all unexpected messages, in no particular order.
  std::vector<core::Request*> Posted() const;
  std::vector<Message*> Unexpected() const;
  // The same, handed to `look` one by one.
  template <class Look>
  void EachPosted(const Look& look) const {
    if (sole_ != nullptr) look(sole_);
    for (const PostedBin& bin : posted_bins_)
      for (core::Request* request = bin.head; request != nullptr; request = request->next)
        look(request);
  }
  template <class Look>
  void EachUnexpected(const Look& look) const {
    for (const UnexpectedBin& bin : unexpected_bins_[0])
      for (Message* message = bin.head; message != nullptr; message = message->links[0].next)
        look(message);
  }

 private:
  struct PostedBin {
    core::Request* head = nullptr;
    core::Request* tail = nullptr;
  };
  struct UnexpectedBin {
    Message* head = nullptr;
    Message* tail = nullptr;
  };
  static constexpr std::size_t kFirstBins = 8;
  static constexpr std::uint32_t kLoadMax = 1;  // entries per bin before the bins double

  // Says which of source and tag are wildcards. In order: (s,t), (*,t), (s,*), (*,*).
  static std::uint32_t KeyIndex(Rank source, int tag) {
    return (source == MPI_ANY_SOURCE ? 1u : 0u) | (tag == MPI_ANY_TAG ? 2u : 0u);
  }
  // The bin that a key belongs to. The number of bins is a power of two. The highest bits of a
  // product depend on all bits of source and tag, and spread consecutive numbers evenly. Source:
  // Knuth, The Art of Computer Programming 3, section 6.4.
  template <class Bins>
  static auto& BinOf(Bins& bins, Rank source, int tag) {
    const std::uint64_t key =
        (static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32) |
        static_cast<std::uint32_t>(tag);
    return bins[(key * 0x9e3779b97f4a7c15u >> 32) * bins.size() >> 32];
  }
  static bool Fits(const core::Request& request, Rank source, int tag) {
    return (request.peer == source || request.peer == MPI_ANY_SOURCE) &&
           (request.match_tag == tag || request.match_tag == MPI_ANY_TAG);
  }
  core::Request* TakeSole() {
    posted_ = 0;
    trace::Lower(trace::Level::kPosted, 1);
    return std::exchange(sole_, nullptr);
  }
  PostedBin& PostedBinOf(Rank source, int tag) { return BinOf(posted_bins_, source, tag); }
  // The first request of a list that has exactly this key.
  static core::Request* FirstWith(core::Request* request, Rank source, int tag) {
    while (request != nullptr && (request->peer != source || request->match_tag != tag))
      request = request->next;
    return request;
  }
  void PostInBin(core::Request* request) {
    request->serial = next_serial_++;
    ++posted_by_key_[KeyIndex(request->peer, request->match_tag)];
    Append(request);
  }
  void Append(core::Request* request) {
    PostedBin& bin = PostedBinOf(request->peer, request->match_tag);
    request->next = nullptr;
    request->previous = bin.tail;
    (bin.tail != nullptr ? bin.tail->next : bin.head) = request;
    bin.tail = request;
  }
  void Unlink(core::Request* request, PostedBin& bin, std::uint32_t key_index) {
    (request->previous != nullptr ? request->previous->next : bin.head) = request->next;
    (request->next != nullptr ? request->next->previous : bin.tail) = request->previous;
    --posted_;
    --posted_by_key_[key_index];
    trace::Lower(trace::Level::kPosted, 1);
  }
  core::Request* TakeAmongWildcards(Rank source, int tag);
  void GrowPosted();
  void GrowUnexpected();
  void BeginListing(std::uint32_t key_index);
  void LinkUnexpected(Message* message, std::uint32_t key_index);
  void UnlinkUnexpected(Message* message, std::uint32_t key_index);

  core::Request* sole_ = nullptr;  // the only receive posted, which then stands in no bin
  std::vector<PostedBin> posted_bins_;
  // These are by KeyIndex. A key that no receive has named yet has no bins.
  std::array<std::vector<UnexpectedBin>, 4> unexpected_bins_;
  std::uint32_t posted_ = 0;
  std::uint32_t unexpected_ = 0;
  std::uint32_t posted_by_key_[4] = {};  // by KeyIndex; a key that nobody waits for is skipped
  std::uint64_t next_serial_ = 0;        // requests and messages are numbered alike
};

}  // namespace lamina::p2p
