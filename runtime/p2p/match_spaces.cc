// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/match_spaces.h"

#include <algorithm>

namespace lamina::p2p {

MatchSpaces::~MatchSpaces() {
  for (const auto& [context, space] : spaces_) DropMessages(space.get());
}

MatchSpace& MatchSpaces::Make(ContextId context) {
  std::unique_ptr<MatchSpace>& space = spaces_[Index(context)];
  if (space == nullptr) space = std::make_unique<MatchSpace>();
  last_context_ = context;
  last_space_ = space.get();
  return *space;
}

const MatchSpace* MatchSpaces::Find(ContextId context) const {
  const auto space = spaces_.find(Index(context));
  return space == spaces_.end() ? nullptr : space->second.get();
}

void MatchSpaces::Drop(ContextId context) {
  const auto found = spaces_.find(Index(context));
  if (found == spaces_.end()) return;
  DropMessages(found->second.get());
  spaces_.erase(found);
  last_space_ = nullptr;
}

void MatchSpaces::DropMessages(MatchSpace* space) {
  for (Message* message : space->Unexpected()) DropMessage(space, message);
}

void MatchSpaces::DropMessage(MatchSpace* space, Message* message) {
  space->RemoveUnexpected(message);
  if (message->frame == FrameKind::kParcel) {
    messages_.ForgetLent(message);
    if (message->parcel != nullptr) message->parcel->Drop();
  }
  const bool is_new =
      std::find(forgotten_.begin(), forgotten_.end(), message->from) == forgotten_.end();
  if (message->frame != FrameKind::kEager && is_new) forgotten_.push_back(message->from);
  messages_.Give(message);
}

std::vector<core::Request*> MatchSpaces::Posted() const {
  std::vector<core::Request*> all;
  for (const auto& [context, space] : spaces_) {
    const std::vector<core::Request*> posted = space->Posted();
    all.insert(all.end(), posted.begin(), posted.end());
  }
  return all;
}

Message* MatchSpaces::TakeAwaited(PeerId from, std::uint64_t token, FrameKind frame) {
  const bool is_parcel = frame == FrameKind::kParcel;
  for (const auto& [context, space] : spaces_)
    for (Message* message : space->Unexpected()) {
      if (message->from != from || message->frame == FrameKind::kEager) continue;
      if ((message->frame == FrameKind::kParcel) != is_parcel || message->token != token) continue;
      space->RemoveUnexpected(message);
      return message;
    }
  return nullptr;
}

std::vector<PeerId> MatchSpaces::Awaiting() const {
  std::vector<PeerId> peers = forgotten_;
  for (const auto& [context, space] : spaces_)
    for (const Message* message : space->Unexpected())
      if (message->frame != FrameKind::kEager) peers.push_back(message->from);
  return peers;
}

}  // namespace lamina::p2p
