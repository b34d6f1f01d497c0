// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/match_spaces.h"

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
  for (Message* message : space->Unexpected()) {
    space->RemoveUnexpected(message);
    if (message->frame == FrameKind::kParcel) message->parcel->Drop();
    messages_.Give(message);
  }
}

std::vector<core::Request*> MatchSpaces::Posted() const {
  std::vector<core::Request*> all;
  for (const auto& [context, space] : spaces_) {
    const std::vector<core::Request*> posted = space->Posted();
    all.insert(all.end(), posted.begin(), posted.end());
  }
  return all;
}

Message* MatchSpaces::TakeAwaited(PeerId from, std::uint64_t token) {
  for (const auto& [context, space] : spaces_)
    for (Message* message : space->Unexpected()) {
      const bool awaited =
          message->frame == FrameKind::kEagerSync || message->frame == FrameKind::kReadyToSend;
      if (message->from != from || !awaited || message->token != token) continue;
      space->RemoveUnexpected(message);
      return message;
    }
  return nullptr;
}

}  // namespace lamina::p2p
