// SPDX-License-Identifier: BSD-3-Clause
// The engine: lanes to peers, matching spaces, and what is under way.
//
// One per process. It is the Inbox of all transports: everything that arrives passes Arrived(), and
// everything that leaves passes a Lane. Nothing moves unless Progress() turns it.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/core/request.h"
#include "runtime/memory/copy.h"
#include "runtime/p2p/header.h"
#include "runtime/p2p/match.h"
#include "runtime/p2p/p2p.h"
#include "runtime/p2p/token.h"
#include "runtime/p2p/ways.h"
#include "runtime/trace/trace.h"
#include "runtime/waiting/waiting.h"
#include "transports/transport.h"

namespace lamina::p2p {

using core::Request;

struct Params {
  std::uint32_t poll_events_max = 16;
  std::uint32_t goodbye_timeout_ms = 10000;
  std::string push = "auto";
};
inline constexpr std::tuple kFields{
    param::Describe("p2p.engine.poll_events_max", &Params::poll_events_max, Unit::kCount, 1u, 4096u,
                    "Frames handled per transport and poll; bounds the time of one MPI_Test."),
    param::Describe("p2p.engine.goodbye_timeout_ms", &Params::goodbye_timeout_ms,
                    Unit::kMilliseconds, 1u, 600000u,
                    "How long MPI_Finalize waits for network peers to say goodbye."),
    param::Describe(
        "p2p.engine.push", &Params::push, "auto|never",
        "Whether the sender of a long message on this node may copy it through the ring, "
        "where that is found to be faster than reading its memory (auto: for the first 8 "
        "peers, whose rings then grow to 512 KiB, if every rank has a CPU of its own)."),
};

// The endpoint chosen for a peer, and what waits to go through it.
struct Lane {
  // Messages of up to this many bytes may be sent at once, in order, by SendShort. -1: not now,
  // because there is no endpoint yet, or earlier messages wait.
  std::int64_t fast_bytes_max = -1;
  transport::Endpoint* endpoint = nullptr;
  transport::EndpointCaps caps;
  PeerId peer = kNoPeer;
  bool lost = false;
  bool farewell = false;  // this peer's transport wants goodbyes (it is a network)
  bool goodbye_sent = false;
  bool goodbye_received = false;
  bool listed = false;  // stands in the engine's list of lanes with something waiting
  std::unique_ptr<transport::Endpoint> owned;
  std::string lost_why;
  // In order: eager messages and offers that found no room. Linked through Request::next.
  Request* waiting_head = nullptr;
  Request* waiting_tail = nullptr;
  // Answers that found no room; their order does not matter.
  struct Answer {
    transport::Header header;
    Grant grant;
    bool has_grant;
  };
  std::deque<Answer> answers;
  // How long messages come from this peer; null: as they can.
  std::unique_ptr<Ways> ways;
};

// One transport in use.
struct Carrier {
  std::string name;
  std::unique_ptr<transport::Transport> transport;
  bool network = false;
  bool loopback = false;  // leads to this process alone, so nobody rings its bell
};

class Engine final : public transport::Inbox {
 public:
  Engine(const Params& params, const waiting::WaitPolicy& policy, PeerId self,
         std::uint32_t job_ranks, std::uint32_t job_hash, bootstrap::Bootstrap* bootstrap);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Transports in order of preference; before any communication.
  void AddCarrier(Carrier carrier);
  // What all peers must have too, or they would choose other algorithms: what was loaded from
  // outside the library, and settings. Before the card.
  void SetAgreed(std::string components, std::string settings) {
    components_ = std::move(components);
    settings_ = std::move(settings);
  }
  // Publishes this process's card: version and one address per carrier.
  Status PublishCard();

  // The lane to `peer`, connected on first use. A lane that cannot be made is lost and says why.
  Lane& LaneTo(PeerId peer) {
    Lane* lane = lanes_[Index(peer)];
    return lane != nullptr ? *lane : Connect(peer);
  }
  MatchSpace& SpaceOf(ContextId context) {
    return context == last_context_ && last_space_ != nullptr ? *last_space_ : FindSpace(context);
  }
  void DropSpace(ContextId context);

