// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/engine.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/log.h"
#include "runtime/base/version.h"
#include "runtime/core/process.h"
#include "runtime/p2p/buffered.h"
#include "runtime/p2p/p2p.h"

namespace lamina::p2p {

Engine::Engine(const Params& params, const waiting::WaitPolicy& policy, PeerId self,
               std::uint32_t job_ranks, std::uint32_t job_hash, bootstrap::Bootstrap* bootstrap)
    : params_(params),
      policy_(policy),
      self_(self),
      job_hash_(job_hash),
      bootstrap_(bootstrap),
      // calloc: untouched pages cost nothing, so a million peers never spoken to are free.
      lanes_(static_cast<Lane**>(std::calloc(job_ranks, sizeof(Lane*)))),
      lanes_count_(job_ranks) {
  CHECK(lanes_ != nullptr);
}

Engine::~Engine() {
  delete send_buffer;
  lane_storage_.clear();  // endpoints die before their transports
  std::free(lanes_);
  for (auto& [context, space] : spaces_) DropMessages(space.get());
  while (message_pool_ != nullptr)
    std::free(std::exchange(message_pool_, message_pool_->links[0].next));
}

void Engine::AddCarrier(Carrier carrier) {
  polled_.push_back(carrier.transport.get());
  if (carrier.loopback)
    loopback_ = carrier.transport.get();
  else
    ringing_.push_back(carrier.transport.get());
  carriers_.push_back(std::move(carrier));
}

Status Engine::PublishCard() {
  bootstrap::Card card;
  card.version = kVersion;
  card.components = components_;
  card.settings = settings_;
  for (Carrier& carrier : carriers_) {
    Result<std::vector<std::byte>> address = carrier.transport->LocalAddress();
    if (!address.ok()) return std::move(address).status().Within(carrier.name);
    card.addresses.emplace_back(carrier.name, *std::move(address));
  }
  if (bootstrap_ == nullptr) return {};
  return bootstrap_->Publish(bootstrap::Encode(card));
}

namespace {

std::string_view MajorMinor(std::string_view version) {
  return version.substr(0, version.rfind('.'));
}

}  // namespace

Lane& Engine::Connect(PeerId peer) {
  CHECK(Index(peer) < lanes_count_);
  lane_storage_.push_back(std::make_unique<Lane>());
  Lane& lane = *lane_storage_.back();
  lane.peer = peer;
  lanes_[Index(peer)] = &lane;
  trace::Raise(trace::Level::kConnected, 1);
  bootstrap::Card card;
  if (peer == self_ || bootstrap_ == nullptr) {
    for (Carrier& carrier : carriers_)
      if (Result<std::vector<std::byte>> address = carrier.transport->LocalAddress(); address.ok())
        card.addresses.emplace_back(carrier.name, *std::move(address));
  } else {
    Result<std::vector<std::byte>> bytes = bootstrap_->Card(Index(peer));
    if (!bytes.ok()) {
      Lost(peer, std::move(bytes).status());
      return lane;
    }
    Result<bootstrap::Card> decoded = bootstrap::Decode(*bytes);
    if (!decoded.ok()) {
      Lost(peer, std::move(decoded).status().Within("its card"));
      return lane;
    }
    card = *std::move(decoded);
    if (MajorMinor(card.version) != MajorMinor(kVersion)) {
      Lost(peer, Error(Code::kInvalid, "it runs lamina %s, this process %s; use one version",
                       card.version.c_str(), kVersion));
      return lane;
    }
    if (card.components != components_) {
      Lost(peer, Error(Code::kInvalid,
                       "it has loaded the components \"%s\", this process \"%s\"; all nodes need "
                       "the same in LAMINA_COMPONENT_PATH and PREFIX/lib/lamina, or leave them out "
                       "with collective.include=basic,hierarchical,shared",
                       card.components.c_str(), components_.c_str()));
      return lane;
    }
    if (card.settings != settings_) {
      Lost(peer, Error(Code::kInvalid,
                       "it was started with \"%s\", this process with \"%s\"; settings by which "
                       "algorithms of collectives are chosen must be alike in all ranks",
                       card.settings.c_str(), settings_.c_str()));
      return lane;
    }
  }
  ConnectThrough(lane, card);
  return lane;
}

// The first carrier, in order of preference, that reaches the peer.
void Engine::ConnectThrough(Lane& lane, const bootstrap::Card& card) {
  std::string refusals;
  for (Carrier& carrier : carriers_) {
    const auto address =
        std::find_if(card.addresses.begin(), card.addresses.end(),
                     [&](const auto& entry) { return entry.first == carrier.name; });
    if (address == card.addresses.end()) {
      refusals += (refusals.empty() ? "" : "; ") + carrier.name + ": the peer does not offer it";
      continue;
    }
    Result<std::unique_ptr<transport::Endpoint>> endpoint =
        carrier.transport->Connect(lane.peer, address->second);
    if (!endpoint.ok()) {
      refusals += (refusals.empty() ? "" : "; ") + carrier.name + ": " +
                  std::string(endpoint.status().message());
      continue;
    }
    lane.owned = *std::move(endpoint);
    lane.endpoint = lane.owned.get();
    lane.caps = lane.endpoint->caps();
    lane.farewell = carrier.network;
    lane.fast_bytes_max = lane.caps.eager_bytes_max;
    RecordEvent("p2p: peer %u through %s", Index(lane.peer), carrier.name.c_str());
    return;
  }
  Lost(lane.peer, Error(Code::kPeerLost, "no transport reaches it (%s)", refusals.c_str()));
}

MatchSpace& Engine::FindSpace(ContextId context) {
  std::unique_ptr<MatchSpace>& space = spaces_[Index(context)];
  if (space == nullptr) space = std::make_unique<MatchSpace>();
  last_context_ = context;
  last_space_ = space.get();
  return *space;
}

std::uint64_t Engine::posted(ContextId context) const {
  const auto space = spaces_.find(Index(context));
  return space == spaces_.end() ? 0 : space->second->posted();
}

std::uint64_t Engine::unexpected(ContextId context) const {
  const auto space = spaces_.find(Index(context));
  return space == spaces_.end() ? 0 : space->second->unexpected();
}

void Engine::DropSpace(ContextId context) {
  const auto found = spaces_.find(Index(context));
  if (found == spaces_.end()) return;
  DropMessages(found->second.get());
  spaces_.erase(found);
  last_space_ = nullptr;
}

void Engine::DropMessages(MatchSpace* space) {
  for (Message* message : space->Unexpected()) {
    space->RemoveUnexpected(message);
    if (message->frame == FrameKind::kParcel) message->parcel->Drop();
    FreeMessage(message);
  }
}

// The last one freed, if it has room enough: its lines are in the cache.
Message* Engine::NewMessage(std::size_t payload_bytes) {
  constexpr std::size_t kRoomMin = 64;
  Message* message = message_pool_;
  if (message != nullptr) {
    message_pool_ = message->links[0].next;
    --message_pool_size_;
    message->kind = core::Kind::kMessage;
    if (message->room >= payload_bytes) return message;
    std::free(message);
  }
  const std::size_t room = std::max(payload_bytes, kRoomMin);
  void* const memory = std::malloc(sizeof(Message) + room);
  CHECK(memory != nullptr);
  message = new (memory) Message;
  message->room = static_cast<std::uint32_t>(room);
  return message;
}

void Engine::FreeMessage(Message* message) {
  constexpr std::uint32_t kPooledMax = 256;
  constexpr std::uint32_t kPooledRoomMax = 4096;
  message->kind = core::Kind::kFreed;
  if (message_pool_size_ >= kPooledMax || message->room > kPooledRoomMax) return std::free(message);
  message->links[0].next = message_pool_;
  message_pool_ = message;
  ++message_pool_size_;
}

bool Engine::Progress(std::uint32_t events_max) {
  trace::Count(trace::Counter::kPolls);
  std::uint32_t events = 0;
  for (transport::Transport* transport : polled_) events += transport->Progress(events_max);
  bool moved = events != 0;
  if (!waiting_lanes_.empty() || !pushing_.empty()) [[unlikely]]
    moved = FlushAll() || moved;
  if (core::first_notified != nullptr) [[unlikely]]
    moved = core::AdvanceNotified() || moved;
  if (moved && sleepers_ != nullptr) disturbed_ = true;
  return moved;
}

PeerId Engine::Identify(transport::ProcessName name) {
  const std::uint64_t word = static_cast<std::uint64_t>(name);
  const std::uint32_t rank = static_cast<std::uint32_t>(word);
  if (word >> 32 != job_hash_ || rank >= lanes_count_) return kNoPeer;
  return PeerId{rank};
}

void Engine::Lost(PeerId peer, Status why) {
  if (Index(peer) >= lanes_count_) return;
  Lane* lane = lanes_[Index(peer)];
  if (lane == nullptr || lane->lost) return;
  lane->lost = true;
  lane->fast_bytes_max = -1;
  lane->lost_why = why.message();
  RecordEvent("p2p: peer %u lost: %s", Index(peer), lane->lost_why.c_str());
  FailRequestsOf(*lane);
}

// Ends everything that waits for this peer by name. Receives from MPI_ANY_SOURCE go on: somebody
// else may still send.
void Engine::FailRequestsOf(const Lane& lane) {
  const auto concerns = [&](const Request* request) {
    return request->peer >= 0 && request->comm->peers[request->peer] == lane.peer;
  };
  std::vector<Request*> failed;
  for (const auto& [context, space] : spaces_)
    for (Request* request : space->Posted())
      if (concerns(request)) {
        space->Withdraw(request);
        request->source = request->peer;
        failed.push_back(request);
      }
  for (Request* request : tokens_.All())
    if (request->type == Request::Type::kSend ? concerns(request) : request->from == lane.peer) {
      tokens_.Remove(request->remote_request);
      request->remote_request = 0;
      failed.push_back(request);
    }
  for (Request* request : failed) core::Finish(request, MPI_ERR_PROC_ABORTED);
}

void Engine::Nudge(PeerId peer) {
  Lane& lane = LaneTo(peer);
  if (lane.answers.empty()) SendAnswer(lane, {PackToken(FrameKind::kNudge, 0), Grant{}, false});
}

void Engine::SayGoodbye() {
  for (auto& lane : lane_storage_)
    if (lane->farewell && !lane->lost && !std::exchange(lane->goodbye_sent, true))
      SendAnswer(*lane, {PackToken(FrameKind::kGoodbye, 0), Grant{}, false});
}

void Engine::Farewell() {
  SayGoodbye();
  DrainUntil([this] {
    SayGoodbye();  // to whom there was no lane until a goodbye came from there
    return std::all_of(lane_storage_.begin(), lane_storage_.end(), [](const auto& lane) {
      return !lane->farewell || lane->lost || (lane->goodbye_received && lane->answers.empty());
    });
  });
  DropOrphans();
}

// Receives that were freed and that nothing matched: nothing will.
void Engine::DropOrphans() {
  std::vector<Request*> orphans;
  for (const auto& [context, space] : spaces_)
    for (Request* request : space->Posted())
      if (request->orphan) orphans.push_back(request);
  for (Request* request : orphans) {
    SpaceOf(request->context).Withdraw(request);
    core::FreeRequest(request);  // it may be what keeps its communicator, and so the space
  }
}

void Engine::Drain() {
  DrainUntil([] { return true; });
}

// Bounded.
template <class Done>
void Engine::DrainUntil(const Done& done) {
  const auto limit =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(params_.goodbye_timeout_ms);
  const auto pending = [&] {
    if (!waiting_lanes_.empty() || !pushing_.empty() || !done()) return true;
    return std::any_of(polled_.begin(), polled_.end(),
                       [](transport::Transport* transport) { return !transport->Drained(); });
  };
  // First what has arrived: an operation whose request was freed may wait for it to be over.
  while (Progress() && std::chrono::steady_clock::now() < limit) {
  }
  waiting::Waiter waiter(policy_);
  while (pending() && std::chrono::steady_clock::now() < limit)
    if (Progress())
      waiter.Busy();
    else if (waiter.Idle() != waiting::Waiter::Advice::kPoll)
      waiter.Yield();
}

Engine& TheEngine() { return *core::process->engine; }

void Start(Request* request) {
  if (request->type == Request::Type::kReceive)
    TheEngine().StartReceive(request);
  else
    TheEngine().StartSend(request);
}

bool Progress() { return TheEngine().Progress(); }

void WaitUntil(bool (*done)(void*), void* argument) { TheEngine().WaitUntil(done, argument); }

namespace {

bool IsComplete(void* request) { return static_cast<Request*>(request)->complete; }

}  // namespace

void Wait(Request* request) {
  if (!request->complete) TheEngine().WaitUntil(IsComplete, request);
}

void Engine::WaitForNext(Request* request) {
  if (!request->complete) WaitUntil(IsComplete, request, 1);
}

void DropContext(ContextId context) {
  if (core::process == nullptr || core::process->engine == nullptr) return;
  for (std::uint64_t plane = 0; plane < kPlanes; ++plane)
    TheEngine().DropSpace(ContextId{Index(context) + plane});
}

}  // namespace lamina::p2p
