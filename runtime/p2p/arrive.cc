// SPDX-License-Identifier: BSD-3-Clause
// What becomes of a frame that arrives. Frames come from other processes, so nothing in them is
// believed: a token must be one of ours, a length must fit, a kind must exist.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/base/log.h"
#include "runtime/p2p/engine.h"

namespace lamina::p2p {

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
      return ArrivedDone(header);
    case FrameKind::kGoodbye:
      LaneTo(from).goodbye_received = true;
      return;
    case FrameKind::kNudge:
      return;
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
  Message* message = NewMessage(payload.size());
  message->source = source;
  message->tag = tag;
  message->from = from;
  message->frame = kind;
  message->bytes = offer.bytes;
  message->token = offer.token;
  message->address = offer.address;
  if (!payload.empty()) std::memcpy(message->payload(), payload.data(), payload.size());
  space.AddUnexpected(message);
  trace::Count(trace::Counter::kUnexpected);
  trace::MessageEvent(trace::EventType::kUnexpected,
                      {source, tag, static_cast<std::int64_t>(offer.bytes),
                       static_cast<std::int64_t>(Index(ContextOf(header)))});
}

void Engine::BeginRendezvous(Request* request, PeerId from, Rank source, int tag,
                             const Offer& offer) {
  const std::int64_t room = request->buffer.bytes();
  const std::uint64_t wanted =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(room), offer.bytes);
  request->from = from;
  request->source = source;
  request->tag = tag;
  request->bytes = static_cast<std::int64_t>(wanted);
  request->error = offer.bytes > static_cast<std::uint64_t>(room) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  request->moved = 0;
  trace::Count(trace::Counter::kRendezvousReceived);
  trace::Count(trace::Counter::kRendezvousReceivedBytes, wanted);
  Lane& lane = LaneTo(from);
  if (wanted == 0 || (offer.address != 0 && Fetch(request, lane, offer))) {
    SendAnswer(lane, {PackToken(FrameKind::kDone, offer.token), Grant{}, false});
    return core::Finish(request, request->error);
  }
  request->remote_request = tokens_.Add(request);
  SendAnswer(lane, {PackToken(FrameKind::kClearToSend, offer.token),
                    Grant{request->remote_request, wanted}, true});
}

// Fetches the whole message out of the sender's memory; false: it cannot be done here.
bool Engine::Fetch(Request* request, Lane& lane, const Offer& offer) {
  if (lane.lost || lane.caps.get_bytes_max == 0) return false;
  const transport::Region region{offer.address, offer.bytes, 0};
  transport::Completion ignored{[](transport::Completion*, Code) {}};
  const std::uint64_t wanted = static_cast<std::uint64_t>(request->bytes);
  constexpr std::uint64_t kPiece = 256 * 1024;  // of unpacking: stays in the second-level cache
  for (std::uint64_t moved = 0; moved < wanted;) {
    std::uint64_t piece = std::min(wanted - moved, lane.caps.get_bytes_max);
    std::span<std::byte> into;
    if (request->buffer.contiguous()) {
      into = {request->buffer.data() + moved, piece};
    } else {
      piece = std::min(piece, kPiece);
      if (scratch_.size() < piece) scratch_.resize(piece);
      into = {scratch_.data(), piece};
    }
    const Code code = lane.endpoint->Get(region, moved, into, &ignored);
    if (code != Code::kOk) {
      lane.caps = lane.endpoint->caps();
      lane.caps.get_bytes_max = code == Code::kDenied ? 0 : lane.caps.get_bytes_max;
      return false;
    }
    if (!request->buffer.contiguous())
      datatype::Unpack(into, static_cast<std::int64_t>(moved), request->buffer);
    moved += piece;
  }
  trace::Count(trace::Counter::kZeroCopyReceived);
  trace::Count(trace::Counter::kZeroCopyReceivedBytes, wanted);
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
  core::Finish(request, request->error);
}

std::span<std::byte> Engine::Place(PeerId from, const transport::Header& header,
                                   std::size_t bytes) {
  Request* request = KindOf(header) == FrameKind::kData ? tokens_.Find(TokenOf(header)) : nullptr;
  const std::uint64_t offset = OffsetOf(header);
  if (request == nullptr || request->type != Request::Type::kReceive || request->from != from ||
      offset > static_cast<std::uint64_t>(request->bytes) ||
      bytes > static_cast<std::uint64_t>(request->bytes) - offset) {
    BadFrame(from, "data for no receive of ours");
    return {};
  }
  if (request->buffer.contiguous()) return {request->buffer.data() + offset, bytes};
  // One piece at a time is under way per transfer, so one staging buffer per request is enough.
  request->staging = static_cast<std::byte*>(std::realloc(request->staging, bytes));
  return {request->staging, request->staging != nullptr ? bytes : 0};
}

void Engine::Placed(PeerId from, const transport::Header& header, std::size_t bytes, Code code) {
  Request* request = tokens_.Find(TokenOf(header));
  if (request == nullptr || request->from != from) return;  // it failed meanwhile
  if (code != Code::kOk) {
    request->error = MPI_ERR_PROC_ABORTED;
    request->moved = request->bytes;
  } else {
    if (!request->buffer.contiguous())
      datatype::Unpack({request->staging, bytes}, static_cast<std::int64_t>(OffsetOf(header)),
                       request->buffer);
    request->moved += static_cast<std::int64_t>(bytes);
  }
  if (request->moved < request->bytes) return;
  std::free(request->staging);
  request->staging = nullptr;
  FinishReceive(request);
}

void Engine::ArrivedDone(const transport::Header& header) {
  Request* request = tokens_.Find(TokenOf(header));
  if (request == nullptr || request->type != Request::Type::kSend)
    return BadFrame(kNoPeer, "an end of no message of ours");
  tokens_.Remove(request->remote_request);
  request->remote_request = 0;
  core::Finish(request, MPI_SUCCESS);
}

void Engine::BadFrame(PeerId from, const char* what) {
  Log(Level::kWarn, "p2p", "dropped %s from peer %d", what, static_cast<int>(Index(from)));
}

}  // namespace lamina::p2p
