// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/dispatch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/datatype/datatype.h"
#include "runtime/p2p/counted_endpoint.h"
#include "runtime/trace/trace.h"

namespace lamina::p2p {

using core::Request;

void Dispatch::Start(Request* request) {
  request->complete = false;
  request->active = true;
  request->cancelled = request->lent = request->asked_back = false;
  request->loan = nullptr;
  request->moved = 0;
  request->remote_request = 0;
  request->next = nullptr;
  Lane& lane = lanes_.To(request->comm->peers[request->peer]);
  if (lane.lost) return FailSend(lane, request);
  if (lane.waiting_head != nullptr) return lanes_.Queue(lane, request);
  const Code code = TrySend(lane, request);
  if (code == Code::kAgain) return lanes_.Queue(lane, request);
  if (code != Code::kOk) FailSend(lane, request);
}

namespace {

void CountEager(std::int64_t bytes) {
  trace::Count(trace::Counter::kEagerSent);
  trace::Count(trace::Counter::kEagerSentBytes, static_cast<std::uint64_t>(bytes));
}

transport::Header HeaderOf(FrameKind kind, const Request& request) {
  return PackMatch(kind, request.context, request.comm->rank, request.match_tag);
}

}  // namespace

Code Dispatch::TrySend(Lane& lane, Request* request) {
  const std::int64_t bytes = request->buffer.bytes();
  const bool synchronous = request->mode == Request::Mode::kSynchronous;
  const std::int64_t eager_bytes_max =
      static_cast<std::int64_t>(lane.caps.eager_bytes_max) - (synchronous ? 8 : 0);
  if (bytes > eager_bytes_max) return SendLong(lane, request);
  if (synchronous) return SendPacked(lane, request, FrameKind::kEagerSync);
  if (!request->buffer.contiguous()) return SendPacked(lane, request, FrameKind::kEager);
  const transport::Frame frame{HeaderOf(FrameKind::kEager, *request),
                               {request->buffer.data(), static_cast<std::size_t>(bytes)}};
  const Code code = lane.endpoint->SendShort(frame);
  if (code == Code::kOk) {
    CountEager(bytes);
    core::Finish(request, MPI_SUCCESS);
  }
  return code;
}

// Sends an eager message through scratch. A synchronous one has its token in front.
Code Dispatch::SendPacked(Lane& lane, Request* request, FrameKind kind) {
  const std::size_t prefix = kind == FrameKind::kEagerSync ? sizeof(std::uint64_t) : 0;
  const std::size_t bytes = static_cast<std::size_t>(request->buffer.bytes());
  std::byte* const packed = scratch_.Take(prefix + bytes);
  if (prefix != 0) {
    request->remote_request = tokens_.Add(request);
    std::memcpy(packed, &request->remote_request, prefix);
  }
  if (bytes > 0) datatype::Pack(request->buffer, 0, {packed + prefix, bytes});
  const Code code = lane.endpoint->SendShort({HeaderOf(kind, *request), {packed, prefix + bytes}});
  if (code == Code::kAgain) ForgetToken(request);
  if (code == Code::kOk) CountEager(static_cast<std::int64_t>(bytes));
  if (code == Code::kOk && kind == FrameKind::kEager) core::Finish(request, MPI_SUCCESS);
  return code;
}

Code Dispatch::SendLong(Lane& lane, Request* request) {
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
Code Dispatch::SendParcel(Lane& lane, Request* request) {
  Loan* const loan = TakeLoan();
  loan->owner = request;
  loan->number = lane.parcels_lent + 1;
  request->loan = loan;
  request->lent = true;
  const std::span<const std::byte> payload(request->buffer.data(),
                                           static_cast<std::size_t>(request->buffer.bytes()));
  const Code code =
      lane.endpoint->SendZeroCopy({HeaderOf(FrameKind::kParcel, *request), payload}, loan);
  if (code != Code::kOk) {
    Detach(request);
    GiveLoan(loan);
    return code;
  }
  ++lane.parcels_lent;
  trace::Count(trace::Counter::kZeroCopySent);
  trace::Count(trace::Counter::kZeroCopySentBytes, payload.size());
  return code;
}

Loan* Dispatch::TakeLoan() {
  if (free_loans_ == nullptr) {
    loans_.push_back(std::make_unique<Loan>());
    loans_.back()->home = this;
    loans_.back()->done = [](transport::Completion* self, Code code) {
      auto* const loan = static_cast<Loan*>(self);
      loan->home->Returned(loan, code);
    };
    return loans_.back().get();
  }
  return std::exchange(free_loans_, free_loans_->next);
}

void Dispatch::GiveLoan(Loan* loan) { loan->next = std::exchange(free_loans_, loan); }

void Dispatch::Detach(Request* request) {
  if (request->loan != nullptr) request->loan->owner = nullptr;
  request->loan = nullptr;
}

// A message that was asked back may have been received, or dropped: the receiver's answer tells.
void Dispatch::Returned(Loan* loan, Code code) {
  if (at_rest_) [[unlikely]]
    return returned_.push_back({loan, code});
  Request* const request = std::exchange(loan->owner, nullptr);
  GiveLoan(loan);
  if (request == nullptr) return;
  request->loan = nullptr;
  if (request->asked_back && code == Code::kOk && request->remote_request != 0) return;
  ForgetToken(request);
  core::Finish(request, code == Code::kOk ? MPI_SUCCESS : MPI_ERR_PROC_ABORTED);
}

void Dispatch::TransportsHaveEnded() {
  returned_.clear();
  free_loans_ = nullptr;
  for (const std::unique_ptr<Loan>& loan : loans_) {
    if (Request* const request = loan->owner; request != nullptr) {
      unsettled_.push_back({request, loan->number});
      Detach(request);
    }
    GiveLoan(loan.get());
  }
}

// From now on such a message is one that was offered.
void Dispatch::EndRest() {
  at_rest_ = false;
  for (const Return& back : std::exchange(returned_, {})) Returned(back.loan, back.code);
  for (const auto& [request, number] : std::exchange(unsettled_, {})) {
    request->lent = false;
    if (request->remote_request == 0) request->remote_request = tokens_.Add(request);
    Lane& lane = lanes_.To(request->comm->peers[request->peer]);
    if (lane.lost) {
      FailSend(lane, request);
      continue;
    }
    const Grant data{reinterpret_cast<std::uint64_t>(request->buffer.data()),
                     static_cast<std::uint64_t>(request->buffer.bytes())};
    lanes_.SendAnswer(lane, PackToken(FrameKind::kReoffer, request->remote_request, number), &data);
  }
}

// `remote_request` holds our own token until the receiver tells us its own. Both name this
// transfer. A send that found no room has no token: no frame can name it before it has left.
Code Dispatch::SendOffer(Lane& lane, Request* request) {
  request->remote_request = tokens_.Add(request);
  const Offer offer{.bytes = static_cast<std::uint64_t>(request->buffer.bytes()),
                    .token = request->remote_request,
                    .address = request->buffer.contiguous()
                                   ? reinterpret_cast<std::uint64_t>(request->buffer.data())
                                   : 0};
  const Code code =
      lane.endpoint->SendShort({HeaderOf(FrameKind::kReadyToSend, *request),
                                {reinterpret_cast<const std::byte*>(&offer), sizeof offer}});
  if (code == Code::kAgain) ForgetToken(request);
  return code;
}

void Dispatch::ForgetToken(Request* request) {
  if (request->remote_request != 0) tokens_.Remove(request->remote_request);
  request->remote_request = 0;
}

// The launcher says that a process has ended, and how.
void Dispatch::FailSend(Lane& lane, Request* request) {
  if (!lane.ended)
    Log(Level::kError, "p2p", "cannot send to peer %u: %s", Index(lane.peer),
        lane.lost_why.empty() ? "the connection is gone" : lane.lost_why.c_str());
  ForgetToken(request);
  core::Finish(request, MPI_ERR_PROC_ABORTED);
}

bool Dispatch::Cancel(Request* request) {
  Lane& lane = lanes_.To(request->comm->peers[request->peer]);
  if (lanes_.Withdraw(lane, request)) {
    EndAskedBack(request, true);
    return true;
  }
  const bool is_lent = request->loan != nullptr;
  if (is_lent && request->remote_request == 0) request->remote_request = tokens_.Add(request);
  // Once the receiver has granted the data, the token is the receiver's, and it is too late.
  if (request->remote_request == 0 || tokens_.Find(request->remote_request) != request)
    return false;
  if (std::exchange(request->asked_back, true)) return false;
  if (lane.goodbye_received) {
    EndAskedBack(request, true);
    return true;
  }
  lanes_.SendAnswer(lane, PackToken(FrameKind::kWithdraw, request->remote_request,
                                    is_lent ? request->loan->number : 0));
  return false;
}

// No program cancels what collectives send: such a message is given up after a loss.
void Dispatch::EndAskedBack(Request* request, bool withdrawn) {
  ForgetToken(request);
  Detach(request);
  request->cancelled = withdrawn;
  core::Finish(request, withdrawn && IsOwn(request->context) ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS);
}

// A parcel that has come back although the peer did not say that it had dropped it was received.
// Anything else that it had matched it would have said.
void Dispatch::PeerHasLeft(PeerId peer) {
  for (Request* request : tokens_.All())
    if (request->type == Request::Type::kSend && request->asked_back &&
        request->comm->peers[request->peer] == peer)
      EndAskedBack(request, !request->lent || request->loan != nullptr);
}

// While data is pushed, the token is the receiver's.
void Dispatch::Abandon(Request* request) {
  if (std::erase(pushing_, request) == 0) ForgetToken(request);
  Detach(request);
}

// The send that the frame names, if it waits for an answer of this peer.
Request* Dispatch::Awaiting(PeerId from, const transport::Header& header) {
  Request* const request = tokens_.Find(TokenOf(header));
  const bool answered = request != nullptr && request->type == Request::Type::kSend &&
                        request->comm->peers[request->peer] == from;
  return answered ? request : nullptr;
}

bool Dispatch::Granted(PeerId from, const transport::Header& header,
                       std::span<const std::byte> payload) {
  Request* const request = Awaiting(from, header);
  if (request == nullptr || payload.size() != sizeof(Grant)) return false;
  Grant grant;
  std::memcpy(&grant, payload.data(), sizeof grant);
  tokens_.Remove(request->remote_request);
  request->remote_request = grant.token;
  request->wanted = static_cast<std::int64_t>(
      std::min<std::uint64_t>(grant.bytes, static_cast<std::uint64_t>(request->buffer.bytes())));
  if (!Push(request)) pushing_.push_back(request);
  return true;
}

bool Dispatch::Ended(PeerId from, const transport::Header& header, bool withdrawn) {
  Request* const request = Awaiting(from, header);
  if (request == nullptr) return false;
  if (!withdrawn && request->loan != nullptr) {
    ForgetToken(request);  // it is being received, and ends as any other
    return true;
  }
  EndAskedBack(request, withdrawn);
  return true;
}

bool Dispatch::PushAll() {
  bool moved = false;
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

// Pushes pieces while there is room. True: the last one has gone, or none will ever go.
bool Dispatch::Push(Request* request) {
  Lane& lane = lanes_.To(request->comm->peers[request->peer]);
  if (lane.lost) {
    core::Finish(request, MPI_ERR_PROC_ABORTED);
    return true;
  }
  const std::int64_t piece_max = lane.caps.short_bytes_max;
  while (request->moved < request->wanted) {
    const auto piece =
        static_cast<std::size_t>(std::min(piece_max, request->wanted - request->moved));
    std::span<const std::byte> payload;
    if (request->buffer.contiguous()) {
      payload = {request->buffer.data() + request->moved, piece};
    } else {
      std::byte* const packed = scratch_.Take(piece);
      datatype::Pack(request->buffer, request->moved, {packed, piece});
      payload = {packed, piece};
    }
    const transport::Header header = PackToken(FrameKind::kData, request->remote_request,
                                               static_cast<std::uint64_t>(request->moved));
    const Code code = lane.endpoint->SendShort({header, payload});
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
