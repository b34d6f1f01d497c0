// SPDX-License-Identifier: BSD-3-Clause
// How a message leaves.
//
//   short enough, contiguous         SendShort at once: one copy, no request
//   short enough, not contiguous     packed into scratch, then the same
//   synchronous                      the same with the request's token in front; done when matched
//   longer, the transport lends it   a parcel: the receiver accepts it
//   longer                           an Offer (kReadyToSend); the receiver fetches, or grants a
//   push
//
// What finds no room waits in the lane, in order; a message may never overtake another.
#include <algorithm>
#include <cstring>

#include "runtime/base/check.h"
#include "runtime/base/log.h"
#include "runtime/core/errors.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/p2p.h"

namespace lamina::p2p {

using datatype::Buffer;

int Send(const Envelope& to, const Buffer& data, Request::Mode mode) {
  Engine& engine = TheEngine();
  if (mode != Request::Mode::kSynchronous && engine.TrySendNow(to, data)) [[likely]]
    return MPI_SUCCESS;
  Request request;
  PrepareSend(&request, to, data, mode);
  engine.StartSend(&request);
  Wait(&request);
  return request.error;
}

void PrepareSend(Request* request, const Envelope& to, const Buffer& data, Request::Mode mode) {
  request->type = Request::Type::kSend;
  request->mode = mode;
  request->comm = request->comm != nullptr ? request->comm : to.comm;
  request->context = to.context;
  request->peer = to.peer;
  request->match_tag = to.tag;
  request->buffer = data;
}

void Engine::StartSend(Request* request) {
  request->complete = false;
  request->active = true;
  request->cancelled = false;
  request->moved = 0;
  request->remote_request = 0;
  request->next = nullptr;
  Lane& lane = LaneTo(request->comm->peers[request->peer]);
  if (lane.lost) return FailSend(lane, request);
  if (lane.waiting_head != nullptr) return QueueSend(lane, request);
  const Code code = TrySend(lane, request);
  if (code == Code::kAgain) return QueueSend(lane, request);
  if (code != Code::kOk) FailSend(lane, request);
}

namespace {

void CountEager(std::int64_t bytes) {
  trace::Count(trace::Counter::kEagerSent);
  trace::Count(trace::Counter::kEagerSentBytes, static_cast<std::uint64_t>(bytes));
}

}  // namespace

// kOk: it is on its way (and complete, unless it waits for an answer). kAgain: no room.
Code Engine::TrySend(Lane& lane, Request* request) {
  const std::int64_t bytes = request->buffer.bytes();
  const bool synchronous = request->mode == Request::Mode::kSynchronous;
  const std::int64_t eager_bytes_max =
      static_cast<std::int64_t>(lane.caps.eager_bytes_max) - (synchronous ? 8 : 0);
  if (bytes > eager_bytes_max) return SendLong(lane, request);
  if (synchronous) return SendPacked(lane, request, FrameKind::kEagerSync);
  if (!request->buffer.contiguous()) return SendPacked(lane, request, FrameKind::kEager);
  const transport::Frame frame{
      PackMatch(FrameKind::kEager, request->context, request->comm->rank, request->match_tag),
      {request->buffer.data(), static_cast<std::size_t>(bytes)}};
  const Code code = lane.endpoint->SendShort(frame);
  if (code == Code::kOk) {
    CountEager(bytes);
    core::Finish(request, MPI_SUCCESS);
  }
  return code;
}

// Eager through scratch: packed if it must be, with a token in front if the match is reported.
Code Engine::SendPacked(Lane& lane, Request* request, FrameKind kind) {
  const std::size_t prefix = kind == FrameKind::kEagerSync ? sizeof(std::uint64_t) : 0;
  const std::size_t bytes = static_cast<std::size_t>(request->buffer.bytes());
  if (scratch_.size() < prefix + bytes) scratch_.resize(prefix + bytes);
  if (prefix != 0) {
    if (request->remote_request == 0) request->remote_request = tokens_.Add(request);
    std::memcpy(scratch_.data(), &request->remote_request, prefix);
  }
  if (bytes > 0) datatype::Pack(request->buffer, 0, {scratch_.data() + prefix, bytes});
  const transport::Frame frame{
      PackMatch(kind, request->context, request->comm->rank, request->match_tag),
      {scratch_.data(), prefix + bytes}};
  const Code code = lane.endpoint->SendShort(frame);
  if (code == Code::kOk) CountEager(static_cast<std::int64_t>(bytes));
  if (code == Code::kOk && kind == FrameKind::kEager) core::Finish(request, MPI_SUCCESS);
  return code;
}

Code Engine::SendLong(Lane& lane, Request* request) {
  const auto bytes = static_cast<std::uint64_t>(request->buffer.bytes());
  const bool lent = bytes <= lane.caps.zero_copy_bytes_max && request->buffer.contiguous();
  const Code code = lent ? SendParcel(lane, request) : SendOffer(lane, request);
  if (code != Code::kOk) return code;
  trace::Count(trace::Counter::kRendezvousSent);
  trace::Count(trace::Counter::kRendezvousSentBytes, bytes);
  trace::MessageEvent(trace::EventType::kRendezvousStarted,
                      {request->peer, request->match_tag, static_cast<std::int64_t>(bytes),
                       static_cast<std::int64_t>(Index(request->context))});
  return code;
}

// The transport borrows the buffer until the receiver has fetched it.
Code Engine::SendParcel(Lane& lane, Request* request) {
  request->completion.owner = request;
  request->completion.done = [](transport::Completion* self, Code code) {
    core::Finish(static_cast<Request::OwnedCompletion*>(self)->owner,
                 code == Code::kOk ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED);
  };
  const std::span<const std::byte> payload(request->buffer.data(),
                                           static_cast<std::size_t>(request->buffer.bytes()));
  const transport::Frame frame{
      PackMatch(FrameKind::kParcel, request->context, request->comm->rank, request->match_tag),
      payload};
  const Code code = lane.endpoint->SendZeroCopy(frame, &request->completion);
  if (code != Code::kOk) return code;
  trace::Count(trace::Counter::kZeroCopySent);
  trace::Count(trace::Counter::kZeroCopySentBytes, payload.size());
  return code;
}

Code Engine::SendOffer(Lane& lane, Request* request) {
  // remote_request holds our own token until the peer's is known: both name this transfer.
  if (request->remote_request == 0) {
    request->remote_request = tokens_.Add(request);
  }
  const Offer offer{.bytes = static_cast<std::uint64_t>(request->buffer.bytes()),
                    .token = request->remote_request,
                    .address = request->buffer.contiguous()
                                   ? reinterpret_cast<std::uint64_t>(request->buffer.data())
                                   : 0};
  const transport::Frame frame{
      PackMatch(FrameKind::kReadyToSend, request->context, request->comm->rank, request->match_tag),
      {reinterpret_cast<const std::byte*>(&offer), sizeof offer}};
  return lane.endpoint->SendShort(frame);
}

void Engine::QueueSend(Lane& lane, Request* request) {
  request->next = nullptr;
  (lane.waiting_head != nullptr ? lane.waiting_tail->next : lane.waiting_head) = request;
  lane.waiting_tail = request;
  lane.fast_bytes_max = -1;
  if (!lane.listed) {
    lane.listed = true;
    waiting_lanes_.push_back(&lane);
  }
}

void Engine::FailSend(Lane& lane, Request* request) {
  Log(Level::kError, "p2p", "cannot send to peer %u: %s", Index(lane.peer),
      lane.lost_why.empty() ? "the connection is gone" : lane.lost_why.c_str());
  if (request->remote_request != 0) tokens_.Remove(request->remote_request);
  request->remote_request = 0;
  core::Finish(request, MPI_ERR_PROC_ABORTED);
}

bool Engine::CancelSend(Request* request) {
  Lane& lane = LaneTo(request->comm->peers[request->peer]);
  Request* before = nullptr;
  for (Request* waiting = lane.waiting_head; waiting != nullptr; waiting = waiting->next) {
    if (waiting == request) return WithdrawQueued(lane, before, request);
    before = waiting;
  }
  // The token is the peer's once it has been granted the data: too late.
  if (request->remote_request != 0 && tokens_.Find(request->remote_request) == request)
    SendAnswer(lane, {PackToken(FrameKind::kWithdraw, request->remote_request), Grant{}, false});
  return false;
}

// One that has not left. `before`: what waits in front of it, or null.
bool Engine::WithdrawQueued(Lane& lane, Request* before, Request* request) {
  (before != nullptr ? before->next : lane.waiting_head) = request->next;
  if (lane.waiting_tail == request) lane.waiting_tail = before;
  if (request->remote_request != 0) tokens_.Remove(request->remote_request);
  request->remote_request = 0;
  request->cancelled = true;
  core::Finish(request, MPI_SUCCESS);
  return true;
}

void Engine::SendAnswer(Lane& lane, const Lane::Answer& answer) {
  if (lane.lost) return;
  std::span<const std::byte> payload;
  if (answer.has_grant)
    payload = {reinterpret_cast<const std::byte*>(&answer.grant), sizeof answer.grant};
  if (lane.answers.empty() && lane.endpoint->SendShort({answer.header, payload}) != Code::kAgain)
    return;
  lane.answers.push_back(answer);
  if (!lane.listed) {
    lane.listed = true;
    waiting_lanes_.push_back(&lane);
  }
}

// Sends what waits while there is room. True if anything went.
bool Engine::FlushLane(Lane& lane) {
  bool moved = false;
  while (!lane.answers.empty()) {
    const Lane::Answer& answer = lane.answers.front();
    std::span<const std::byte> payload;
    if (answer.has_grant)
      payload = {reinterpret_cast<const std::byte*>(&answer.grant), sizeof answer.grant};
    if (!lane.lost && lane.endpoint->SendShort({answer.header, payload}) == Code::kAgain)
      return moved;
    lane.answers.pop_front();
    moved = true;
  }
  while (lane.waiting_head != nullptr) {
    Request* request = lane.waiting_head;
    Request* next = request->next;
    const Code code = lane.lost ? Code::kPeerLost : TrySend(lane, request);
    if (code == Code::kAgain) return moved;
    lane.waiting_head = next;
    if (code != Code::kOk) FailSend(lane, request);
    moved = true;
  }
  if (!lane.lost) lane.fast_bytes_max = lane.caps.eager_bytes_max;
  return moved;
}

bool Engine::FlushAll() {
  bool moved = false;
  for (std::size_t i = 0; i < waiting_lanes_.size();) {
    Lane& lane = *waiting_lanes_[i];
    moved = FlushLane(lane) || moved;
    if (lane.answers.empty() && lane.waiting_head == nullptr) {
      lane.listed = false;
      waiting_lanes_[i] = waiting_lanes_.back();
      waiting_lanes_.pop_back();
    } else {
      ++i;
    }
  }
  for (std::size_t i = 0; i < pushing_.size();) {
    Request* request = pushing_[i];
    const std::int64_t before = request->moved;
    if (Push(request)) {
      pushing_[i] = pushing_.back();
      pushing_.pop_back();
      moved = true;
    } else {
      moved = moved || request->moved != before;
      ++i;
    }
  }
  return moved;
}

// The receiver asks for the data of an offer.
void Engine::Granted(const transport::Header& header, std::span<const std::byte> payload) {
  Request* request = tokens_.Find(TokenOf(header));
  if (request == nullptr || request->type != Request::Type::kSend ||
      payload.size() != sizeof(Grant))
    return BadFrame(kNoPeer, "a grant for no message of ours");
  Grant grant;
  std::memcpy(&grant, payload.data(), sizeof grant);
  tokens_.Remove(request->remote_request);
  request->remote_request = grant.token;
  request->region.bytes =
      std::min<std::uint64_t>(grant.bytes, static_cast<std::uint64_t>(request->buffer.bytes()));
  if (!Push(request)) pushing_.push_back(request);
}

// Pushes pieces while there is room; true when the last one has gone (or never will).
bool Engine::Push(Request* request) {
  Lane& lane = LaneTo(request->comm->peers[request->peer]);
  const std::int64_t wanted = static_cast<std::int64_t>(request->region.bytes);
  if (lane.lost) {
    core::Finish(request, MPI_ERR_PROC_ABORTED);
    return true;
  }
  const std::int64_t piece_max = lane.caps.short_bytes_max;
  while (request->moved < wanted) {
    const std::size_t piece =
        static_cast<std::size_t>(std::min(piece_max, wanted - request->moved));
    std::span<const std::byte> payload;
    if (request->buffer.contiguous()) {
      payload = {request->buffer.data() + request->moved, piece};
    } else {
      if (scratch_.size() < piece) scratch_.resize(piece);
      datatype::Pack(request->buffer, request->moved, {scratch_.data(), piece});
      payload = {scratch_.data(), piece};
    }
    const transport::Frame frame{PackToken(FrameKind::kData, request->remote_request,
                                           static_cast<std::uint64_t>(request->moved)),
                                 payload};
    const Code code = lane.endpoint->SendShort(frame);
    if (code == Code::kAgain) return false;
    if (code != Code::kOk) {
      core::Finish(request, MPI_ERR_PROC_ABORTED);
      return true;
    }
    request->moved += static_cast<std::int64_t>(piece);
  }
  core::Finish(request, MPI_SUCCESS);
  return true;
}

}  // namespace lamina::p2p
