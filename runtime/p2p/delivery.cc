// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/delivery.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "runtime/p2p/flows.h"

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
  if (lanes_.any_lost() && lanes_.AreLost(*request->comm, request->peer)) [[unlikely]] {
    request->source = request->peer;
    return core::Finish(request, MPI_ERR_PROC_ABORTED);
  }
  space.Post(request);
}

void Delivery::Receive(Request* request, Message* message) {
  if (flows != nullptr) [[unlikely]]
    flows->Meets(request->context, message->serial);
  if (message->frame != FrameKind::kEager) [[unlikely]]
    return ReceiveOther(request, message);
  Deliver(request, {message->from, message->source, message->tag},
          {message->payload(), static_cast<std::size_t>(message->bytes)});
  messages_.Give(message);
}

// The same for a message of which the sender wants to hear, or that lies with it.
void Delivery::ReceiveOther(Request* request, Message* message) {
  const Origin origin{message->from, message->source, message->tag};
  if (message->frame == FrameKind::kReadyToSend) {
    rendezvous_.Begin(request, origin, {message->bytes, message->token, message->address});
  } else if (message->frame == FrameKind::kParcel) {
    messages_.ForgetLent(message);
    if (message->parcel != nullptr) {
      rendezvous_.Accept(request, origin, message->bytes, message->parcel);
    } else {
      request->from = message->from;
      promised_.push_back({request, origin, message->token});
    }
  } else {
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
  Message* message = number != 0 ? spaces_.TakeAwaited(from, number, FrameKind::kParcel) : nullptr;
  if (message != nullptr) {
    messages_.ForgetLent(message);
    if (message->parcel != nullptr) message->parcel->Drop();
  } else {
    message = spaces_.TakeAwaited(from, TokenOf(header), FrameKind::kReadyToSend);
  }
  if (message == nullptr && number == 0) return;
  if (message != nullptr) messages_.Give(message);
  const FrameKind answer = message != nullptr ? FrameKind::kWithdrawn : FrameKind::kDone;
  lanes_.SendAnswer(lanes_.To(from), PackToken(answer, TokenOf(header)));
}

// Whatever of this peer's parcels is not here has been received.
bool Delivery::Reoffered(PeerId from, const transport::Header& header,
                         std::span<const std::byte> payload) {
  Grant data;
  if (payload.size() != sizeof data) return false;
  std::memcpy(&data, payload.data(), sizeof data);
  const std::uint64_t number = OffsetOf(header), token = TokenOf(header);
  for (Message* message : messages_.lent()) {
    if (message->from != from || message->token != number || message->parcel != nullptr) continue;
    messages_.ForgetLent(message);
    message->frame = FrameKind::kReadyToSend;
    message->token = token;
    message->address = data.token;
    return true;
  }
  for (std::size_t at = 0; at < promised_.size(); ++at) {
    const Promise promise = promised_[at];
    if (promise.origin.from != from || promise.number != number) continue;
    promised_.erase(promised_.begin() + static_cast<std::ptrdiff_t>(at));
    rendezvous_.Begin(promise.request, promise.origin, {data.bytes, token, data.token});
    return true;
  }
  lanes_.SendAnswer(lanes_.To(from), PackToken(FrameKind::kDone, token));
  return true;
}

void Delivery::DropParcels() {
  for (Message* message : messages_.lent())
    if (message->parcel != nullptr) std::exchange(message->parcel, nullptr)->Drop();
}

std::vector<Request*> Delivery::TakePromised(PeerId from) {
  std::vector<Request*> requests;
  std::erase_if(promised_, [&](const Promise& promise) {
    if (promise.origin.from == from) requests.push_back(promise.request);
    return promise.origin.from == from;
  });
  return requests;
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
  if (parcel != nullptr) {
    message->parcel = parcel;
    messages_.lent().push_back(message);
  }
  if (!payload.empty()) memory::CopyLong(message->payload(), payload.data(), payload.size());
  spaces_.Of(ContextOf(header)).AddUnexpected(message);
  trace::Count(trace::Counter::kUnexpected);
  trace::MessageEvent(trace::EventType::kUnexpected,
                      {message->source, message->tag, static_cast<std::int64_t>(offer.bytes),
                       static_cast<std::int64_t>(Index(ContextOf(header)))});
}

}  // namespace lamina::p2p
