// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/match.h"

#include "runtime/base/check.h"
#include "runtime/trace/trace.h"

namespace lamina::p2p {
namespace {

using core::Request;

// Which of source and tag are given: 0 (s,t), 1 (*,t), 2 (s,*), 3 (*,*).
std::uint32_t KeyIndex(Rank source, int tag) {
  return (source == MPI_ANY_SOURCE ? 1u : 0u) | (tag == MPI_ANY_TAG ? 2u : 0u);
}
Rank KeySource(std::uint32_t key_index, Rank source) {
  return (key_index & 1u) != 0 ? MPI_ANY_SOURCE : source;
}
int KeyTag(std::uint32_t key_index, int tag) { return (key_index & 2u) != 0 ? MPI_ANY_TAG : tag; }

// Multiplicative hashing; the product's high bits depend on all of both numbers.
// Source: Knuth, The Art of Computer Programming 3, section 6.4.
std::uint32_t Hash(Rank source, int tag) {
  const std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32) |
                            static_cast<std::uint32_t>(tag);
  return static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15u) >> 32);
}

bool HasKey(const Message& message, std::uint32_t key_index, Rank source, int tag) {
  return KeySource(key_index, message.source) == source && KeyTag(key_index, message.tag) == tag;
}

constexpr std::size_t kFirstBins = 8;
constexpr std::uint32_t kLoadMax = 2;  // entries per bin before the bins double

}  // namespace

MatchSpace::MatchSpace() : posted_bins_(kFirstBins) {
  for (auto& bins : unexpected_bins_) bins.resize(kFirstBins);
}

std::uint32_t MatchSpace::PostedBinOf(Rank source, int tag) const {
  return Hash(source, tag) & static_cast<std::uint32_t>(posted_bins_.size() - 1);
}

void MatchSpace::Post(Request* request) {
  if (posted_ >= kLoadMax * posted_bins_.size()) GrowPosted();
  request->serial = next_serial_++;
  PostedBin& bin = posted_bins_[PostedBinOf(request->peer, request->match_tag)];
  request->next = nullptr;
  request->previous = bin.tail;
  (bin.tail != nullptr ? bin.tail->next : bin.head) = request;
  bin.tail = request;
  ++posted_;
  trace::Raise(trace::Level::kPosted, 1);
  ++wildcards_[KeyIndex(request->peer, request->match_tag)];
}

void MatchSpace::Withdraw(Request* request) {
  PostedBin& bin = posted_bins_[PostedBinOf(request->peer, request->match_tag)];
  (request->previous != nullptr ? request->previous->next : bin.head) = request->next;
  (request->next != nullptr ? request->next->previous : bin.tail) = request->previous;
  request->next = request->previous = nullptr;
  --posted_;
  trace::Lower(trace::Level::kPosted, 1);
  --wildcards_[KeyIndex(request->peer, request->match_tag)];
}

Request* MatchSpace::EarliestIn(Rank source, int tag) const {
  Request* request = posted_bins_[PostedBinOf(source, tag)].head;
  while (request != nullptr && (request->peer != source || request->match_tag != tag))
    request = request->next;
  return request;
}

Request* MatchSpace::TakePosted(Rank source, int tag) {
  if (posted_ == 0) return nullptr;
  Request* best = nullptr;
  for (std::uint32_t key_index = 0; key_index < 4; ++key_index) {
    if (wildcards_[key_index] == 0) continue;
    Request* candidate = EarliestIn(KeySource(key_index, source), KeyTag(key_index, tag));
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
      PostedBin& bin = posted_bins_[PostedBinOf(request->peer, request->match_tag)];
      request->next = nullptr;
      request->previous = bin.tail;
      (bin.tail != nullptr ? bin.tail->next : bin.head) = request;
      bin.tail = request;
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
