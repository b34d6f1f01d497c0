// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/engine.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "runtime/base/log.h"
#include "runtime/base/sharing.h"
#include "runtime/core/activity.h"
#include "runtime/core/process.h"
#include "runtime/core/request.h"
#include "runtime/p2p/awaited.h"
#include "runtime/p2p/buffered.h"
#include "runtime/p2p/counted_endpoint.h"
#include "runtime/p2p/flows.h"
#include "runtime/p2p/note_word.h"
#include "runtime/p2p/noting.h"
#include "runtime/p2p/sleeping.h"
#include "runtime/p2p/tuning.h"
#include "runtime/trace/profile.h"
#include "runtime/trace/trace.h"

namespace lamina::p2p {

using core::Request;

Engine& TheEngine() { return *core::process->engine; }

Engine::Engine(const Params& params, const waiting::WaitPolicy& policy, const Place& place,
               bootstrap::Bootstrap* bootstrap)
    : params_(params),
      policy_(policy),
      peers_(place.job_hash, place.job_ranks),
      cards_(place.self, carriers_, peers_, bootstrap),
      lanes_(place.job_ranks, carriers_, cards_, *this),
      dispatch_(lanes_, tokens_, scratch_),
      rendezvous_(lanes_, tokens_, scratch_, place.self,
                  policy.sharing == Sharing::kExclusive && params.push != "never"),
      delivery_(lanes_, rendezvous_),
      contexts_(place.self),
      watch_(policy_, *this, [] { TheEngine().watch().WakeThoseDone(); }) {
  if (trace::IsTraced()) flows_ = std::make_unique<Flows>(*this, delivery_.spaces());
}

Engine::~Engine() {
  delete send_buffer_;
  lanes_.Close();
}

bool Engine::Progress(std::uint32_t events_max) {
  trace::Count(trace::Counter::kPolls);
  bool moved = carriers_.Progress(events_max) != 0;
  if (Blocked()) [[unlikely]]
    moved = SendWhatWaits() || moved;
  if (core::IsAnyNotified()) [[unlikely]]
    moved = core::AdvanceNotified() || moved;
  if (moved) watch_.Moved();
  return moved;
}

bool Engine::SendWhatWaits() {
  const bool sent = lanes_.Flush(dispatch_);
  return dispatch_.PushAll() || sent;
}

void Engine::WaitUntil(bool (*done)(void*), void* argument, std::uint32_t events_max) {
  trace::Count(trace::Counter::kWaits);
  if (core::shared_process.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    if (trace::profile != nullptr) TellProfile(done, argument);
    return watch_.WaitUntil(done, argument, events_max);
  }
  waiting::Waiter waiter(policy_);
  while (!done(argument)) {
    if (Progress(events_max)) {
      waiter.Busy();
      continue;
    }
    switch (waiter.Idle()) {
      case waiting::Waiter::Advice::kPoll:
        waiting::Pause();
        break;
      case waiting::Waiter::Advice::kYield:
        trace::Count(trace::Counter::kYields);
        waiter.Yield();
        break;
      case waiting::Waiter::Advice::kSleep:
        return WaitLong(&waiter, done, argument, events_max);
    }
  }
}

// The rest of a wait that has come to its first sleep, and is noted for others to see.
void Engine::WaitLong(waiting::Waiter* waiter, bool (*done)(void*), void* argument,
                      std::uint32_t events_max) {
  const std::uint64_t since_ms = WaitingSinceMs();
  bool noted = false;
  do {
    const bool moved = Progress(events_max);
    if (moved) {
      waiter->Busy();
      noted = false;  // something else may be open now
      continue;
    }
    switch (waiter->Idle()) {
      case waiting::Waiter::Advice::kPoll:
        waiting::Pause();
        break;
      case waiting::Waiter::Advice::kYield:
        trace::Count(trace::Counter::kYields);
        waiter->Yield();
        break;
      case waiting::Waiter::Advice::kSleep:
        if (lanes_.any_lost() && GiveUpCollectives()) break;
        if (!std::exchange(noted, true)) WriteNote(done, argument, since_ms);
        if (const waiting::Nap nap(Ringing()); nap.armed()) {
          const Sleeping sleeping;
          nap.Sleep(SleepMsMax());
        }
        break;
    }
  } while (!done(argument));
  ClearNote();
}

namespace {

bool IsComplete(void* request) { return static_cast<Request*>(request)->complete; }

trace::Awaits WhoEnds(const Request& request) {
  const bool own = IsOwn(request.context);
  switch (request.type) {
    case Request::Type::kSend:
      return own ? trace::Awaits::kMembers : trace::Awaits::kReceiver;
    case Request::Type::kReceive:
      return own ? trace::Awaits::kMembers : trace::Awaits::kSender;
    case Request::Type::kCollective:
      return trace::Awaits::kMembers;
    default:
      return trace::Awaits::kUnknown;
  }
}

}  // namespace

// Says for whom this thread waits, as far as the profile tells that apart.
void Engine::TellProfile(bool (*done)(void*), const void* argument) {
  const Request* request = nullptr;
  if (done == IsComplete)
    request = static_cast<const Request*>(argument);
  else if (awaited_by != nullptr)
    request = awaited_by(done, argument);
  const Awaited* const awaited = AwaitedNow();
  if (request != nullptr)
    trace::NoteAwaited(WhoEnds(*request), request);
  else if (awaited != nullptr && awaited->kind == Awaited::Kind::kProbe)
    trace::NoteAwaited(trace::Awaits::kSender);
  else if (awaited != nullptr && awaited->kind == Awaited::Kind::kBoard)
    trace::NoteAwaited(trace::Awaits::kMembers);
}

void Engine::NoteWait(bool (*done)(void*), void* argument, std::uint64_t since_ms) {
  if (lanes_.any_lost()) GiveUpCollectives();
  WriteNote(done, argument, since_ms);
}

void Engine::WriteNote(bool (*done)(void*), void* argument, std::uint64_t since_ms) {
  const Request* awaited = done == IsComplete ? static_cast<const Request*>(argument) : nullptr;
  NoteOpen(*this, WaitNote::kWaits, since_ms, awaited);
}

void Engine::NoteTests() {
  const std::uint64_t now_ms = NoteClockMs();
  if (now_ms - tests_noted_ms_ < kTestsNotedEveryMs) return;
  if (now_ms - tests_noted_ms_ > kTestsForgottenMs) tests_since_ms_ = now_ms;
  tests_noted_ms_ = now_ms;
  // Transports look who has died when they are asked for their bells, which a poller never does.
  if (!watch_.any_waits()) static_cast<void>(waiting::Nap(Ringing()));
  if (lanes_.any_lost()) GiveUpCollectives();
  NoteOpen(*this, WaitNote::kTests, tests_since_ms_, nullptr);
}

void Engine::WaitFor(Request* request) {
  if (!request->complete) WaitUntil(IsComplete, request);
}

void Engine::WaitForNext(Request* request) {
  if (!request->complete) WaitUntil(IsComplete, request, 1);
}

// Neither a frame to this process itself nor an activity rings a bell.
bool Engine::IsDue() const { return core::IsAnyNotified() || carriers_.HoldsOwnFrames(); }

std::uint32_t Engine::SleepMsMax() const {
  return Blocked() || core::notices_to_come > 0 ? kBlockedSleepMs : policy_.sleep_ms;
}

PeerId Engine::Number(transport::ProcessName name) {
  const PeerId peer = peers_.Identify(name);
  lanes_.Grow(peers_.end());
  return peer;
}

PeerId Engine::Identify(transport::ProcessName name) {
  const PeerId peer = Number(name);
  if (peer != kNoPeer) peers_.Heard(peer);
  return peer;
}

namespace {

// Complains of a frame that makes no sense.
void Check(bool sensible, PeerId from, const char* what) {
  if (sensible) [[likely]]
    return;
  Log(Level::kWarn, "p2p", "dropped %s from peer %d", what, static_cast<int>(Index(from)));
}

}  // namespace

void Engine::Arrived(PeerId from, const transport::Header& header,
                     std::span<const std::byte> payload) {
  if (KindOf(header) == FrameKind::kEager) [[likely]]
    return delivery_.Eager(from, header, payload);
  Sort(from, header, payload);
}

void Engine::Sort(PeerId from, const transport::Header& header,
                  std::span<const std::byte> payload) {
  switch (KindOf(header)) {
    case FrameKind::kEagerSync:
      return Check(delivery_.EagerSync(from, header, payload), from,
                   "a synchronous message that is cut short");
    case FrameKind::kReadyToSend:
      return Check(delivery_.Offered(from, header, payload), from, "an offer of the wrong length");
    case FrameKind::kClearToSend:
      return Check(dispatch_.Granted(from, header, payload), from,
                   "a grant for a send that is unknown");
    case FrameKind::kData:
      return Check(rendezvous_.Data(from, header, payload), from,
                   "data for a receive that is unknown");
    case FrameKind::kDone:
    case FrameKind::kWithdrawn:
      // The goodbye has already ended what its sender answers afterwards.
      return Check(dispatch_.Ended(from, header, KindOf(header) == FrameKind::kWithdrawn) ||
                       lanes_.To(from).goodbye_received,
                   from, "the end of a send that is unknown");
    case FrameKind::kWithdraw:
      return delivery_.Withdraw(from, header);
    case FrameKind::kReoffer:
      return Check(delivery_.Reoffered(from, header, payload), from,
                   "an offer of the wrong length");
    case FrameKind::kGoodbye:
      return Left(from);
    case FrameKind::kNudge:
      return;
    case FrameKind::kMarker:
      return CountMarker(TokenOf(header));
    case FrameKind::kEager:   // does not come here
    case FrameKind::kParcel:  // comes by Offered()
      break;
  }
  Check(false, from, "a frame of no known kind");
}

// Markers of a checkpoint that was given up may come late, and those of the next one early.
void Engine::CountMarker(std::uint64_t epoch) {
  if (epoch > marked_epoch_) {
    marked_epoch_ = epoch;
    markers_received_ = 0;
  }
  if (epoch == marked_epoch_) ++markers_received_;
}

void Engine::Offered(PeerId from, const transport::Header& header, std::size_t bytes,
                     transport::Parcel* parcel) {
  if (KindOf(header) == FrameKind::kParcel) return delivery_.Lent(from, header, bytes, parcel);
  parcel->Drop();
  Check(false, from, "a parcel that is no message");
}

// Whoever parts later than this process has nothing more to say.
void Engine::Left(PeerId peer) {
  if (peers_.IsOfOtherJob(peer) && !peers_.IsHeld(peer) && lanes_.Find(peer) == nullptr) return;
  lanes_.To(peer).goodbye_received = true;
  dispatch_.PeerHasLeft(peer);
}

// A process of another job may be waited for by those who have never sent it anything.
void Engine::Lost(PeerId peer, Status why) {
  const bool is_unmet = peers_.IsHeld(peer) && lanes_.Find(peer) == nullptr;
  if (!(is_unmet ? lanes_.LoseUnmet(peer, std::move(why)) : lanes_.Lose(peer, std::move(why))))
    return;
  FailWhatNames(peer);
  if (peers_.IsAttended(peer) && !lanes_.To(peer).goodbye_received) LoseJobOf(peer);
}

// Whoever has been spoken to is lost by itself, once its last frames are here.
void Engine::LoseJobOf(PeerId lost) {
  const std::uint32_t job_hash = PeerTable::JobOf(peers_.NameOf(lost));
  for (std::uint32_t index = 0; index < peers_.end(); ++index) {
    const PeerId peer{index};
    if (!peers_.IsOfOtherJob(peer) || PeerTable::JobOf(peers_.NameOf(peer)) != job_hash) continue;
    if (lanes_.LoseUnmet(peer, Error(Code::kPeerLost, "its job has lost another process")))
      FailWhatNames(peer);
  }
}

// Receives from MPI_ANY_SOURCE go on as long as somebody else may still send.
void Engine::FailWhatNames(PeerId peer) {
  const auto names_it = [&](const Request* request) {
    return request->peer >= 0 && request->comm->peers[request->peer] == peer;
  };
  std::vector<Request*> failed = delivery_.TakePromised(peer);
  for (Request* request : delivery_.spaces().Posted())
    if (names_it(request) || (request->peer < 0 && lanes_.AreLost(*request->comm, request->peer))) {
      delivery_.spaces().Of(request->context).Withdraw(request);
      request->source = request->peer;
      failed.push_back(request);
    }
  for (Request* request : tokens_.All())
    if (request->type == Request::Type::kSend ? names_it(request) : request->from == peer) {
      tokens_.Remove(request->remote_request);
      request->remote_request = 0;
      failed.push_back(request);
    }
  for (Request* request : failed) {
    dispatch_.Detach(request);
    core::Finish(request, MPI_ERR_PROC_ABORTED);
  }
}

// A process that this one could not connect to may be well. Each member has connected to one of
// each other job.
bool Engine::IsBroken(const core::Comm& comm) const {
  const auto has_failed = [this](PeerId peer) {
    const Lane* const lane = peers_.IsOfOtherJob(peer) ? lanes_.Find(peer) : nullptr;
    return lane != nullptr && lane->lost && lane->owned != nullptr && !lane->goodbye_received;
  };
  if (!lanes_.any_lost()) return false;
  const core::Comm& whole = comm.inter != nullptr ? *comm.inter : comm;
  return std::any_of(whole.peers, whole.peers + whole.destinations, has_failed) ||
         std::any_of(whole.group->peers.begin(), whole.group->peers.end(), has_failed);
}

// Somebody who lives may have left a collective because of a loss, and so may not do what this
// process waits for there. So once nothing moves any more, all of that has failed. What is on its
// way already comes to its end.
bool Engine::GiveUpCollectives() {
  const auto is_in_vain = [this](const Request* request) {
    return IsOwn(request->context) && request->peer >= 0 && IsBroken(*request->comm);
  };
  std::vector<Request*> receives, sends;
  for (Request* request : delivery_.spaces().Posted())
    if (is_in_vain(request)) receives.push_back(request);
  EachOpenSend([&](const Request* request) {
    if (request->type == Request::Type::kSend && !request->asked_back && is_in_vain(request))
      sends.push_back(const_cast<Request*>(request));
  });
  for (Request* request : receives) {
    delivery_.spaces().Of(request->context).Withdraw(request);
    request->source = request->peer;
    core::Finish(request, MPI_ERR_PROC_ABORTED);
  }
  bool ended = !receives.empty();
  for (Request* request : sends)
    if (!request->complete && dispatch_.Cancel(request)) ended = true;
  if (ended) watch_.Disturb();
  return ended;
}

void Engine::Part() {
  if (lanes_.EndThoseLetGo()) return;
  DrainUntil([this] { return lanes_.EndThoseLetGo(); });
}

void Engine::Drain() {
  DrainUntil([] { return true; });
}

void Engine::SayGoodbyes() {
  lanes_.SayGoodbye();
  // Whoever waits for a match that will never come may want the message back.
  for (const PeerId peer : delivery_.spaces().Awaiting()) lanes_.SayGoodbyeTo(peer);
}

// True if all that attend to this process have connected to it, and so do not take its end for a
// failure.
bool Engine::IsAttendedByAll() const {
  const std::vector<PeerId> awaited = peers_.Awaited();
  return std::all_of(awaited.begin(), awaited.end(), [this](PeerId peer) {
    const Lane* lane = lanes_.Find(peer);
    return lane != nullptr && (lane->lost || lane->goodbye_received);
  });
}

// The sends that nobody waits for and that still need this process: those whose request was freed,
// and the buffered ones.
std::vector<Request*> Engine::Owed() const {
  std::vector<Request*> owed;
  EachOpenSend([&](const Request* request) {
    if (request->type == Request::Type::kSend && (request->orphan || IsBuffered(request)) &&
        std::find(owed.begin(), owed.end(), request) == owed.end())
      owed.push_back(const_cast<Request*>(request));
  });
  return owed;
}

// The receiver may be busy for as long as it likes. What ends the wait otherwise is that it says
// goodbye, as this process has done, or dies.
void Engine::SendWhatIsOwed() {
  const auto is_done = [](void* argument) {
    auto* const self = static_cast<Engine*>(argument);
    const std::vector<Request*> owed = self->Owed();
    if (!owed.empty()) self->SayGoodbyes();  // also to those whose messages have just come
    return std::none_of(owed.begin(), owed.end(), [self](const Request* request) {
      return self->lanes_.Reads(request->comm->peers[request->peer]);
    });
  };
  if (!is_done(this)) WaitUntil(is_done, this);
}

void Engine::Farewell() {
  SayGoodbyes();
  SendWhatIsOwed();
  DrainUntil([this] {
    SayGoodbyes();  // to those whose goodbye made the lane
    // A sender that does not cancel any more may still wait for its buffer to come back.
    delivery_.spaces().DropParcelsOf(
        [this](PeerId peer) { return lanes_.To(peer).goodbye_received; });
    return lanes_.Parted() && IsAttendedByAll();
  });
  for (Request* request : Owed()) {
    lanes_.Withdraw(lanes_.To(request->comm->peers[request->peer]), request);
    dispatch_.Abandon(request);
    core::Finish(request, MPI_ERR_PROC_ABORTED);
  }
  Progress();  // buffers are told
  // Nothing will match a receive that was freed and is still posted.
  for (Request* request : delivery_.spaces().Posted()) {
    if (!request->orphan) continue;
    delivery_.spaces().Of(request->context).Withdraw(request);
    core::FreeRequest(request);  // it may be what keeps its communicator, and so the space
  }
  SetReading(false);
}

void Engine::SetReading(bool reads) {
  for (const Carrier& carrier : carriers_.all()) carrier.transport->SetReading(reads);
}

// A checkpoint comes between, and clocks may be others afterwards.
template <class Done>
void Engine::DrainUntil(const Done& done) {
  const auto patience = std::chrono::milliseconds(params_.goodbye_timeout_ms);
  auto limit = std::chrono::steady_clock::now() + patience;
  // What has arrived comes first, because an operation whose request was freed may wait for it.
  while (Progress() && std::chrono::steady_clock::now() < limit) {
  }
  waiting::Waiter waiter(policy_);
  while ((Blocked() || !done() || !carriers_.Drained()) &&
         std::chrono::steady_clock::now() < limit) {
    if (core::process->lock.IsClaimed()) {
      {
        const core::Unlocked unlocked;
        core::process->lock.AwaitUnclaim();
      }
      limit = std::chrono::steady_clock::now() + patience;
    }
    if (Progress())
      waiter.Busy();
    else if (waiter.Idle() != waiting::Waiter::Advice::kPoll)
      waiter.Yield();
  }
}

}  // namespace lamina::p2p
