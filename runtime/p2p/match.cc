// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/match.h"

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

MatchSpace::MatchSpace() : posted_bins_(kFirstBins) {
  for (auto& bins : unexpected_bins_) bins.resize(kFirstBins);
}

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
  // Old bins are walked one after another, so entries of one key keep their order.
  for (const PostedBin& from : old) {
    for (Request* request = from.head; request != nullptr;) {
      Request* next = request->next;
      Append(request);
      request = next;
    }
  }
}

void MatchSpace::LinkUnexpected(Message* message, std::uint32_t key_index) {
  auto& bins = unexpected_bins_[key_index];
  const std::uint32_t hash =
      Hash(KeySource(key_index, message->source), KeyTag(key_index, message->tag));
  UnexpectedBin& bin = bins[hash & (bins.size() - 1)];
  Message::Link& link = message->links[key_index];
  link.next = nullptr;
  link.previous = bin.tail;
  (bin.tail != nullptr ? bin.tail->links[key_index].next : bin.head) = message;
  bin.tail = message;
}

void MatchSpace::UnlinkUnexpected(Message* message, std::uint32_t key_index) {
  auto& bins = unexpected_bins_[key_index];
  const std::uint32_t hash =
      Hash(KeySource(key_index, message->source), KeyTag(key_index, message->tag));
  UnexpectedBin& bin = bins[hash & (bins.size() - 1)];
  Message::Link& link = message->links[key_index];
  (link.previous != nullptr ? link.previous->links[key_index].next : bin.head) = link.next;
  (link.next != nullptr ? link.next->links[key_index].previous : bin.tail) = link.previous;
}

void MatchSpace::AddUnexpected(Message* message) {
  if (unexpected_ >= kLoadMax * unexpected_bins_[0].size()) GrowUnexpected();
  for (std::uint32_t key_index = 0; key_index < 4; ++key_index) LinkUnexpected(message, key_index);
  ++unexpected_;
  trace::RaiseMarked(trace::Level::kUnexpected, 1);
  trace::Raise(trace::Level::kUnexpectedBytes, message->room);
}

Message* MatchSpace::FindUnexpected(Rank source, int tag) const {
  if (unexpected_ == 0) return nullptr;
  const std::uint32_t key_index = KeyIndex(source, tag);
  const auto& bins = unexpected_bins_[key_index];
  Message* message = bins[Hash(source, tag) & (bins.size() - 1)].head;
  while (message != nullptr && !HasKey(*message, key_index, source, tag))
    message = message->links[key_index].next;
  return message;
}

void MatchSpace::RemoveUnexpected(Message* message) {
  for (std::uint32_t key_index = 0; key_index < 4; ++key_index)
    UnlinkUnexpected(message, key_index);
  --unexpected_;
  trace::Lower(trace::Level::kUnexpected, 1);
  trace::Lower(trace::Level::kUnexpectedBytes, message->room);
}

Message* MatchSpace::first_unexpected() const {
  return FindUnexpected(MPI_ANY_SOURCE, MPI_ANY_TAG);
}

std::vector<Request*> MatchSpace::Posted() const {
  std::vector<Request*> all;
  if (sole_ != nullptr) all.push_back(sole_);
  for (const PostedBin& bin : posted_bins_)
    for (Request* request = bin.head; request != nullptr; request = request->next)
      all.push_back(request);
  return all;
}

void MatchSpace::GrowUnexpected() {
  // The list of (*,*) has every message in order of arrival.
  std::vector<Message*> all;
  all.reserve(unexpected_);
  for (Message* message = first_unexpected(); message != nullptr; message = message->links[3].next)
    all.push_back(message);
  const std::size_t bins_count = unexpected_bins_[0].size() * 2;
  for (auto& bins : unexpected_bins_) bins.assign(bins_count, UnexpectedBin{});
  for (Message* message : all)
    for (std::uint32_t key_index = 0; key_index < 4; ++key_index)
      LinkUnexpected(message, key_index);
}

}  // namespace lamina::p2p
