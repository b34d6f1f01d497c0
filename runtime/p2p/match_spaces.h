// SPDX-License-Identifier: BSD-3-Clause
// The matching spaces of all contexts. A space is made when a context is first used.
//
// Ownership: owns the spaces. Unexpected messages in them come from a pool and return there.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/core/request.h"
#include "runtime/p2p/match.h"
#include "runtime/p2p/message_pool.h"

namespace lamina::p2p {

class MatchSpaces {
 public:
  explicit MatchSpaces(MessagePool& messages) : messages_(messages) {}
  ~MatchSpaces();
  MatchSpaces(const MatchSpaces&) = delete;
  MatchSpaces& operator=(const MatchSpaces&) = delete;

  MatchSpace& Of(ContextId context) {
    return context == last_context_ && last_space_ != nullptr ? *last_space_ : Make(context);
  }
  // Null: the context has not been used yet.
  const MatchSpace* Find(ContextId context) const;
  // Forgets a context and the unexpected messages in it.
  void Drop(ContextId context);

  // The posted receives of all contexts, in no particular order.
  std::vector<core::Request*> Posted() const;
  // Hands each posted receive to `look`, and each unexpected message with its context.
  template <class Look>
  void EachPosted(const Look& look) const {
    for (const auto& [context, space] : spaces_) space->EachPosted(look);
  }
  template <class Look>
  void EachUnexpected(const Look& look) const {
    for (const auto& entry : spaces_)
      entry.second->EachUnexpected(
          [&](const Message* message) { look(ContextId{entry.first}, *message); });
  }
  // Takes out the unexpected message for which the sender `from` waits under `token`, or the
  // parcel of that number if `frame` is kParcel. Null: it has been matched, or never came.
  Message* TakeAwaited(PeerId from, std::uint64_t token, FrameKind frame);
  // Gives back the unmatched parcels of those senders, which have left.
  template <class HasLeft>
  void DropParcelsOf(const HasLeft& has_left) {
    for (const auto& [context, space] : spaces_)
      for (Message* message : space->Unexpected())
        if (message->frame == FrameKind::kParcel && has_left(message->from))
          DropMessage(space.get(), message);
  }
  // Those who wait for a message to be matched, or waited for one that was forgotten with its
  // context.
  std::vector<PeerId> Awaiting() const;

 private:
  MatchSpace& Make(ContextId context);
  void DropMessages(MatchSpace* space);
  void DropMessage(MatchSpace* space, Message* message);

  MessagePool& messages_;
  std::vector<PeerId> forgotten_;  // who waited for messages that were forgotten
  // The space that was used last is likely to be used next.
  ContextId last_context_{};
  MatchSpace* last_space_ = nullptr;
  std::unordered_map<std::uint64_t, std::unique_ptr<MatchSpace>> spaces_;
};

}  // namespace lamina::p2p
