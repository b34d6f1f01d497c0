// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/shepherds.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "launcher/shepherd/shepherd_word.h"
#include "launcher/shepherd/tuning.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

// Versions that differ behind these two numbers understand each other.
std::string_view MajorMinor(std::string_view version) {
  const std::size_t dot = version.find('.');
  return dot == std::string_view::npos ? version : version.substr(0, version.find('.', dot + 1));
}

Status CheckVersion(const wire::Hello& hello) {
  if (hello.wire_version == wire::kVersion && MajorMinor(hello.version) == MajorMinor(kVersion))
    return {};
  return Error(Code::kInvalid, "Lamina %s is there, %s here (wire %u and %u)",
               hello.version.c_str(), kVersion, static_cast<unsigned>(hello.wire_version),
               static_cast<unsigned>(wire::kVersion));
}

std::string CannotStart(const Node& node, std::string_view why) {
  return "cannot start on " + node.name + ": " + std::string(why);
}

// Returns the path that a command gives to the shepherd's program; "" if it gives none. It stands
// before the shepherd's word, within a word for a shell or by itself.
std::string ProgramOf(const std::vector<std::string>& command) {
  std::string words;
  for (const std::string& word : command) words += word + " ";
  const std::size_t end = words.find(std::string(" ") + std::string(kShepherdWord));
  if (end == std::string::npos) return {};
  const std::size_t begin = words.find_last_of(" '", end - 1) + 1;
  const std::string program = words.substr(begin, end - begin);
  return program.starts_with('/') ? program : "";
}

}  // namespace

bool IsAbsent(std::string_view program, std::string_view words) {
  const bool is_named = !program.empty() && words.find(program) != std::string_view::npos;
  const auto says = [words](std::string_view what) {
    return words.find(what) != std::string_view::npos;
  };
  // Shells and srun each say it in their own way.
  return is_named && !says("shared libraries") &&
         (says("No such file or directory") || says("no such file or directory") ||
          says("not found"));
}

std::string AbsentWords(std::string_view program, std::string_view host) {
  return Format(
      "Lamina is not at %.*s on %.*s: install it at the same path, or write prefix= in a host file",
      static_cast<int>(program.size()), program.data(), static_cast<int>(host.size()), host.data());
}

Shepherds::Shepherds(const Plan& plan, wire::StartRules rules, std::uint64_t silence_ms,
                     Poller* poller, Heartbeat* heartbeat, Outlets outlets)
    : plan_(plan),
      rules_(std::move(rules)),
      silence_ms_(silence_ms),
      poller_(poller),
      heartbeat_(heartbeat),
      outlets_(std::move(outlets)) {}

// Shepherds that have said goodbye are leaving; the others learn it from the end of their stream,
// and clean up.
Shepherds::~Shepherds() {
  for (const auto& node : nodes_) Detach(node.get());
  for (const int signal : {0, SIGTERM, SIGKILL})
    for (const auto& node : nodes_) {
      if (node->agent == nullptr) continue;
      const bool wait = signal != 0 || node->state != Node::State::kLost;
      if (signal != 0) node->agent->Kill(signal);
      if (node->agent->Await(wait ? kPartingMs : 0)) node->agent.reset();
    }
}

