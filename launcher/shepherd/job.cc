// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/job.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "launcher/shepherd/ring_copy.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::uint64_t kReasonMs = 1000;  // how long an ended stream's agent may take to say why
constexpr std::uint64_t kFirstRetryMs = 100;
constexpr int kPartingMs = 1000;
constexpr std::uint64_t kLookMs = 20;  // where nothing tells of an agent's end

bool EndsProcesses(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
         signal == SIGQUIT;
}

}  // namespace

ShepherdedJob::Remote::~Remote() {
  if (ring >= 0) close(ring);
}

ShepherdedJob::ShepherdedJob(const Plan& plan, std::unique_ptr<ShepherdStarter> starter,
                             ShepherdParams params)
    : plan_(plan), starter_(std::move(starter)), params_(std::move(params)) {}

// Shepherds that have said goodbye are leaving; the others learn it from the end of their stream,
// and clean up.
ShepherdedJob::~ShepherdedJob() {
  for (const auto& node : nodes_) Detach(node.get());
  for (const int signal : {0, SIGTERM, SIGKILL})
    for (const auto& node : nodes_) {
      if (node->agent == nullptr) continue;
      const bool wait = signal != 0 || node->state != Node::State::kLost;
      if (signal != 0) node->agent->Kill(signal);
      if (node->agent->Await(wait ? kPartingMs : 0)) node->agent.reset();
    }
  nodes_.clear();
  for (const auto& [fd, guest] : guests_) poller_->Remove(fd);
  guests_.clear();
  crew_.reset();
  remotes_.clear();
  if (exchange_.fd >= 0) close(exchange_.fd);
}

void ShepherdedJob::Attach(Node* node) {
  poller_->Add(node->stream->in(), Poller::kRead, [this, node] { OnStream(node); });
  if (node->stream->out() != node->stream->in())
    poller_->Add(node->stream->out(), 0, [this, node] { Carry(node); });
  if (node->agent != nullptr) {
    poller_->Add(node->agent->words_fd(), Poller::kRead, [this, node] { OnWords(node); });
    if (node->agent->end_fd() >= 0)
      poller_->Add(node->agent->end_fd(), Poller::kRead, [this, node] { OnAgentEnd(node); });
  }
  Carry(node);
}

void ShepherdedJob::Detach(Node* node) {
  if (node->stream != nullptr) {
    poller_->Remove(node->stream->in());
    poller_->Remove(node->stream->out());
    node->stream.reset();
  }
  if (node->agent != nullptr) {
    poller_->Remove(node->agent->words_fd());
    poller_->Remove(node->agent->end_fd());
  }
}

