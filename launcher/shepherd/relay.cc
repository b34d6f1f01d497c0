// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/relay.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "launcher/shepherd/agent.h"
#include "launcher/shepherd/shepherd_word.h"
#include "launcher/shepherd/tuning.h"
#include "launcher/spawn/spawner.h"

namespace lamina::launcher {
Relay::Relay(const wire::Orders& orders, Poller* poller, Heartbeat* heartbeat, Outlets outlets)
    : orders_(orders),
      heartbeat_(heartbeat),
      outlets_(std::move(outlets)),
      shepherds_(orders.plan, orders.rules, orders.silence_ms, poller, heartbeat,
                 Shepherds::Outlets{
                     [this](const Node& node) { return OrdersFor(node); },
                     [this](Node* node, const wire::Frame& frame) { return Hear(node, frame); },
                     [this](Node* node, bool started, const std::string& why) {
                       Failed(node, started, why);
                     },
                     [](const Node&) { return false; }, [this] { EndIfDone(); }}),
      by_host_(orders.plan.hosts.size()),
      hub_(orders.plan, std::vector<pmix::Hub::Edge>(orders.plan.hosts.size(), pmix::Hub::kUp),
           false,
           pmix::Hub::Outlets{[this](pmix::Hub::Edge edge, const std::string& letter) {
                                if (edge == pmix::Hub::kUp)
                                  outlets_.send(wire::Kind::kLetter, letter);
                                else
                                  shepherds_.Send(shepherds_.nodes()[edge].get(),
                                                  wire::Kind::kLetter, letter);
                              },
                              nullptr}) {
  // Agents look names up with little patience here. Hosts that are not found in time are given back
  // to the launcher, which has the patience that resolv.conf asks for.
  setenv("RES_OPTIONS", "timeout:2 attempts:1", 0);
  shepherds_.Add(orders_.host, true, {OwnProgram(), std::string(kShepherdWord)}, {});
  shepherds_.AddTree(orders_.below);
  for (const auto& node : shepherds_.nodes())
    for (const std::uint32_t host : node->hosts()) {
      by_host_[host] = node.get();
      hub_.Move(host, node->edge);
    }
  for (const wire::RankOrder& rank : orders_.ranks) running_.insert(rank.rank);
  shepherds_.StartWaiting();
}

Node* Relay::NodeOf(std::uint32_t rank) const {
  return rank < orders_.plan.ranks.size() ? by_host_[orders_.plan.ranks[rank].host] : nullptr;
}

std::string Relay::OrdersFor(const Node& node) const {
  wire::Orders orders = orders_;
  orders.host = node.host;
  orders.below = node.below;
  std::erase_if(orders.ranks,
                [this, &node](const wire::RankOrder& rank) { return NodeOf(rank.rank) != &node; });
  return Encode(orders);
}

Status Relay::Obey(const wire::Frame& frame) {
  const auto pass_on = [this, &frame](std::uint32_t rank) {
    if (Node* node = NodeOf(rank); node != nullptr)
      shepherds_.Send(node, frame.kind, frame.payload);
  };
  switch (frame.kind) {
    case wire::Kind::kInput:
      return wire::With(wire::DecodePiece(frame.payload), [&](const auto& m) { pass_on(m.rank); });
    case wire::Kind::kWritten:
      return wire::With(wire::DecodeCredit(frame.payload), [&](const auto& m) { pass_on(m.rank); });
    case wire::Kind::kSignal:
      return wire::With(wire::DecodeSignal(frame.payload), [this](const auto& m) { Signal(m); });
    case wire::Kind::kLetter:
      return hub_.Receive(pmix::Hub::kUp, frame.payload);
    case wire::Kind::kBeat:
      return wire::With(wire::DecodeBeat(frame.payload), [](const auto&) {});
    case wire::Kind::kPing:
      return wire::With(wire::DecodePing(frame.payload), [&](const wire::Ping& ping) {
        Node* const node = ping.host < by_host_.size() ? by_host_[ping.host] : nullptr;
        if (node != nullptr)
          shepherds_.Send(node, frame.kind, frame.payload);
        else if (ping.host == orders_.host)
          outlets_.send(frame.kind, frame.payload);
      });
    case wire::Kind::kVisit:
      return wire::With(wire::DecodeVisit(frame.payload), [&](const wire::Visit& visit) {
        if (Node* node = visit.host < by_host_.size() ? by_host_[visit.host] : nullptr)
          shepherds_.Send(node, frame.kind, frame.payload);
      });
    case wire::Kind::kSaving:
      return wire::With(wire::DecodeSavingWord(frame.payload),
                        [&](const auto& m) { pass_on(m.rank); });
    case wire::Kind::kStart:
      shepherds_.SendAll(frame.kind, frame.payload);
      return {};
    case wire::Kind::kSweep:
      shepherds_.Sweep();
      EndIfDone();
      return {};
    default:
      return Error(Code::kInvalid, "a frame of kind %u on the stream makes no sense",
                   static_cast<unsigned>(frame.kind));
  }
}

Status Relay::Hear(Node* node, const wire::Frame& frame) {
  const auto pass_on = [this, node, &frame](std::uint32_t rank) {
    if (NodeOf(rank) == node) outlets_.send(frame.kind, frame.payload);
  };
  switch (frame.kind) {
    case wire::Kind::kEnded:
      return wire::With(wire::DecodeEnds(frame.payload),
                        [&](auto& m) { HearEnds(node, std::move(m)); });
    case wire::Kind::kOutput:
      return wire::With(wire::DecodePiece(frame.payload), [&](const auto& m) { pass_on(m.rank); });
    case wire::Kind::kTaken:
      return wire::With(wire::DecodeCredit(frame.payload), [&](const auto& m) { pass_on(m.rank); });
    case wire::Kind::kLetter:
      return hub_.Receive(node->edge, frame.payload);
    case wire::Kind::kBeat:
      return wire::With(wire::DecodeBeat(frame.payload), [&](const wire::Beat& beat) {
        for (const auto& head : beat.heads)
          if (NodeOf(head.rank) == node) heads_[head.rank] = head.ring_head;
      });
    case wire::Kind::kTrace:
    case wire::Kind::kProfile:
      return wire::With(wire::DecodeTracePiece(frame.payload),
                        [&](const auto& m) { pass_on(m.rank); });
    case wire::Kind::kStarted:
      return wire::With(wire::DecodeStarted(frame.payload), [&](auto& started) {
        std::erase_if(started, [&](const auto& each) { return NodeOf(each.rank) != node; });
        if (!started.empty()) outlets_.send(frame.kind, Encode(started));
      });
    case wire::Kind::kUsage:
      return wire::With(wire::DecodeUsage(frame.payload), [&](auto& usage) {
        std::erase_if(usage, [&](const RankUsage& each) { return NodeOf(each.rank) != node; });
        if (!usage.empty()) outlets_.send(frame.kind, wire::Encode(usage));
      });
    case wire::Kind::kGone:
      return wire::With(wire::DecodeGone(frame.payload),
                        [&](auto& m) { HearGone(node, std::move(m)); });
    case wire::Kind::kReady:
      return wire::With(wire::DecodeReady(frame.payload),
                        [&](const auto& m) { HearReady(node, m); });
    case wire::Kind::kSaving:
      return wire::With(wire::DecodeSavingWord(frame.payload),
                        [&](const auto& m) { pass_on(m.rank); });
    case wire::Kind::kPing: {
      wire::Beat beat;
      AddHeads(&beat);
      if (!beat.heads.empty()) outlets_.send(wire::Kind::kBeat, Encode(beat));
      outlets_.send(frame.kind, frame.payload);
      return {};
    }
    case wire::Kind::kVisit:
      return wire::With(wire::DecodeVisit(frame.payload), [&](const wire::Visit& visit) {
        if (visit.host < by_host_.size() && by_host_[visit.host] == node)
          outlets_.send(frame.kind, frame.payload);
      });
    default:
      return Error(Code::kInvalid, "a frame of kind %u on the stream makes no sense",
                   static_cast<unsigned>(frame.kind));
  }
}

void Relay::HearEnds(const Node* node, std::vector<wire::Ended> ends) {
  for (wire::Ended& ended : ends)
    if (NodeOf(ended.rank) == node) NoteEnd(std::move(ended));
}

// An end that went well waits a moment for others, unless it is the last.
void Relay::NoteEnd(wire::Ended ended) {
  running_.erase(ended.rank);
  heads_.erase(ended.rank);
  const bool well = ended.kind == static_cast<std::uint8_t>(RankEvent::Kind::kExited) &&
                    ended.code == 0 && !running_.empty();
  if (ends_.empty()) {
    ends_due_ms_ = MonotonicMs() + kGatherMs;
    heartbeat_->Hurry(kGatherMs);
  }
  ends_.push_back(std::move(ended));
  if (!well) TellEnds();
}

void Relay::TellEnds() {
  if (!ends_.empty()) outlets_.send(wire::Kind::kEnded, Encode(std::exchange(ends_, {})));
}

void Relay::HearReady(Node* node, const wire::Ready& ready) {
  const std::uint32_t host = ready.sharing_host;
  if (host < by_host_.size() && by_host_[host] == node && ready_.sharing_host == ready_.kNone)
    ready_ = ready;
  node->ready = true;
  TellIfReady();
}

void Relay::TellIfReady() {
  if (shepherds_.ready() && !std::exchange(told_ready_, true))
    outlets_.send(wire::Kind::kReady, Encode(ready_));
}

// Somebody further down says that these hosts are not behind `node` any more.
void Relay::HearGone(Node* node, wire::Gone gone) {
  std::erase_if(gone.hosts, [this, node](std::uint32_t host) {
    return host >= by_host_.size() || by_host_[host] != node || host == node->host;
  });
  if (gone.hosts.empty()) return;
  outlets_.send(wire::Kind::kGone, Encode(gone));
  std::erase_if(node->below, [&gone](const wire::Below& below) {
    return std::find(gone.hosts.begin(), gone.hosts.end(), below.host) != gone.hosts.end();
  });
  Forget(gone.hosts, !gone.lost);
}

// With `given_back` the launcher may reach them yet, and then speaks for them.
void Relay::Forget(const std::vector<std::uint32_t>& hosts, bool given_back) {
  for (const std::uint32_t host : hosts) {
    by_host_[host] = nullptr;
    std::erase_if(running_, [this, host](std::uint32_t rank) {
      return orders_.plan.ranks[rank].host == host;
    });
    if (given_back) hub_.Move(host, pmix::Hub::kUp);
  }
}

void Relay::Failed(Node* node, bool started, const std::string& why) {
  const bool give_back = !started && !node->here;
  const std::vector<std::uint32_t> hosts = node->hosts();
  TellEnds();
  outlets_.send(
      wire::Kind::kGone,
      Encode(wire::Gone{!give_back, hosts,
                        give_back ? orders_.plan.hosts[orders_.host].name + " " + why : why}));
  Forget(hosts, give_back);
  node->ready = give_back;  // nobody here waits for what another reaches
  TellIfReady();
  EndIfDone();
}

void Relay::Signal(const wire::SignalOrder& order) {
  std::map<Node*, std::vector<std::uint32_t>> by_node;
  for (const std::uint32_t rank : order.ranks)
    if (Node* node = NodeOf(rank); node != nullptr && !node->over()) by_node[node].push_back(rank);
  for (auto& [node, ranks] : by_node)
    if (node->state == Node::State::kHerding)
      shepherds_.Send(node, wire::Kind::kSignal,
                      Encode(wire::SignalOrder{order.signal, std::move(ranks)}));
    else if (EndsProcesses(static_cast<int>(order.signal)))
      Cancel(node, order.signal);
}

// The job ends before the node is up, so its ranks end too.
void Relay::Cancel(Node* node, std::uint32_t signal) {
  shepherds_.Cancel(node);
  for (const wire::RankOrder& rank : orders_.ranks) {
    if (NodeOf(rank.rank) != node) continue;
    wire::Ended ended;
    ended.rank = rank.rank;
    ended.kind = static_cast<std::uint8_t>(RankEvent::Kind::kKilled);
    ended.signal = static_cast<std::int32_t>(signal);
    NoteEnd(std::move(ended));
    for (const std::uint8_t which : {std::uint8_t{1}, std::uint8_t{2}})
      outlets_.send(wire::Kind::kOutput, Encode(wire::Piece{rank.rank, which, {}}));
  }
}

void Relay::EndIfDone() {
  if (done_ || !shepherds_.sweeping() || !shepherds_.over()) return;
  done_ = true;
  TellEnds();
  outlets_.done();
}

void Relay::Tick(wire::Beat* beat) {
  shepherds_.Tick();
  if (!ends_.empty() && MonotonicMs() >= ends_due_ms_)
    TellEnds();
  else if (!ends_.empty())
    heartbeat_->Hurry(kGatherMs);
  AddHeads(beat);
}

void Relay::AddHeads(wire::Beat* beat) {
  for (auto& [rank, head] : std::exchange(heads_, {})) beat->heads.push_back({rank, head});
}

}  // namespace lamina::launcher