  bool Progress() { return Progress(params_.poll_events_max); }
  // At most so many events per transport.
  bool Progress(std::uint32_t events_max);
  // Progresses until `done(argument)`; see wait.cc. At MPI_THREAD_MULTIPLE gives up the library
  // lock while it yields or sleeps, and another thread may ask `done` meanwhile: it must be quick,
  // must not progress, and is not asked again once it has answered true.
  void WaitUntil(bool (*done)(void*), void* argument) {
    WaitUntil(done, argument, params_.poll_events_max);
  }
  void WaitUntil(bool (*done)(void*), void* argument, std::uint32_t events_max);
  // Until `request` is complete, taking one frame at a time: what comes behind it would only have
  // to be put aside.
  void WaitForNext(Request* request);
  // Ends a sleep of `peer` in WaitUntil, so that it asks its condition again. A peer that cannot
  // take a frame now has others to read, and asks anyway.
  void Nudge(PeerId peer);
  const waiting::WaitPolicy& policy() const { return policy_; }
  // Something was completed outside Progress that another thread may sleep for.
  void Disturb() { disturbed_ = true; }

  // Sends started by the functions of send.cc.
  void StartSend(Request* request);
  void StartReceive(Request* request);
  // As p2p::Cancel(), of a send.
  bool CancelSend(Request* request);
  // `message` is no longer queued; takes ownership of it.
  void ReceiveMatched(Request* request, Message* message);

  // Sends a message that may go at once without a request; false: it may not.
  [[gnu::always_inline]] bool TrySendNow(const Envelope& to, const Buffer& data) {
    Lane& lane = LaneTo(to.comm->peers[to.peer]);
    const std::int64_t bytes = data.bytes();
    if (bytes > lane.fast_bytes_max || !data.contiguous()) [[unlikely]]
      return false;
    const transport::Frame frame{PackMatch(FrameKind::kEager, to.context, to.comm->rank, to.tag),
                                 {data.data(), static_cast<std::size_t>(bytes)}};
    if (lane.endpoint->SendShort(frame) != Code::kOk) return false;
    trace::Count(trace::Counter::kEagerSent);
    trace::Count(trace::Counter::kEagerSentBytes, static_cast<std::uint64_t>(bytes));
    return true;
  }

  // A program that calls MPI_Test in a loop holds the CPU its peer may need: gives it up now and
  // then on an oversubscribed node; and the lock, if another thread wants to be let in.
  void TestedInVain();

  // Says goodbye to network peers and waits, bounded, for theirs; then everything has left.
  void Farewell();
  // Waits, bounded, until everything has left; peers may still be spoken to afterwards.
  void Drain();

  SendBuffer* send_buffer = nullptr;  // the process's own; see buffered.h

  // For tools: how much waits there.
  std::uint64_t posted(ContextId context) const;
  std::uint64_t unexpected(ContextId context) const;

  Message* NewMessage(std::size_t payload_bytes);
  void FreeMessage(Message* message);
  // A context nobody has had; see context.cc.
  ContextId NewContext();

  // transport::Inbox
  PeerId Identify(transport::ProcessName name) override;
  void Arrived(PeerId from, const transport::Header& header,
               std::span<const std::byte> payload) override;
  void Offered(PeerId from, const transport::Header& header, std::size_t bytes,
               transport::Parcel* parcel) override;
  void Lost(PeerId peer, Status why) override;

 private:
  Lane& Connect(PeerId peer);
  void ConnectThrough(Lane& lane, const bootstrap::Card& card);
  MatchSpace& FindSpace(ContextId context);
  void DropMessages(MatchSpace* space);
  void SayGoodbye();
  void DropOrphans();
  template <class Done>
  void DrainUntil(const Done& done);

  // wait.cc
  struct Sleeper;
  void WaitAmongThreads(bool (*done)(void*), void* argument);
  bool SleepAmongThreads(bool (*done)(void*), void* argument);
  void WakeThoseDone();
  void WakeHeir();
  void Wake(Sleeper* sleeper);
  std::uint32_t SleepLimit() const;

  // send.cc
  Code TrySend(Lane& lane, Request* request);
  Code SendLong(Lane& lane, Request* request);
  Code SendParcel(Lane& lane, Request* request);
  Code SendOffer(Lane& lane, Request* request);
  Code SendPacked(Lane& lane, Request* request, FrameKind kind);
  void QueueSend(Lane& lane, Request* request);
  bool WithdrawQueued(Lane& lane, Request* before, Request* request);
  void FailSend(Lane& lane, Request* request);
  void SendAnswer(Lane& lane, const Lane::Answer& answer);
  bool FlushLane(Lane& lane);
  bool FlushAll();
  void Granted(const transport::Header& header, std::span<const std::byte> payload);
  bool Push(Request* request);

