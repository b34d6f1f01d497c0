// SPDX-License-Identifier: BSD-3-Clause
// What becomes of a frame that arrives. Frames come from other processes, so nothing in them is
// believed: a token must be one of ours, a length must fit, a kind must exist.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/memory/copy.h"
#include "runtime/p2p/engine.h"

namespace lamina::p2p {
namespace {

constexpr std::uint32_t kLanesWithWaysMax = 8;  // a ring that is pushed through takes 512 KiB

}  // namespace

void Engine::Arrived(PeerId from, const transport::Header& header,
                     std::span<const std::byte> payload) {
  switch (KindOf(header)) {
    case FrameKind::kEager: {
      Request* request = SpaceOf(ContextOf(header)).TakePosted(SourceOf(header), TagOf(header));
      if (request != nullptr) [[likely]]
        return DeliverEager(request, from, SourceOf(header), TagOf(header), payload);
      return ArrivedMatch(from, header, payload);
    }
    case FrameKind::kEagerSync:
    case FrameKind::kReadyToSend:
      return ArrivedMatch(from, header, payload);
    case FrameKind::kClearToSend:
      return Granted(header, payload);
    case FrameKind::kData:
      return ArrivedData(from, header, payload);
    case FrameKind::kDone:
      return ArrivedDone(header, false);
    case FrameKind::kWithdraw:
      return ArrivedWithdraw(from, header);
    case FrameKind::kWithdrawn:
      return ArrivedDone(header, true);
    case FrameKind::kGoodbye:
      LaneTo(from).goodbye_received = true;
      return;
    case FrameKind::kNudge:
      return;
    case FrameKind::kParcel:  // comes by Offered()
      break;
  }
  BadFrame(from, "a frame of no known kind");
}

// A message that is to be matched: taken by a posted receive, or kept as unexpected.
void Engine::ArrivedMatch(PeerId from, const transport::Header& header,
                          std::span<const std::byte> payload) {
  const FrameKind kind = KindOf(header);
  const Rank source = SourceOf(header);
  const int tag = TagOf(header);
  Offer offer{payload.size(), 0, 0};
  if (kind == FrameKind::kReadyToSend) {
    if (payload.size() != sizeof offer) return BadFrame(from, "an offer of the wrong length");
    std::memcpy(&offer, payload.data(), sizeof offer);
    payload = {};
  } else if (kind == FrameKind::kEagerSync) {
    if (payload.size() < sizeof offer.token) return BadFrame(from, "a cut synchronous message");
    std::memcpy(&offer.token, payload.data(), sizeof offer.token);
    payload = payload.subspan(sizeof offer.token);
    offer.bytes = payload.size();
  }
  MatchSpace& space = SpaceOf(ContextOf(header));
  if (Request* request = space.TakePosted(source, tag); request != nullptr) {
    if (kind == FrameKind::kReadyToSend) return BeginRendezvous(request, from, source, tag, offer);
    if (kind == FrameKind::kEagerSync)
      SendAnswer(LaneTo(from), {PackToken(FrameKind::kDone, offer.token), Grant{}, false});
    return DeliverEager(request, from, source, tag, payload);
  }
  KeepUnexpected(from, header, offer, nullptr, payload);
}

void Engine::KeepUnexpected(PeerId from, const transport::Header& header, const Offer& offer,
                            transport::Parcel* parcel, std::span<const std::byte> payload) {
  Message* message = NewMessage(payload.size());
  message->source = SourceOf(header);
  message->tag = TagOf(header);
  message->from = from;
  message->frame = KindOf(header);
  message->bytes = offer.bytes;
  message->token = offer.token;
  message->address = offer.address;
  if (parcel != nullptr) message->parcel = parcel;
  if (!payload.empty()) memory::CopyLong(message->payload(), payload.data(), payload.size());
  SpaceOf(ContextOf(header)).AddUnexpected(message);
  trace::Count(trace::Counter::kUnexpected);
  trace::MessageEvent(trace::EventType::kUnexpected,
                      {message->source, message->tag, static_cast<std::int64_t>(offer.bytes),
                       static_cast<std::int64_t>(Index(ContextOf(header)))});
}

// Of a long message; what does not fit stays behind.
void Engine::BeginReceive(Request* request, PeerId from, Rank source, int tag,
                          std::uint64_t bytes) {
  const auto room = static_cast<std::uint64_t>(request->buffer.bytes());
  request->from = from;
  request->source = source;
  request->tag = tag;
  request->bytes = static_cast<std::int64_t>(std::min(room, bytes));
  request->error = bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  request->moved = 0;
  trace::Count(trace::Counter::kRendezvousReceived);
  trace::Count(trace::Counter::kRendezvousReceivedBytes,
               static_cast<std::uint64_t>(request->bytes));
}

void Engine::BeginRendezvous(Request* request, PeerId from, Rank source, int tag,
                             const Offer& offer) {
  BeginReceive(request, from, source, tag, offer.bytes);
  const auto wanted = static_cast<std::uint64_t>(request->bytes);
  Lane& lane = LaneTo(from);
  const bool push = wanted != 0 && ChooseWay(lane, offer, wanted) == Way::kPush;
  if (wanted == 0 || (!push && offer.address != 0 && Fetch(request, lane, offer))) {
    SendAnswer(lane, {PackToken(FrameKind::kDone, offer.token), Grant{}, false});
    return core::Finish(request, request->error);
  }
  if (lane.ways != nullptr) lane.ways->Granted(MonotonicNs());
  request->remote_request = tokens_.Add(request);
  SendAnswer(lane, {PackToken(FrameKind::kClearToSend, offer.token),
                    Grant{request->remote_request, wanted}, true});
}

void Engine::Offered(PeerId from, const transport::Header& header, std::size_t bytes,
                     transport::Parcel* parcel) {
  if (KindOf(header) != FrameKind::kParcel) {
    parcel->Drop();
    return BadFrame(from, "a parcel that is no message");
  }
  const Rank source = SourceOf(header);
  const int tag = TagOf(header);
  if (Request* request = SpaceOf(ContextOf(header)).TakePosted(source, tag); request != nullptr)
    return AcceptParcel(request, from, source, tag, bytes, parcel);
  KeepUnexpected(from, header, {bytes, 0, 0}, parcel, {});
}

// Straight into the buffer, if that can take it as it is.
void Engine::AcceptParcel(Request* request, PeerId from, Rank source, int tag, std::uint64_t bytes,
                          transport::Parcel* parcel) {
  BeginReceive(request, from, source, tag, bytes);
  if (request->bytes == 0) {
    parcel->Drop();
    return core::Finish(request, request->error);
  }
  std::byte* into = request->buffer.data();
  if (!request->buffer.contiguous() || request->error != MPI_SUCCESS) {
    request->staging = into = static_cast<std::byte*>(std::malloc(bytes));
    if (into == nullptr) {
      parcel->Drop();
      return core::Finish(request, MPI_ERR_NO_MEM);
    }
  }
  request->completion.owner = request;
  request->completion.done = [](transport::Completion* self, Code code) {
    Request* owner = static_cast<Request::OwnedCompletion*>(self)->owner;
    if (owner->staging != nullptr && code == Code::kOk)
      datatype::Unpack({owner->staging, static_cast<std::size_t>(owner->bytes)}, 0, owner->buffer);
    std::free(std::exchange(owner->staging, nullptr));
    core::Finish(owner, code == Code::kOk ? owner->error : MPI_ERR_PROC_ABORTED);
  };
  parcel->Accept({into, bytes}, &request->completion);
}

// Where there is a choice, what has been learned of this peer.
Way Engine::ChooseWay(Lane& lane, const Offer& offer, std::uint64_t bytes) {
  if (offer.address == 0 || lane.caps.get_bytes_max == 0) return Way::kPush;
  if (lane.ways == nullptr) {
    const bool shares_cpus = policy_.spin_polls == 0;
    if (shares_cpus || lane.peer == self_ || params_.push == "never" ||
        lanes_with_ways_ == kLanesWithWaysMax)
      return Way::kFetch;
    ++lanes_with_ways_;
    lane.ways = std::make_unique<Ways>();
  }
  return lane.ways->Choose(bytes);
}

// Fetches the whole message out of the sender's memory; false: it cannot be done here.
bool Engine::Fetch(Request* request, Lane& lane, const Offer& offer) {
  if (lane.lost || lane.caps.get_bytes_max == 0) return false;
  const std::uint64_t began_ns = lane.ways != nullptr ? MonotonicNs() : 0;
  const transport::Region region{offer.address, offer.bytes, 0};
  transport::Completion ignored{[](transport::Completion*, Code) {}};
  const std::uint64_t wanted = static_cast<std::uint64_t>(request->bytes);
  constexpr std::uint64_t kPiece = 256 * 1024;  // of unpacking: stays in the second-level cache
  constexpr std::uint64_t kPage = 4096;
  const bool straight =
      request->buffer.contiguous() && !memory::SlowToMove(request->buffer.data(), offer.address);
  for (std::uint64_t moved = 0; moved < wanted;) {
    std::uint64_t piece = std::min(wanted - moved, lane.caps.get_bytes_max);
    std::span<std::byte> into;
    if (straight) {
      into = {request->buffer.data() + moved, piece};
    } else {
      piece = std::min(piece, kPiece);
      if (scratch_.size() < piece + kPage) scratch_.resize(piece + kPage);
      // As far into its page as what is read into it.
      const auto begin = reinterpret_cast<std::uintptr_t>(scratch_.data());
      into = {scratch_.data() + (offer.address + moved - begin) % kPage, piece};
    }
    const Code code = lane.endpoint->Get(region, moved, into, &ignored);
    if (code != Code::kOk) {
      lane.caps = lane.endpoint->caps();
      lane.caps.get_bytes_max = code == Code::kDenied ? 0 : lane.caps.get_bytes_max;
      return false;
    }
    if (!straight) datatype::Unpack(into, static_cast<std::int64_t>(moved), request->buffer);
    moved += piece;
  }
  trace::Count(trace::Counter::kZeroCopyReceived);
  trace::Count(trace::Counter::kZeroCopyReceivedBytes, wanted);
  if (lane.ways != nullptr) lane.ways->Fetched(wanted, began_ns, MonotonicNs());
  return true;
}

void Engine::ArrivedData(PeerId from, const transport::Header& header,
                         std::span<const std::byte> payload) {
  Request* request = tokens_.Find(TokenOf(header));
  const std::uint64_t offset = OffsetOf(header);
  if (request == nullptr || request->type != Request::Type::kReceive || request->from != from ||
      offset > static_cast<std::uint64_t>(request->bytes) ||
      payload.size() > static_cast<std::uint64_t>(request->bytes) - offset)
    return BadFrame(from, "data for no receive of ours");
  datatype::Unpack(payload, static_cast<std::int64_t>(offset), request->buffer);
  request->moved += static_cast<std::int64_t>(payload.size());
  if (request->moved == request->bytes) FinishReceive(request);
}

void Engine::FinishReceive(Request* request) {
  tokens_.Remove(request->remote_request);
  request->remote_request = 0;
  Lane& lane = LaneTo(request->from);
  if (lane.ways != nullptr)
    lane.ways->Pushed(static_cast<std::uint64_t>(request->bytes), MonotonicNs());
  core::Finish(request, request->error);
}

// Of a message that was matched meanwhile the sender will hear as of any other.
void Engine::ArrivedWithdraw(PeerId from, const transport::Header& header) {
  for (const auto& [context, space] : spaces_)
    for (Message* message : space->Unexpected()) {
      const bool waited_for =
          message->frame == FrameKind::kEagerSync || message->frame == FrameKind::kReadyToSend;
      if (message->from != from || !waited_for || message->token != TokenOf(header)) continue;
      space->RemoveUnexpected(message);
      FreeMessage(message);
      SendAnswer(LaneTo(from), {PackToken(FrameKind::kWithdrawn, TokenOf(header)), Grant{}, false});
      return;
    }
}

void Engine::ArrivedDone(const transport::Header& header, bool withdrawn) {
  Request* request = tokens_.Find(TokenOf(header));
  if (request == nullptr || request->type != Request::Type::kSend)
    return BadFrame(kNoPeer, "an end of no message of ours");
  tokens_.Remove(request->remote_request);
  request->remote_request = 0;
  request->cancelled = withdrawn;
  core::Finish(request, MPI_SUCCESS);
}

void Engine::BadFrame(PeerId from, const char* what) {
  Log(Level::kWarn, "p2p", "dropped %s from peer %d", what, static_cast<int>(Index(from)));
}

}  // namespace lamina::p2p