std::optional<RankEvent> ShepherdedJob::Next() {
  poller_->Turn();
  CarryAll();
  if (events_.empty()) return std::nullopt;
  RankEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void ShepherdedJob::CarryAll() {
  for (const auto& node : nodes_)
    if (node->stream != nullptr && node->stream->unsent()) Carry(node.get());
}

// What cannot be written is told by the end of the other direction, with its reason.
void ShepherdedJob::Carry(Node* node) {
  if (node->stream == nullptr) return;
  const bool alive = node->stream->Flush().ok();
  const bool same = node->stream->out() == node->stream->in();
  const std::uint32_t write = alive && node->stream->unsent() ? std::uint32_t{Poller::kWrite} : 0u;
  poller_->Watch(node->stream->out(), (same ? std::uint32_t{Poller::kRead} : 0u) | write);
}

void ShepherdedJob::OnStream(Node* node) {
  const Result<bool> open = node->stream->Receive();
  node->heard_ms = Heartbeat::NowMs();
  for (;;) {
    Result<std::optional<wire::Frame>> frame = node->stream->Next();
    if (!frame.ok())
      return Fail(
          node, Format("%s is lost: ", node->name.c_str()) + std::string(frame.status().message()));
    if (!frame->has_value()) break;
    if (Status status = Hear(node, **frame); !status.ok())
      return Fail(node, Format("%s is lost: ", node->name.c_str()) + std::string(status.message()));
    if (node->stream == nullptr) return;  // it said goodbye, or something unacceptable
  }
  if (open.ok() && *open) return;
  // The agent's own words tell more, and come any moment.
  poller_->Watch(node->stream->in(), 0);
  if (node->failing_ms == 0) {
    node->failing_ms = Heartbeat::NowMs() + kReasonMs;
    heartbeat_.Hurry(kReasonMs + 1);
  }
  Settle(node);
}

template <class Message, class Action>
Status With(Result<Message> message, Action action) {
  if (!message.ok()) return std::move(message).status();
  action(*message);
  return {};
}

Status ShepherdedJob::Hear(Node* node, const wire::Frame& frame) {
  if (node->state == Node::State::kStarting) {
    if (frame.kind != wire::Kind::kHello)
      return Error(Code::kInvalid, "its shepherd does not greet");
    return With(wire::DecodeHello(frame.payload),
                [this, node](const wire::Hello& hello) { GiveOrders(node, hello); });
  }
  const auto mine = [this, node](std::uint32_t rank) {
    const auto found = remotes_.find(rank);
    return found != remotes_.end() && nodes_[found->second.node].get() == node;
  };
  switch (frame.kind) {
    case wire::Kind::kEnded:
      return With(wire::DecodeEnded(frame.payload), [&](const wire::Ended& ended) {
        if (mine(ended.rank)) HearEnd(ended);
      });
    case wire::Kind::kOutput:
      return With(wire::DecodePiece(frame.payload), [&](const wire::Piece& piece) {
        if (mine(piece.rank) && piece.stream > 0)
          remotes_.at(piece.rank).output[piece.stream - 1u]->Take(piece.bytes);
      });
    case wire::Kind::kTaken:
      return With(wire::DecodeCredit(frame.payload), [&](const wire::Credit& credit) {
        Source* input = mine(credit.rank) ? remotes_.at(credit.rank).input.get() : nullptr;
        if (input == nullptr) return;
        if (credit.bytes == wire::Credit::kGone)
          input->Refuse();
        else
          input->Grant(credit.bytes);
      });
    case wire::Kind::kLetter:
      return hub_->Receive(node->host, frame.payload);
    case wire::Kind::kBeat:
      return With(wire::DecodeBeat(frame.payload), [&](const wire::Beat& beat) {
        for (const auto& head : beat.heads)
          if (mine(head.rank)) RestoreRing(remotes_.at(head.rank).ring, head.ring_head, {});
      });
    case wire::Kind::kBye:
      if (!sweeping_) return Error(Code::kInvalid, "its shepherd leaves too early");
      Detach(node);
      node->state = Node::State::kDone;
      return {};
    default:
      return Error(Code::kInvalid, "a frame of kind %u on the stream makes no sense",
                   static_cast<unsigned>(frame.kind));
  }
}

// To the PMIx server of a host, now or when there is one.
void ShepherdedJob::Post(std::uint32_t host, const std::string& letter) {
  for (const auto& node : nodes_) {
    if (node->host != host || node->over()) continue;
    if (node->state == Node::State::kHerding)
      node->stream->Send(wire::Kind::kLetter, letter);
    else
      node->letters.push_back(letter);
  }
}

// A reader may leave as he likes; a file that takes no more is a failure.
void ShepherdedJob::OutputGone(std::uint32_t rank, std::uint8_t which) {
  const int error = remotes_.at(rank).output[which - 1u]->error();
  if (error == 0) return;
  RankEvent event;
  event.kind = RankEvent::Kind::kTrouble;
  event.rank = rank;
  event.why = Format("cannot write the output of rank %u: %s", rank, strerror(error));
  events_.push_back(std::move(event));
}

void ShepherdedJob::HearEnd(const wire::Ended& ended) {
  Remote& remote = remotes_.at(ended.rank);
  if (!remote.running) return;
  RestoreRing(remote.ring, ended.ring_head, ended.events);
  if (remote.input != nullptr) remote.input->Refuse();
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

void ShepherdedJob::Report(RankEvent event) {
  Remote& remote = remotes_.at(event.rank);
  if (!std::exchange(remote.running, false)) return;
  events_.push_back(std::move(event));
}

// What a shepherd at work logs is for people to see; all else is kept as a reason, should it end.
void ShepherdedJob::OnWords(Node* node) {
  if (!node->agent->Listen()) poller_->Watch(node->agent->words_fd(), 0);
  if (node->state != Node::State::kHerding) return;
  const std::string lines = node->agent->TakeLines("lamina ");
  if (!lines.empty() && write(STDERR_FILENO, lines.data(), lines.size()) < 0) return;
}

void ShepherdedJob::OnAgentEnd(Node* node) {
  poller_->Watch(node->agent->end_fd(), 0);
  if (node->state == Node::State::kDone) return;
  // Its last words and last frames may still be in the pipes.
  if (node->failing_ms == 0) node->failing_ms = Heartbeat::NowMs() + kReasonMs;
  heartbeat_.Hurry(kReasonMs + 1);
  if (node->stream != nullptr) OnStream(node);
}

// The stream has ended. Now, or when the time for it is over: why?
void ShepherdedJob::Settle(Node* node) {
  std::optional<int> status;
  std::string words;
  if (node->agent != nullptr) {
    node->agent->Listen();
    status = node->agent->Status();
    words = node->agent->Words();
    if (!status.has_value() && Heartbeat::NowMs() < node->failing_ms) {
      if (node->agent->end_fd() < 0) heartbeat_.Hurry(kLookMs);
      return;
    }
  }
  if (words.empty()) words = node->failure;
  const bool starting = node->state == Node::State::kStarting;
  if (starting && Retry(node)) return;
  std::string why = starting ? Format("cannot start on %s: ", node->name.c_str())
                             : Format("%s is lost: ", node->name.c_str());
  if (!words.empty()) {
    why += words;
  } else if (starting && node->stream != nullptr && !node->stream->noise().empty()) {
    why += std::string(Trim(node->stream->noise()));
  } else if (status.has_value() && *status > 128) {
    why += Format("%s was killed by signal %d", node->here ? "its shepherd" : "its agent",
                  *status - 128);
  } else {
    why += starting ? "no shepherd greeted" : "its shepherd has gone";
  }
  if (status.has_value() && *status <= 128 && starting) why += Format(" (exit status %d)", *status);
  Fail(node, why);
}

bool ShepherdedJob::Retry(Node* node) {
  if (node->here || node->agent == nullptr || failed_ || sweeping_) return false;
  const std::optional<int> status = node->agent->Status();
  if (!status.has_value() || node->attempts >= params_.attempts ||
      !starter_->WorthRetrying(*status, node->agent->heard()))
    return false;
  Detach(node);
  node->agent.reset();
  node->state = Node::State::kWaiting;
  // Spread, so that those turned away together do not come back together.
  const std::uint64_t pause = kFirstRetryMs << std::min(node->attempts - 1, 10u);
  node->due_ms = Heartbeat::NowMs() + pause + node->host * 37 % pause;
  heartbeat_.Hurry(pause);
  return true;
}

// The node and its ranks are given up.
void ShepherdedJob::Fail(Node* node, const std::string& why) {
  if (node->over()) return;
  const bool started = node->state == Node::State::kHerding;
  node->state = Node::State::kLost;
  if (node->agent != nullptr) node->agent->Kill(SIGTERM);
  Detach(node);
  std::string said = sweeping_ ? "" : why;  // at the end it harms nobody
  failed_ = true;
  for (const std::uint32_t rank : node->ranks) {
    Remote& remote = remotes_.at(rank);
    if (remote.input != nullptr) remote.input->Refuse();
    for (const auto& sink : remote.output) sink->Take({});
    if (!remote.running) continue;
    RankEvent event;
    event.kind = started ? RankEvent::Kind::kLost : RankEvent::Kind::kStartFailed;
    event.rank = rank;
    event.code = 1;
    event.why = std::exchange(said, "");
    Report(std::move(event));
  }
  if (!said.empty()) Log(Level::kWarn, "shepherd", "%s", said.c_str());
}

// The job ends before the node has begun.
void ShepherdedJob::Cancel(Node* node, int signal) {
  node->state = Node::State::kLost;
  if (node->agent != nullptr) node->agent->Kill(SIGKILL);
  Detach(node);
  for (const std::uint32_t rank : node->ranks) {
    Remote& remote = remotes_.at(rank);
    if (remote.input != nullptr) remote.input->Refuse();
    for (const auto& sink : remote.output) sink->Take({});
    RankEvent event;
    event.kind = RankEvent::Kind::kKilled;
    event.rank = rank;
    event.signal = signal;
    Report(std::move(event));
  }
  heartbeat_.Hurry(1);  // somebody has to fetch the news
}

void ShepherdedJob::Signal(std::uint32_t rank, int signal) {
  const Remote& remote = remotes_.at(rank);
  if (!remote.running) return;
  Node* node = nodes_[remote.node].get();
  if (node->state == Node::State::kHerding) {
    const wire::SignalOrder order{rank, static_cast<std::uint32_t>(signal)};
    node->stream->Send(wire::Kind::kSignal, Encode(order));
    Carry(node);
  } else if (EndsProcesses(signal) && !node->over()) {
    Cancel(node, signal);
  }
}

void ShepherdedJob::Sweep() {
  sweeping_ = true;
  for (const auto& node : nodes_) {
    if (node->state != Node::State::kHerding) continue;
    node->stream->Send(wire::Kind::kSweep, "");
    Carry(node.get());
  }
}

bool ShepherdedJob::Settled() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->over(); }) &&
         std::all_of(remotes_.begin(), remotes_.end(), [](const auto& entry) {
           return entry.second.output[0]->ended() && entry.second.output[1]->ended();
         });
}

