// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/match.h"

#include <algorithm>

namespace lamina::p2p {
namespace {

using core::Request;

Rank KeySource(std::uint32_t key_index, Rank source) {
  return (key_index & 1u) != 0 ? MPI_ANY_SOURCE : source;
}
int KeyTag(std::uint32_t key_index, int tag) { return (key_index & 2u) != 0 ? MPI_ANY_TAG : tag; }

bool HasKey(const Message& message, std::uint32_t key_index, Rank source, int tag) {
  return KeySource(key_index, message.source) == source && KeyTag(key_index, message.tag) == tag;
}

}  // namespace

MatchSpace::MatchSpace() : posted_bins_(kFirstBins) { unexpected_bins_[0].resize(kFirstBins); }

void MatchSpace::Withdraw(Request* request) {
  if (request == sole_) {
    TakeSole();
    return;
  }
  Unlink(request, PostedBinOf(request->peer, request->match_tag),
         KeyIndex(request->peer, request->match_tag));
}

Request* MatchSpace::TakeAmongWildcards(Rank source, int tag) {
  Request* best = nullptr;
  for (std::uint32_t key_index = 0; key_index < 4; ++key_index) {
    if (posted_by_key_[key_index] == 0) continue;
    const Rank key_source = KeySource(key_index, source);
    const int key_tag = KeyTag(key_index, tag);
    Request* candidate = FirstWith(PostedBinOf(key_source, key_tag).head, key_source, key_tag);
    if (candidate != nullptr && (best == nullptr || candidate->serial < best->serial))
      best = candidate;
  }
  if (best != nullptr) Withdraw(best);
  return best;
}

void MatchSpace::GrowPosted() {
  std::vector<PostedBin> old(posted_bins_.size() * 2);
  old.swap(posted_bins_);
  // All entries of one key are in one bin, so they keep their order.
  for (const PostedBin& from : old) {
    for (Request* request = from.head; request != nullptr;) {
      Request* next = request->next;
      Append(request);
      request = next;
    }
  }
}

void MatchSpace::LinkUnexpected(Message* message, std::uint32_t key_index) {
  UnexpectedBin& bin = BinOf(unexpected_bins_[key_index], KeySource(key_index, message->source),
                             KeyTag(key_index, message->tag));
  Message::Link& link = message->links[key_index];
  link.next = nullptr;
  link.previous = bin.tail;
  (bin.tail != nullptr ? bin.tail->links[key_index].next : bin.head) = message;
  bin.tail = message;
}

void MatchSpace::UnlinkUnexpected(Message* message, std::uint32_t key_index) {
  UnexpectedBin& bin = BinOf(unexpected_bins_[key_index], KeySource(key_index, message->source),
                             KeyTag(key_index, message->tag));
  Message::Link& link = message->links[key_index];
  (link.previous != nullptr ? link.previous->links[key_index].next : bin.head) = link.next;
  (link.next != nullptr ? link.next->links[key_index].previous : bin.tail) = link.previous;
}

void MatchSpace::AddUnexpected(Message* message) {
  if (unexpected_ >= kLoadMax * unexpected_bins_[0].size()) GrowUnexpected();
  message->serial = next_serial_++;
  for (std::uint32_t key_index = 0; key_index < 4; ++key_index)
    if (!unexpected_bins_[key_index].empty()) LinkUnexpected(message, key_index);
  ++unexpected_;
  trace::RaiseMarked(trace::Level::kUnexpected, 1);
  trace::Raise(trace::Level::kUnexpectedBytes, message->room);
}

Message* MatchSpace::FindUnexpected(Rank source, int tag) {
  if (unexpected_ == 0) return nullptr;
  const std::uint32_t key_index = KeyIndex(source, tag);
  if (unexpected_bins_[key_index].empty()) [[unlikely]]
    BeginListing(key_index);
  Message* message = BinOf(unexpected_bins_[key_index], source, tag).head;
  while (message != nullptr && !HasKey(*message, key_index, source, tag))
    message = message->links[key_index].next;
  return message;
}

void MatchSpace::RemoveUnexpected(Message* message) {
  for (std::uint32_t key_index = 0; key_index < 4; ++key_index)
    if (!unexpected_bins_[key_index].empty()) UnlinkUnexpected(message, key_index);
  --unexpected_;
  trace::Lower(trace::Level::kUnexpected, 1);
  trace::Lower(trace::Level::kUnexpectedBytes, message->room);
}

// Lists all unexpected messages by this key as well, from now on.
void MatchSpace::BeginListing(std::uint32_t key_index) {
  std::vector<Message*> all = Unexpected();
  std::sort(all.begin(), all.end(),
            [](const Message* a, const Message* b) { return a->serial < b->serial; });
  unexpected_bins_[key_index].resize(unexpected_bins_[0].size());
  for (Message* message : all) LinkUnexpected(message, key_index);
}

std::vector<Message*> MatchSpace::Unexpected() const {
  std::vector<Message*> all;
  all.reserve(unexpected_);
  EachUnexpected([&](Message* message) { all.push_back(message); });
  return all;
}

std::vector<Request*> MatchSpace::Posted() const {
  std::vector<Request*> all;
  EachPosted([&](Request* request) { all.push_back(request); });
  return all;
}

void MatchSpace::GrowUnexpected() {
  for (std::uint32_t key_index = 0; key_index < 4; ++key_index) {
    std::vector<UnexpectedBin> old(unexpected_bins_[key_index].size() * 2);
    old.swap(unexpected_bins_[key_index]);
    // All entries of one key are in one bin, so they keep their order.
    for (const UnexpectedBin& from : old) {
      for (Message* message = from.head; message != nullptr;) {
        Message* next = message->links[key_index].next;
        LinkUnexpected(message, key_index);
        message = next;
      }
    }
  }
}

}  // namespace lamina::p2p