  // arrive.cc
  void ArrivedMatch(PeerId from, const transport::Header& header,
                    std::span<const std::byte> payload);
  void ArrivedData(PeerId from, const transport::Header& header,
                   std::span<const std::byte> payload);
  void ArrivedWithdraw(PeerId from, const transport::Header& header);
  // Of a message that was matched, or has been withdrawn.
  void ArrivedDone(const transport::Header& header, bool withdrawn);
  void DeliverEager(Request* request, PeerId from, Rank source, int tag,
                    std::span<const std::byte> data);
  void BeginRendezvous(Request* request, PeerId from, Rank source, int tag, const Offer& offer);
  Way ChooseWay(Lane& lane, const Offer& offer, std::uint64_t bytes);
  bool Fetch(Request* request, Lane& lane, const Offer& offer);
  void KeepUnexpected(PeerId from, const transport::Header& header, const Offer& offer,
                      transport::Parcel* parcel, std::span<const std::byte> payload);
  void BeginReceive(Request* request, PeerId from, Rank source, int tag, std::uint64_t bytes);
  void AcceptParcel(Request* request, PeerId from, Rank source, int tag, std::uint64_t bytes,
                    transport::Parcel* parcel);
  void FinishReceive(Request* request);
  void BadFrame(PeerId from, const char* what);
  void FailRequestsOf(const Lane& lane);

  const Params params_;
  const waiting::WaitPolicy policy_;
  const PeerId self_;
  const std::uint32_t job_hash_;  // the high half of the names of this job's processes
  bootstrap::Bootstrap* const bootstrap_;
  std::string components_, settings_;

  std::vector<Carrier> carriers_;
  std::vector<transport::Transport*> polled_;   // the same, flat
  std::vector<transport::Transport*> ringing_;  // those whose bell another process may ring
  transport::Transport* loopback_ = nullptr;    // the other one
  Lane** lanes_ = nullptr;                      // by PeerId; zero pages until used
  std::uint32_t lanes_count_;
  std::vector<std::unique_ptr<Lane>> lane_storage_;
  std::vector<Lane*> waiting_lanes_;  // lanes with something waiting
  std::vector<Request*> pushing_;     // granted, data still to be pushed
  std::uint32_t lanes_with_ways_ = 0;

  std::unordered_map<std::uint64_t, std::unique_ptr<MatchSpace>> spaces_;
  ContextId last_context_{};
  MatchSpace* last_space_ = nullptr;

  TokenTable tokens_;
  std::vector<std::byte> scratch_;  // packing and unpacking
  Message* message_pool_ = nullptr;
  std::uint32_t message_pool_size_ = 0;
  Sleeper* sleepers_ = nullptr;  // threads that sleep; the newest first
  Sleeper* watch_ = nullptr;     // of them, the one that sleeps on the bells
  std::uint32_t watchers_ =
      0;  // threads that wait, but for those that sleep on a word of their own
  pthread_t last_waiter_{};
  std::uint32_t others_wait_ = 0;  // not 0: threads take turns at waiting
  bool disturbed_ = false;         // something has happened since the sleepers were looked after
  std::uint32_t contexts_made_ = 0;
  std::uint32_t vain_tests_ = 0;
  static constexpr std::uint32_t kVainTestsPerYield = 16;
};

[[gnu::always_inline]] inline void Engine::DeliverEager(Request* request, PeerId from, Rank source,
                                                        int tag, std::span<const std::byte> data) {
  const std::int64_t room = request->buffer.bytes();
  const std::int64_t bytes = std::min(room, static_cast<std::int64_t>(data.size()));
  if (request->buffer.contiguous()) {
    memory::CopyMostlyShort(request->buffer.data(), data.data(), static_cast<std::size_t>(bytes));
  } else {
    datatype::UnpackFresh(data.first(static_cast<std::size_t>(bytes)), request->buffer);
  }
  request->from = from;
  request->source = source;
  request->tag = tag;
  request->bytes = bytes;
  trace::Count(trace::Counter::kEagerReceived);
  trace::Count(trace::Counter::kEagerReceivedBytes, static_cast<std::uint64_t>(bytes));
  core::Finish(request,
               static_cast<std::int64_t>(data.size()) > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

// The engine of this process; not null between initialisation and finalisation.
Engine& TheEngine();

}  // namespace lamina::p2p