Node* Shepherds::Add(std::uint32_t host, bool here, std::vector<std::string> command,
                     std::vector<wire::Below> below) {
  auto node = std::make_unique<Node>();
  node->edge = static_cast<std::uint32_t>(nodes_.size());
  node->host = host;
  node->name = plan_.hosts[host].name;
  node->here = here;
  node->command = std::move(command);
  node->below = std::move(below);
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

void Shepherds::AddTree(std::span<const wire::Below> hosts) {
  const std::size_t children =
      rules_.width == 0 ? hosts.size() : std::min<std::size_t>(hosts.size(), rules_.width);
  for (std::size_t child = 0; child < children; ++child) {
    const std::size_t begin = hosts.size() * child / children;
    const std::size_t end = hosts.size() * (child + 1) / children;
    Add(hosts[begin].host, false, hosts[begin].command,
        {hosts.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
         hosts.begin() + static_cast<std::ptrdiff_t>(end)});
  }
}

void Shepherds::StartWaiting() {
  std::uint32_t starting = 0;
  for (const auto& node : nodes_)
    if (node->state == Node::State::kStarting && node->agent != nullptr) ++starting;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {  // a failure may add some
    Node* node = nodes_[i].get();
    if (failed_ || sweeping_ || starting >= rules_.window) return;
    if (node->state != Node::State::kWaiting || node->due_ms > MonotonicMs()) continue;
    StartNode(node);
    if (node->state == Node::State::kStarting) ++starting;
  }
}

void Shepherds::Expect(Node* node) {
  node->state = Node::State::kStarting;
  node->due_ms = MonotonicMs() + rules_.start_ms;
  heartbeat_->Hurry(rules_.start_ms + 1);
  node->failing_ms = 0;
  node->failure.clear();
}

void Shepherds::StartNode(Node* node) {
  Expect(node);
  ++node->attempts;
  Result<std::unique_ptr<Agent>> agent = Agent::Start(node->command, nullptr, true);
  if (!agent.ok()) return Fail(node, CannotStart(*node, agent.status().message()));
  node->agent = *std::move(agent);
  const Result<std::string> nonce = wire::RandomBytes();
  const auto [from, to] = node->agent->TakePipes();
  node->stream = std::make_unique<wire::Stream>(
      from, to, SessionKey({}, nonce.ok() ? *nonce : std::string(wire::kNonceBytes, '\0')),
      wire::Direction::kToShepherd);
  if (!nonce.ok()) return Fail(node, CannotStart(*node, nonce.status().message()));
  node->stream->Open(*nonce);
  Attach(node);
}

void Shepherds::Attach(Node* node) {
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

void Shepherds::Detach(Node* node) {
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

void Shepherds::Adopt(Node* node, std::unique_ptr<wire::Stream> stream, const wire::Hello& hello) {
  node->stream = std::move(stream);
  Attach(node);
  if (Status status = Greeted(node, hello); !status.ok())
    return Fail(node, CannotStart(*node, status.message()));
  Carry(node);
}

Status Shepherds::Greeted(Node* node, const wire::Hello& hello) {
  if (Status status = CheckVersion(hello); !status.ok()) return status;
  if (node->agent != nullptr) node->agent->ForgetWords();  // start-up files of a shell
  node->state = Node::State::kHerding;
  node->heard_ms = MonotonicMs();
  node->stream->Send(wire::Kind::kOrders, outlets_.orders(*node));
  for (const auto& [kind, payload] : std::exchange(node->held, {}))
    node->stream->Send(kind, payload);
  if (sweeping_) node->stream->Send(wire::Kind::kSweep, "");
  StartWaiting();
  return {};
}

void Shepherds::Send(Node* node, wire::Kind kind, std::string_view payload) {
  if (node->state == Node::State::kHerding)
    node->stream->Send(kind, payload);
  else if (!node->over())
    node->held.emplace_back(kind, std::string(payload));
}

void Shepherds::SendAll(wire::Kind kind, std::string_view payload) {
  for (const auto& node : nodes_)
    if (node->state == Node::State::kHerding) node->stream->Send(kind, payload);
}

void Shepherds::CarryAll() {
  for (const auto& node : nodes_)
    if (node->stream != nullptr && node->stream->unsent()) Carry(node.get());
}

// If something cannot be written, the other direction ends too and tells the reason.
void Shepherds::Carry(Node* node) {
  if (node->stream == nullptr) return;
  const bool alive = node->stream->Flush().ok();
  const bool same = node->stream->out() == node->stream->in();
  const std::uint32_t write = alive && node->stream->unsent() ? std::uint32_t{Poller::kWrite} : 0u;
  poller_->Watch(node->stream->out(), (same ? std::uint32_t{Poller::kRead} : 0u) | write);
}

void Shepherds::OnStream(Node* node) {
  const Result<bool> open = node->stream->Receive();
  node->heard_ms = MonotonicMs();
  for (;;) {
    Result<std::optional<wire::Frame>> frame = node->stream->Next();
    if (!frame.ok()) return Fail(node, LostWords(*node) + std::string(frame.status().message()));
    if (!frame->has_value()) break;
    if (Status status = Hear(node, **frame); !status.ok())
      return Fail(node, LostWords(*node) + std::string(status.message()));
    if (node->stream == nullptr) return;  // it said goodbye, or something unacceptable
  }
  if (open.ok() && *open) return;
  // The agent's own words tell more, and come at any moment.
  poller_->Watch(node->stream->in(), 0);
  if (node->failing_ms == 0) {
    node->failing_ms = MonotonicMs() + kReasonMs;
    heartbeat_->Hurry(kReasonMs + 1);
  }
  Settle(node);
}

Status Shepherds::Hear(Node* node, const wire::Frame& frame) {
  if (node->state == Node::State::kStarting) {
    if (frame.kind != wire::Kind::kHello)
      return Error(Code::kInvalid, "its shepherd does not greet");
    const Result<wire::Hello> hello = wire::DecodeHello(frame.payload);
    if (!hello.ok()) return Status(hello.status().code(), std::string(hello.status().message()));
    if (Status status = Greeted(node, *hello); !status.ok())
      Fail(node, CannotStart(*node, status.message()));
    else
      Carry(node);
    return {};
  }
  // What start-up files of a shell say may come behind the greeting, but not behind the answer to
  // the orders.
  if (frame.kind == wire::Kind::kReady && node->agent != nullptr) {
    OnWords(node);
    node->agent->ForgetWords();
  }
  if (frame.kind != wire::Kind::kBye) return outlets_.hear(node, frame);
  if (!sweeping_) return Error(Code::kInvalid, "its shepherd leaves too early");
  Detach(node);
  node->state = Node::State::kDone;
  outlets_.left();
  return {};
}

// People see what a shepherd at work logs; all else is kept as the reason of an end.
void Shepherds::OnWords(Node* node) {
  if (!node->agent->Listen()) poller_->Watch(node->agent->words_fd(), 0);
  if (node->state != Node::State::kHerding) return;
  const std::string lines = node->agent->TakeLines("lamina ");
  if (!lines.empty() && write(STDERR_FILENO, lines.data(), lines.size()) < 0) return;
}

void Shepherds::OnAgentEnd(Node* node) {
  poller_->Watch(node->agent->end_fd(), 0);
  if (node->state == Node::State::kDone) return;
  // Its last words and last frames may still be in the pipes.
  if (node->failing_ms == 0) node->failing_ms = MonotonicMs() + kReasonMs;
  heartbeat_->Hurry(kReasonMs + 1);
  if (node->stream != nullptr) OnStream(node);
}

// Returns "node07 is lost, and with it node08, node09 and others that were reached through it: ".
std::string Shepherds::LostWords(const Node& node) const {
  std::string words = node.name + " is lost";
  const std::size_t below = node.state == Node::State::kHerding ? node.below.size() : 0;
  for (std::size_t i = 0; i < std::min(below, kHostsNamed); ++i)
    words += (i == 0                                   ? ", and with it "
              : i + 1 == below && below <= kHostsNamed ? " and "
                                                       : ", ") +
             plan_.hosts[node.below[i].host].name;
  if (below > kHostsNamed) words += Format(" and %zu more", below - kHostsNamed);
  if (below > 0) words += below == 1 ? " that was" : " that were";
  if (below > 0) words += " reached through it";
  return words + ": ";
}

// The stream has ended. This asks for the reason, now or when the time for it is over.
void Shepherds::Settle(Node* node) {
  std::optional<int> status;
  std::optional<int> killed_by;
  std::string words;
  if (node->agent != nullptr) {
    node->agent->Listen();
    status = node->agent->Status();
    killed_by = node->agent->KilledBy();
    words = node->agent->Words();
    if (!status.has_value() && MonotonicMs() < node->failing_ms) {
      if (node->agent->end_fd() < 0) heartbeat_->Hurry(kLookMs);
      return;
    }
  }
  if (words.empty()) words = node->failure;
  const bool starting = node->state == Node::State::kStarting;
  if (starting && Retry(node)) return;
  // One that says why it cannot start its ranks is not lost.
  const bool refuses = !starting && !node->ready && !words.empty();
  std::string why = starting  ? CannotStart(*node, "")
                    : refuses ? node->name + ": "
                              : LostWords(*node);
  const std::string program = ProgramOf(node->command);
  if (starting && IsAbsent(program, words)) {
    why = AbsentWords(program, node->name);
  } else if (!words.empty()) {
    why += words;
  } else if (starting && node->stream != nullptr && !node->stream->noise().empty()) {
    why += std::string(Trim(node->stream->noise()));
  } else if (killed_by.has_value()) {
    why +=
        Format("%s was killed by signal %d", node->here ? "its shepherd" : "its agent", *killed_by);
  } else if (starting) {
    why += "no shepherd greeted";
  } else if (node->here) {
    why += "its shepherd has gone";
  } else {
    why += "the connection to " + node->name + " or the shepherd there ended abruptly";
  }
  if (status.has_value() && !killed_by.has_value() && starting && !IsAbsent(program, words))
    why += Format(" (exit status %d)", *status);
  Fail(node, why);
}

bool Shepherds::Retry(Node* node) {
  if (node->here || node->agent == nullptr || failed_ || sweeping_) return false;
  const std::optional<int> status = node->agent->Status();
  const auto heard_any = [&heard = node->agent->heard()](const std::vector<std::string>& signs) {
    return std::any_of(signs.begin(), signs.end(), [&heard](const std::string& sign) {
      return heard.find(sign) != heard.npos;
    });
  };
  const bool at_once = MonotonicMs() + rules_.start_ms < node->due_ms + kAtOnceMs;
  // A host that let the first attempt wait in vain is hardly there.
  const std::uint32_t attempts = node->agent->heard().find("timed out") != std::string::npos
                                     ? std::min(rules_.attempts, kSlowAttempts)
                                     : rules_.attempts;
  if (!status.has_value() || node->attempts >= attempts ||
      !(heard_any(rules_.passing_signs) || (at_once && heard_any(rules_.quick_signs))))
    return false;
  Detach(node);
  node->agent.reset();
  node->state = Node::State::kWaiting;
  // Pauses are spread, so that hosts that were turned away together do not come back together.
  const std::uint64_t pause =
      std::min(kFirstRetryMs << std::min(node->attempts - 1, 10u), kRetryMsMax);
  node->due_ms = MonotonicMs() + pause + node->host * 37 % pause;
  heartbeat_->Hurry(pause);
  return true;
}

void Shepherds::Fail(Node* node, const std::string& why) {
  if (node->over()) return;
  const bool started = node->state == Node::State::kHerding;
  Cancel(node);
  outlets_.failed(node, started, why);
}

void Shepherds::Cancel(Node* node) {
  const bool started = node->state == Node::State::kHerding;
  node->state = Node::State::kLost;
  node->ready = false;
  node->held.clear();
  if (node->agent != nullptr) node->agent->Kill(started ? SIGTERM : SIGKILL);
  Detach(node);
}

void Shepherds::Sweep() {
  sweeping_ = true;
  for (const auto& node : nodes_)
    if (node->state == Node::State::kWaiting)
      Cancel(node.get());
    else if (node->state == Node::State::kHerding)
      node->stream->Send(wire::Kind::kSweep, "");
  CarryAll();
}

bool Shepherds::over() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->over(); });
}

