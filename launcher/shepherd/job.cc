// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/job.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "launcher/control/ask.h"
#include "runtime/base/clock.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

HostState::Kind KindOf(Node::State state) {
  switch (state) {
    case Node::State::kHerding:
      return HostState::Kind::kUp;
    case Node::State::kDone:
      return HostState::Kind::kDone;
    case Node::State::kLost:
      return HostState::Kind::kLost;
    default:
      return HostState::Kind::kStarting;
  }
}

}  // namespace

ShepherdedJob::ShepherdedJob(const Plan& plan, ShepherdStarter starter, ShepherdParams params)
    : plan_(plan),
      starter_(std::move(starter)),
      params_(std::move(params)),
      sharing_(std::any_of(plan_.ranks.begin(), plan_.ranks.end(),
                           [](const RankPlan& rank) { return rank.sharing == Sharing::kShared; })
                   ? Sharing::kShared
                   : Sharing::kExclusive) {}

ShepherdedJob::~ShepherdedJob() {
  if (output_ != nullptr) output_->Tell(nullptr);
  if (saving_ != nullptr) saving_->Tell(nullptr);
  visitors_.reset();
  shepherds_.reset();
  for (const auto& [fd, guest] : guests_) poller_->Remove(fd);
  guests_.clear();
  question_.reset();
  crew_.reset();
  remotes_.clear();
  if (exchange_.fd >= 0) close(exchange_.fd);
}

