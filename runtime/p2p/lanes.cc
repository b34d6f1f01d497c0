// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/lanes.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/event_ring.h"
#include "runtime/p2p/counted_endpoint.h"
#include "runtime/trace/profile.h"
#include "runtime/trace/trace.h"

namespace lamina::p2p {

using core::Request;

// calloc leaves untouched pages out of memory, so peers that nobody speaks to cost nothing.
Lanes::Lanes(std::uint32_t peers, const Carriers& carriers, Cards& cards, transport::Inbox& inbox)
    : lanes_(static_cast<Lane**>(std::calloc(peers, sizeof(Lane*)))),
      peers_(peers),
      carriers_(carriers),
      cards_(cards),
      inbox_(inbox) {
  CHECK(lanes_ != nullptr);
}

Lanes::~Lanes() {
  Close();
  std::free(lanes_);
}

// Their number doubles, so that peers that come one by one do not cost a copy each.
void Lanes::Grow(std::uint32_t peers) {
  if (peers <= peers_) return;
  const std::uint32_t grown = std::max(peers, 2 * peers_);
  auto** const lanes = static_cast<Lane**>(std::realloc(lanes_, grown * sizeof(Lane*)));
  CHECK(lanes != nullptr);
  std::fill(lanes + peers_, lanes + grown, nullptr);
  lanes_ = lanes;
  peers_ = grown;
}

bool Lanes::EndThoseLetGo() {
  std::erase_if(let_go_, [this](PeerId peer) {
    Lane* const lane = lanes_[Index(peer)];
    if (lane == nullptr) return true;
    if (lane->farewell) SayGoodbyeTo(peer);
    if (lane->listed) return false;
    if (lane->lost) --lost_;
    lanes_[Index(peer)] = nullptr;
    std::erase_if(storage_, [lane](const auto& each) { return each.get() == lane; });
    return true;
  });
  return let_go_.empty();
}

void Lanes::Close() {
  let_go_.clear();
  waiting_lanes_.clear();
  for (const auto& lane : storage_) lanes_[Index(lane->peer)] = nullptr;
  storage_.clear();
  lost_ = stale_ = 0;
}

Lane* Lanes::Known(PeerId peer) const {
  if (Lane* const lane = lanes_[Index(peer)]; lane != nullptr || stale_ == 0) return lane;
  for (const auto& lane : storage_)
    if (lane->peer == peer) return lane.get();
  return nullptr;
}

// Returns a new lane, or the stale one to this peer.
Lane& Lanes::WithoutEndpoint(PeerId peer) {
  if (Lane* const stale = Known(peer); stale != nullptr) {
    --stale_;
    return *stale;
  }
  storage_.push_back(std::make_unique<Lane>());
  storage_.back()->peer = peer;
  trace::Raise(trace::Level::kConnected, 1);
  return *storage_.back();
}

Lane& Lanes::Connect(PeerId peer) {
  CHECK(Has(peer));
  Lane& lane = WithoutEndpoint(peer);
  lanes_[Index(peer)] = &lane;
  lane.endpoint = closed_;
  if (closed_ != nullptr) return lane;
  Result<bootstrap::Card> card = cards_.Of(peer);
  Status status = card.ok() ? ConnectThrough(lane, *card) : std::move(card).status();
  if (!status.ok()) inbox_.Lost(peer, std::move(status));
  return lane;
}

// Takes the first carrier, in order of preference, that reaches the peer.
Status Lanes::ConnectThrough(Lane& lane, const bootstrap::Card& card) {
  std::string refusals;
  std::string better;  // without those of a carrier that leads to this process alone
  for (const Carrier& carrier : carriers_.all()) {
    const auto refuse = [&](std::string_view why) {
      for (std::string* const text : {&refusals, carrier.loopback ? nullptr : &better})
        if (text != nullptr)
          *text += (text->empty() ? "" : "; ") + carrier.name + ": " + std::string(why);
    };
    const auto address =
        std::find_if(card.addresses.begin(), card.addresses.end(),
                     [&](const auto& entry) { return entry.first == carrier.name; });
    if (address == card.addresses.end()) {
      refuse("the peer does not offer it");
      continue;
    }
    Result<std::unique_ptr<transport::Endpoint>> endpoint =
        carrier.transport->Connect(lane.peer, address->second);
    if (!endpoint.ok()) {
      lane.ended = lane.ended || endpoint.status().code() == Code::kPeerLost;
      refuse(endpoint.status().message());
      continue;
    }
    lane.owned = *std::move(endpoint);
    if (trace::profile != nullptr)
      lane.owned = Counted(std::move(lane.owned), lane.peer, carrier.name);
    lane.endpoint = lane.owned.get();
    lane.caps = lane.endpoint->caps();
    lane.farewell = carrier.network;
    // A lane that was connected before may hold messages.
    if (lane.waiting_head == nullptr) lane.fast_bytes_max = lane.caps.eager_bytes_max;
    chosen_ = carrier.name + (better.empty() ? "" : " (not " + better + ")");
    RecordEvent("p2p: peer %u through %s", Index(lane.peer), carrier.name.c_str());
    return {};
  }
  return Error(Code::kPeerLost, "no transport reaches it (%s)", refusals.c_str());
}

void Lanes::List(Lane& lane) {
  if (std::exchange(lane.listed, true)) return;
  waiting_lanes_.push_back(&lane);
}

void Lanes::Queue(Lane& lane, Request* request) {
  request->next = nullptr;
  (lane.waiting_head != nullptr ? lane.waiting_tail->next : lane.waiting_head) = request;
  lane.waiting_tail = request;
  lane.fast_bytes_max = -1;
  List(lane);
}

bool Lanes::Withdraw(Lane& lane, Request* request) {
  Request* before = nullptr;
  Request* waiting = lane.waiting_head;
  while (waiting != nullptr && waiting != request) before = std::exchange(waiting, waiting->next);
  if (waiting == nullptr) return false;
  (before != nullptr ? before->next : lane.waiting_head) = request->next;
  if (lane.waiting_tail == request) lane.waiting_tail = before;
  return true;
}

namespace {

Code Send(Lane& lane, const Lane::Answer& answer) {
  std::span<const std::byte> payload;
  if (answer.has_grant)
    payload = {reinterpret_cast<const std::byte*>(&answer.grant), sizeof answer.grant};
  return lane.endpoint->SendShort({answer.header, payload});
}

}  // namespace

void Lanes::SendAnswer(Lane& lane, const transport::Header& header, const Grant* grant) {
  if (lane.lost) return;
  const Lane::Answer answer{header, grant != nullptr ? *grant : Grant{}, grant != nullptr};
  if (lane.answers.empty() && Send(lane, answer) != Code::kAgain) return;
  lane.answers.push_back(answer);
  List(lane);
}

void Lanes::Nudge(PeerId peer) {
  Lane& lane = To(peer);
  if (lane.answers.empty()) SendAnswer(lane, PackToken(FrameKind::kNudge, 0));
}

bool Lanes::Flush(Sender& sender) {
  bool moved = false;
  for (std::size_t i = 0; i < waiting_lanes_.size();) {
    Lane& lane = *waiting_lanes_[i];
    moved = FlushLane(lane, sender) || moved;
    if (lane.answers.empty() && lane.waiting_head == nullptr) {
      lane.listed = false;
      waiting_lanes_[i] = waiting_lanes_.back();
      waiting_lanes_.pop_back();
    } else {
      ++i;
    }
  }
  return moved;
}

bool Lanes::FlushLane(Lane& lane, Sender& sender) {
  bool moved = false;
  while (!lane.answers.empty()) {
    if (!lane.lost && Send(lane, lane.answers.front()) == Code::kAgain) return moved;
    lane.answers.pop_front();
    moved = true;
  }
  while (lane.waiting_head != nullptr) {
    Request* request = lane.waiting_head;
    Request* next = request->next;
    const Code code = lane.lost ? Code::kPeerLost : sender.TrySend(lane, request);
    if (code == Code::kAgain) return moved;
    lane.waiting_head = next;
    if (code != Code::kOk) sender.FailSend(lane, request);
    moved = true;
  }
  if (!lane.lost) lane.fast_bytes_max = lane.caps.eager_bytes_max;
  return moved;
}

bool Lanes::Lose(PeerId peer, Status why) {
  if (!Has(peer)) return false;
  if (closed_ != nullptr) {
    losses_at_rest_.push_back({peer, std::move(why)});
    return false;
  }
  Lane* lane = lanes_[Index(peer)];
  if (lane == nullptr || std::exchange(lane->lost, true)) return false;
  ++lost_;
  lane->fast_bytes_max = -1;
  // A network may lose a process that lives.
  if (lane->owned != nullptr && !lane->farewell && why.code() == Code::kPeerLost)
    lane->ended = true;
  lane->lost_why = why.message();
  RecordEvent("p2p: peer %u lost: %s", Index(peer), lane->lost_why.c_str());
  return true;
}

bool Lanes::AreLost(const core::Comm& comm, Rank source) const {
  const auto is_lost = [this](PeerId peer) {
    const Lane* const lane = Find(peer);
    return lane != nullptr && lane->lost;
  };
  if (source >= 0) return is_lost(comm.peers[source]);
  return comm.is_inter() && std::all_of(comm.peers, comm.peers + comm.destinations, is_lost);
}

bool Lanes::LoseUnmet(PeerId peer, Status why) {
  if (!Has(peer) || lanes_[Index(peer)] != nullptr) return false;
  Lane& lane = WithoutEndpoint(peer);
  lanes_[Index(peer)] = &lane;
  lane.endpoint = closed_;
  return Lose(peer, std::move(why));
}

void Lanes::SayGoodbye() {
  for (const auto& lane : storage_)
    if (lane->farewell) SayGoodbyeTo(lane->peer);
}

// Whoever has been told may have ended, so nothing is connected for its sake.
void Lanes::SayGoodbyeTo(PeerId peer) {
  if (const Lane* const known = Known(peer); known != nullptr && known->goodbye_sent) return;
  Lane& lane = To(peer);
  if (!lane.lost && !std::exchange(lane.goodbye_sent, true))
    SendAnswer(lane, PackToken(FrameKind::kGoodbye, 0));
}

bool Lanes::Parted() const {
  return std::all_of(storage_.begin(), storage_.end(), [](const auto& lane) {
    return !lane->farewell || lane->lost || (lane->goodbye_received && lane->answers.empty());
  });
}

}  // namespace lamina::p2p