void ShepherdedJob::OnTick() {
  const std::uint64_t now = Heartbeat::NowMs();
  const bool slept = heartbeat_.slept();
  const std::string beat = Encode(wire::Beat{});
  for (const auto& each : nodes_) {
    Node* node = each.get();
    switch (node->state) {
      case Node::State::kStarting:
        if (node->failing_ms != 0) {
          Settle(node);
        } else if (now > node->due_ms) {
          if (node->agent != nullptr) node->agent->Listen();
          const std::string words = node->agent != nullptr ? node->agent->Words() : "";
          Fail(node,
               Format("cannot start on %s: no shepherd greeted within %g s%s%s", node->name.c_str(),
                      params_.start_ms / 1000.0, words.empty() ? "" : "; ", words.c_str()));
        }
        break;
      case Node::State::kHerding:
        if (node->failing_ms != 0) {
          Settle(node);
        } else if (slept) {
          node->heard_ms = now;
        } else if (params_.silence_ms != 0 && now - node->heard_ms > params_.silence_ms) {
          Fail(node, Format("%s is lost: no sign of life for %g s", node->name.c_str(),
                            params_.silence_ms / 1000.0));
        } else {
          node->stream->Send(wire::Kind::kBeat, beat);
          Carry(node);
        }
        break;
      default:
        break;
    }
  }
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    if (guest->second.until_ms > now) {
      ++guest;
      continue;
    }
    poller_->Remove(guest->first);
    guest = guests_.erase(guest);
  }
  StartWaiting();
}

Result<std::unique_ptr<Job>> StartShepherds(const Plan& plan, std::span<const RankStart> starts,
                                            std::unique_ptr<ShepherdStarter> starter,
                                            const SpawnContext& context) {
  ShepherdParams params;
  if (Status status = param::Load(context.settings, kShepherdFields, &params); !status.ok())
    return status;
  auto job = std::make_unique<ShepherdedJob>(plan, std::move(starter), std::move(params));
  if (Status status = job->Start(starts); !status.ok()) return status;
  return std::unique_ptr<Job>(std::move(job));
}

std::vector<param::Row> ShepherdParameters(const param::Settings& settings) {
  return param::Rows<ShepherdParams>(settings, kShepherdFields);
}

}  // namespace lamina::launcher