bool Shepherds::ready() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->ready; });
}

void Shepherds::Tick() {
  const std::uint64_t now_ms = MonotonicMs();
  for (std::size_t i = 0; i < nodes_.size(); ++i) TickNode(nodes_[i].get(), now_ms);
  StartWaiting();
}

void Shepherds::ForgetSilence() {
  for (const auto& node : nodes_) node->heard_ms = MonotonicMs();
}

void Shepherds::TickNode(Node* node, std::uint64_t now_ms) {
  if (node->state != Node::State::kStarting && node->state != Node::State::kHerding) return;
  if (node->failing_ms != 0) return Settle(node);
  if (node->state == Node::State::kStarting) {
    if (now_ms <= node->due_ms) return;
    if (node->agent != nullptr) node->agent->Listen();
    const std::string words = node->agent != nullptr ? node->agent->Words() : "";
    return Fail(node, CannotStart(*node, Format("no shepherd greeted within %g s%s%s",
                                                static_cast<double>(rules_.start_ms) / 1000.0,
                                                words.empty() ? "" : "; ", words.c_str())));
  }
  if (heartbeat_->slept()) {
    node->heard_ms = now_ms;
  } else if (silence_ms_ != 0 && now_ms - node->heard_ms > silence_ms_) {
    if (outlets_.excused(*node)) return;
    Fail(node, LostWords(*node) + Format("no sign of life for %g s (launcher.shepherd.silence_ms)",
                                         static_cast<double>(silence_ms_) / 1000.0));
  } else {
    node->stream->Send(wire::Kind::kBeat, wire::Encode(wire::Beat{}));
    Carry(node);
  }
}

}  // namespace lamina::launcher