std::optional<RankEvent> ShepherdedJob::Next() {
  poller_->Turn();
  shepherds_->CarryAll();
  if (events_.empty() || holding_) return std::nullopt;
  RankEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

Status ShepherdedJob::Hear(Node* node, const wire::Frame& frame) {
  const auto mine = [this, node](std::uint32_t rank) {
    return rank < plan_.ranks.size() && NodeOfRank(rank) == node;
  };
  switch (frame.kind) {
    case wire::Kind::kEnded:
      return wire::With(wire::DecodeEnds(frame.payload), [&](const std::vector<wire::Ended>& ends) {
        for (const wire::Ended& ended : ends)
          if (mine(ended.rank)) HearEnd(ended);
      });
    case wire::Kind::kOutput:
      return wire::With(wire::DecodePiece(frame.payload), [&](const wire::Piece& piece) {
        if (mine(piece.rank) && piece.stream > 0) Deliver(piece.rank, piece.stream, piece.bytes);
      });
    case wire::Kind::kTaken:
      return wire::With(wire::DecodeCredit(frame.payload), [&](const wire::Credit& credit) {
        Source* input = mine(credit.rank) ? remotes_.at(credit.rank).input.get() : nullptr;
        if (input == nullptr) return;
        if (credit.bytes == wire::Credit::kGone)
          input->Refuse();
        else
          input->Grant(credit.bytes);
      });
    case wire::Kind::kLetter:
      return hub_->Receive(node->edge, frame.payload);
    case wire::Kind::kBeat:
      return wire::With(wire::DecodeBeat(frame.payload), [&](const wire::Beat& beat) {
        for (const auto& head : beat.heads)
          if (mine(head.rank)) remotes_.at(head.rank).trace.head = head.ring_head;
      });
    case wire::Kind::kGone:
      return wire::With(wire::DecodeGone(frame.payload), [&](wire::Gone gone) {
        std::erase_if(gone.hosts, [&](std::uint32_t host) {
          return host >= by_host_.size() || by_host_[host] != node;
        });
        HearGone(gone);
      });
    case wire::Kind::kReady:
      return wire::With(wire::DecodeReady(frame.payload), [&](const wire::Ready& ready) {
        const std::uint32_t host = ready.sharing_host;
        if (host < by_host_.size() && by_host_[host] == node) HearSharing(ready);
        if (std::exchange(node->ready, true) || !shepherds_->ready()) return;
        if (plan_.options.traced) PingAll(false);
        shepherds_->SendAll(wire::Kind::kStart, Encode(wire::Start{sharing_}));
      });
    case wire::Kind::kTrace:
      return wire::With(wire::DecodeTracePiece(frame.payload), [&](const wire::TracePiece& piece) {
        if (mine(piece.rank)) remotes_.at(piece.rank).trace.timeline = piece.bytes;
      });
    case wire::Kind::kProfile:
      return wire::With(wire::DecodeTracePiece(frame.payload), [&](const wire::TracePiece& piece) {
        if (mine(piece.rank) && remotes_.at(piece.rank).running)
          remotes_.at(piece.rank).trace.profile = piece.bytes;
      });
    case wire::Kind::kUsage:
      return wire::With(wire::DecodeUsage(frame.payload), [&](const auto& usage) {
        for (const RankUsage& its : usage)
          if (mine(its.rank)) remotes_.at(its.rank).trace.usage = its;
      });
    case wire::Kind::kStarted:
      return wire::With(wire::DecodeStarted(frame.payload), [&](const auto& started) {
        for (const wire::Started& each : started)
          if (mine(each.rank)) remotes_.at(each.rank).process = each.process;
      });
    case wire::Kind::kVisit:
      return wire::With(wire::DecodeVisit(frame.payload), [&](const wire::Visit& visit) {
        if (visit.host < by_host_.size() && by_host_[visit.host] == node) HearVisit(visit);
      });
    case wire::Kind::kSaving:
      return wire::With(wire::DecodeSavingWord(frame.payload), [&](const wire::SavingWord& word) {
        if (saving_ != nullptr && mine(word.rank)) saving_->Take(word);
      });
    case wire::Kind::kPing:
      return wire::With(wire::DecodePing(frame.payload), [&](const wire::Ping& ping) {
        const auto found = pings_.find(ping.host);
        if (found != pings_.end() && by_host_[ping.host] == node) HearPing(ping, &found->second);
      });
    default:
      return Error(Code::kInvalid, "a frame of kind %u on the stream makes no sense",
                   static_cast<unsigned>(frame.kind));
  }
}

// The answer that took the shortest time tells most about the other clock. One to an earlier ping
// tells of the clock as well, because it brings back when that was sent.
void ShepherdedJob::HearPing(const wire::Ping& ping, Asked* asked) {
  const std::uint64_t now_ns = MonotonicNs();
  if (ping.sent_ns == 0 || ping.sent_ns > now_ns) return;  // not one of ours
  const std::uint64_t round_trip_ns = now_ns - ping.sent_ns;
  if (ping.sent_ns == asked->sent_ns) asked->round_trip_us = round_trip_ns / 1000;
  Clock& clock = clocks_[ping.host];
  if (ping.clock_ns == 0 || (clock.known && round_trip_ns / 2 >= clock.error_ns)) return;
  clock = {true, static_cast<std::int64_t>(ping.clock_ns - ping.sent_ns - round_trip_ns / 2),
           round_trip_ns / 2};
}

// A guest at the door of a shepherd becomes one at the door of this process.
void ShepherdedJob::HearVisit(const wire::Visit& visit) {
  if (!visitors_->Knows(visit) && !visit.bytes.empty()) {
    const control::Address own = control::AddressOf(control::NameOf(geteuid(), getpid()));
    Descriptor guest(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (guest.value() < 0 ||
        connect(guest.value(), reinterpret_cast<const sockaddr*>(&own.name), own.bytes) != 0)
      return SendVisit({visit.host, visit.guest, {}});
    visitors_->Add(visit.host, visit.guest, std::move(guest));
  }
  visitors_->Hear(visit);
}

void ShepherdedJob::SendVisit(const wire::Visit& visit) {
  if (Node* node = by_host_[visit.host]; node != nullptr && !node->over())
    shepherds_->Send(node, wire::Kind::kVisit, Encode(visit));
}

void ShepherdedJob::Deliver(std::uint32_t rank, std::uint8_t stream, std::string_view bytes) {
  Remote& remote = remotes_.at(rank);
  if (bytes.empty()) remote.ended[stream - 1u] = true;
  output_->Take(rank, stream, bytes);
}

void ShepherdedJob::Grant(std::uint32_t rank, std::uint8_t stream, std::uint32_t bytes) {
  // A stream that nobody takes will not tell its end.
  if (bytes == wire::Credit::kGone) remotes_.at(rank).ended[stream - 1u] = true;
  Node* node = NodeOfRank(rank);
  shepherds_->Send(node, wire::Kind::kWritten, Encode(wire::Credit{rank, stream, bytes}));
  shepherds_->Carry(node);  // our reader's doing, so nobody else is about to
}

// This is said once a job, of the first host, and not at all if the plan foresaw it on any host.
void ShepherdedJob::HearSharing(const wire::Ready& ready) {
  if (std::exchange(sharing_, Sharing::kShared) == Sharing::kShared) return;
  RankEvent event;
  event.kind = RankEvent::Kind::kSharesCpus;
  event.rank = ranks_.at(ready.sharing_host).front();
  event.why = ready.why;
  events_.push_back(std::move(event));
}

void ShepherdedJob::HearEnd(const wire::Ended& ended) {
  Remote& remote = remotes_.at(ended.rank);
  if (!remote.running) return;
  remote.trace = {
      ended.ring_head, ended.events, ended.profile, std::move(remote.trace.timeline), {}};
  if (remote.input != nullptr) remote.input->Refuse();
  Suspect(ended);
  RankEvent event;
  event.kind = ended.kind <= static_cast<std::uint8_t>(RankEvent::Kind::kKilled)
                   ? static_cast<RankEvent::Kind>(ended.kind)
                   : RankEvent::Kind::kLost;
  event.rank = ended.rank;
  event.code = ended.code;
  event.signal = ended.signal;
  event.why = ended.why;
  event.process = static_cast<std::int64_t>(ended.process);
  Report(std::move(event));
}

void ShepherdedJob::HearGone(const wire::Gone& gone) {
  if (!gone.lost && !shepherds_->sweeping()) return TakeBack(gone);
  shepherds_->StopStarting();
  Lose(gone.hosts, RankEvent::Kind::kLost, 1, gone.why);
}

// A shepherd could not start one further down, perhaps because it may not go on from there. The
// launcher tries from here. If that fails as well, the first reason has been logged by then.
void ShepherdedJob::TakeBack(const wire::Gone& gone) {
  for (const std::uint32_t host : gone.hosts) {
    NoteNode(shepherds_->Add(host, false, CommandTo(host), {}));
    hub_->Move(host, by_host_[host]->edge);
    taken_back_[host] = gone.why;
  }
  shepherds_->StartWaiting();
}

void ShepherdedJob::SayTakenBack(std::uint32_t host) {
  const auto found = taken_back_.find(host);
  if (found == taken_back_.end() || std::exchange(said_taken_back_, true)) return;
  Log(Level::kWarn, "shepherd",
      "%s; hosts that cannot be reached from others are reached from here (from here at once: "
      "--param launcher.shepherd.width=0)",
      found->second.c_str());
}

// These hosts and their ranks are given up.
void ShepherdedJob::Lose(std::span<const std::uint32_t> hosts, RankEvent::Kind kind, int number,
                         const std::string& why) {
  std::string said = shepherds_->sweeping() ? "" : why;  // at the end it harms nobody
  for (const std::uint32_t host : hosts) visitors_->Forget(host);
  for (const std::uint32_t host : hosts) {
    bool any_ran = false;
    for (const std::uint32_t rank : ranks_.at(host)) {
      Remote& remote = remotes_.at(rank);
      if (remote.input != nullptr) remote.input->Refuse();
      Deliver(rank, 1, {});
      Deliver(rank, 2, {});
      if (!remote.running) continue;
      any_ran = true;
      RankEvent event;
      event.kind = kind;
      event.rank = rank;
      (kind == RankEvent::Kind::kKilled ? event.signal : event.code) = number;
      event.why = std::exchange(said, "");
      Report(std::move(event));
    }
    if (any_ran || kind != RankEvent::Kind::kLost) continue;
    RankEvent event;
    event.kind = RankEvent::Kind::kHostLost;
    event.rank = ranks_.at(host).front();
    event.why = std::exchange(said, "");
    events_.push_back(std::move(event));
  }
  if (!said.empty()) Log(Level::kWarn, "shepherd", "%s", said.c_str());
}

void ShepherdedJob::Report(RankEvent event) {
  Remote& remote = remotes_.at(event.rank);
  if (!std::exchange(remote.running, false)) return;
  events_.push_back(std::move(event));
}

void ShepherdedJob::Signal(std::uint32_t rank, int signal) {
  if (EndsProcesses(signal)) SettleFailures(true);
  if (!remotes_.at(rank).running) return;
  Node* node = NodeOfRank(rank);
  if (node->state == Node::State::kHerding) {
    shepherds_->Send(node, wire::Kind::kSignal,
                     Encode(wire::SignalOrder{static_cast<std::uint32_t>(signal), {rank}}));
    shepherds_->CarryAll();
  } else if (EndsProcesses(signal) && !node->over()) {
    shepherds_->Cancel(node);
    Lose(node->hosts(), RankEvent::Kind::kKilled, signal, "");
    heartbeat_.Hurry(1);  // somebody has to fetch the news
  }
}

void ShepherdedJob::Sweep() { shepherds_->Sweep(); }

bool ShepherdedJob::Settled() const {
  return shepherds_->over() && std::all_of(remotes_.begin(), remotes_.end(), [](const auto& entry) {
           return entry.second.ended[0] && entry.second.ended[1];
         });
}

// PMIx waits without end for ranks that do not come, and says nothing about it. This warns of them,
// and ends the wait.
void ShepherdedJob::CheckWaits(std::uint64_t now_ms) {
  const auto wait = hub_->LongestWait(now_ms);
  if (params_.fence_ms == 0 || !wait.has_value()) return;
  const std::string words =
      Format("%s for %g s", wait->words.c_str(), static_cast<double>(wait->ms) / 1000.0);
  if (wait->ms >= params_.fence_ms) {
    RankEvent event;
    event.kind = RankEvent::Kind::kTrouble;
    event.why = words + " (launcher.shepherd.fence_ms); the job was ended";
    events_.push_back(std::move(event));
    params_.fence_ms = 0;
  } else if (wait->ms >= params_.fence_ms / 10 && !std::exchange(said_wait_, true)) {
    Log(Level::kWarn, "shepherd", "%s", words.c_str());
  }
}

// Asks each host through the node that leads there.
void ShepherdedJob::PingAll(bool usage) {
  pings_.clear();
  for (const auto& [host, ranks] : ranks_) {
    if (by_host_[host]->state != Node::State::kHerding) continue;
    const std::uint64_t now_ns = MonotonicNs();
    pings_[host].sent_ns = now_ns;
    shepherds_->Send(by_host_[host], wire::Kind::kPing, Encode(wire::Ping{host, now_ns, usage, 0}));
  }
  shepherds_->CarryAll();
}

// A host that was started by another's shepherd has the state of its branch.
std::vector<HostState> ShepherdedJob::Hosts(Ping ping) {
  const std::uint64_t now_ms = MonotonicMs();
  if (ping != Ping::kNo) PingAll(ping == Ping::kWithUsage);
  std::vector<HostState> states;
  for (std::uint32_t host = 0; host < by_host_.size(); ++host) {
    const Node* node = by_host_[host];
    if (node == nullptr) continue;
    const bool up = node->state == Node::State::kHerding;
    const auto answer = pings_.find(host);
    states.push_back({host, KindOf(node->state), up ? now_ms - node->heard_ms : 0,
                      up && answer != pings_.end() ? answer->second.round_trip_us : std::nullopt,
                      std::nullopt, 0});
    const auto clock = clocks_.find(host);
    if (clock == clocks_.end() || !clock->second.known) continue;
    states.back().clock_ahead_ns = clock->second.ahead_ns;
    states.back().clock_error_ns = clock->second.error_ns;
  }
  return states;
}

void ShepherdedJob::OnTick() {
  shepherds_->Tick();
  SettleFailures(false);
  if (question_ != nullptr || holding_) OnAnswer();
  const std::uint64_t now_ms = MonotonicMs();
  CheckWaits(now_ms);
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    if (guest->second.until_ms > now_ms) {
      ++guest;
      continue;
    }
    poller_->Remove(guest->first);
    guest = guests_.erase(guest);
  }
}

}  // namespace lamina::launcher
