// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/delivery.h"

#include <cstring>

namespace lamina::p2p {

using core::Request;

void Delivery::Start(Request* request) {
  request->complete = false;
  request->active = true;
  request->cancelled = false;
  request->bytes = 0;
  request->from = kNoPeer;
  MatchSpace& space = spaces_.Of(request->context);
  if (space.unexpected() > 0) {
    Message* message = space.FindUnexpected(request->peer, request->match_tag);
    if (message != nullptr) {
      space.RemoveUnexpected(message);
      return Receive(request, message);
    }
  }
  if (lanes_.any_lost() && request->peer >= 0) [[unlikely]] {
    const Lane* lane = lanes_.Find(request->comm->peers[request->peer]);
    if (lane != nullptr && lane->lost) {
      request->source = request->peer;
      return core::Finish(request, MPI_ERR_PROC_ABORTED);
    }
  }
  space.Post(request);
}

void Delivery::Receive(Request* request, Message* message) {
  const Origin origin{message->from, message->source, message->tag};
  if (message->frame == FrameKind::kReadyToSend) {
    rendezvous_.Begin(request, origin, {message->bytes, message->token, message->address});
  } else if (message->frame == FrameKind::kParcel) {
    rendezvous_.Accept(request, origin, message->bytes, message->parcel);
  } else {
    if (message->frame == FrameKind::kEagerSync)
      lanes_.SendAnswer(lanes_.To(message->from), PackToken(FrameKind::kDone, message->token));
    Deliver(request, origin, {message->payload(), static_cast<std::size_t>(message->bytes)});
  }
  messages_.Give(message);
}

bool Delivery::Cancel(Request* request) {
  if (request->from != kNoPeer) return false;
  spaces_.Of(request->context).Withdraw(request);
  request->cancelled = true;
  request->source = MPI_ANY_SOURCE;
  request->tag = MPI_ANY_TAG;
  core::Finish(request, MPI_SUCCESS);
  return true;
}

bool Delivery::EagerSync(PeerId from, const transport::Header& header,
                         std::span<const std::byte> payload) {
  std::uint64_t token;
  if (payload.size() < sizeof token) return false;
  std::memcpy(&token, payload.data(), sizeof token);
  payload = payload.subspan(sizeof token);
  const Origin origin = OriginOf(from, header);
  Request* request = spaces_.Of(ContextOf(header)).TakePosted(origin.source, origin.tag);
  if (request != nullptr) {
    lanes_.SendAnswer(lanes_.To(from), PackToken(FrameKind::kDone, token));
    Deliver(request, origin, payload);
  } else {
    Keep(from, header, {payload.size(), token, 0}, nullptr, payload);
  }
  return true;
}

bool Delivery::Offered(PeerId from, const transport::Header& header,
                       std::span<const std::byte> payload) {
  Offer offer;
  if (payload.size() != sizeof offer) return false;
  std::memcpy(&offer, payload.data(), sizeof offer);
  const Origin origin = OriginOf(from, header);
  Request* request = spaces_.Of(ContextOf(header)).TakePosted(origin.source, origin.tag);
  if (request != nullptr)
    rendezvous_.Begin(request, origin, offer);
  else
    Keep(from, header, offer, nullptr, {});
  return true;
}

void Delivery::Lent(PeerId from, const transport::Header& header, std::size_t bytes,
                    transport::Parcel* parcel) {
  const std::uint64_t number = ++parcels_[Index(from)];
  const Origin origin = OriginOf(from, header);
  Request* request = spaces_.Of(ContextOf(header)).TakePosted(origin.source, origin.tag);
  if (request != nullptr)
    rendezvous_.Accept(request, origin, bytes, parcel);
  else
    Keep(from, header, {bytes, number, 0}, parcel, {});
}

// If the message has been matched in the meantime, its normal completion tells the sender; of a
// parcel the sender does not see whether it was received or dropped, so it is told.
void Delivery::Withdraw(PeerId from, const transport::Header& header) {
  const std::uint64_t number = OffsetOf(header);
  Message* const message =
      number != 0 ? spaces_.TakeAwaited(from, number, FrameKind::kParcel)
                  : spaces_.TakeAwaited(from, TokenOf(header), FrameKind::kReadyToSend);
  if (message == nullptr && number == 0) return;
  if (message != nullptr && number != 0) message->parcel->Drop();
  if (message != nullptr) messages_.Give(message);
  const FrameKind answer = message != nullptr ? FrameKind::kWithdrawn : FrameKind::kDone;
  lanes_.SendAnswer(lanes_.To(from), PackToken(answer, TokenOf(header)));
}

void Delivery::Keep(PeerId from, const transport::Header& header, const Offer& offer,
                    transport::Parcel* parcel, std::span<const std::byte> payload) {
  Message* message = messages_.Take(payload.size());
  message->source = SourceOf(header);
  message->tag = TagOf(header);
  message->from = from;
  message->frame = KindOf(header);
  message->bytes = offer.bytes;
  message->token = offer.token;
  message->address = offer.address;
  if (parcel != nullptr) message->parcel = parcel;
  if (!payload.empty()) memory::CopyLong(message->payload(), payload.data(), payload.size());
  spaces_.Of(ContextOf(header)).AddUnexpected(message);
  trace::Count(trace::Counter::kUnexpected);
  trace::MessageEvent(trace::EventType::kUnexpected,
                      {message->source, message->tag, static_cast<std::int64_t>(offer.bytes),
                       static_cast<std::int64_t>(Index(ContextOf(header)))});
}

}  // namespace lamina::p2p
