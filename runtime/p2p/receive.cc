// SPDX-License-Identifier: BSD-3-Clause
// How a receive is posted, and how it meets a message that was there before it.
#include "runtime/base/check.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/p2p.h"

namespace lamina::p2p {

int Receive(const Envelope& from, const Buffer& into, MPI_Status* status) {
  Engine& engine = TheEngine();
  Request* request = core::NewRequest(from.comm);
  PrepareReceive(request, from, into);
  engine.StartReceive(request);
  engine.WaitForNext(request);
  core::FillStatus(*request, status);
  const int error = request->error;
  core::FreeRequest(request);
  return error;
}

void PrepareReceive(Request* request, const Envelope& from, const Buffer& into) {
  request->type = Request::Type::kReceive;
  request->comm = request->comm != nullptr ? request->comm : from.comm;
  request->context = from.context;
  request->peer = from.peer;
  request->match_tag = from.tag;
  request->buffer = into;
}

void Engine::StartReceive(Request* request) {
  request->complete = false;
  request->active = true;
  request->cancelled = false;
  request->moved = 0;
  request->bytes = 0;
  request->from = kNoPeer;
  MatchSpace& space = SpaceOf(request->context);
  if (space.unexpected() > 0) {
    Message* message = space.FindUnexpected(request->peer, request->match_tag);
    if (message != nullptr) {
      space.RemoveUnexpected(message);
      return ReceiveMatched(request, message);
    }
  }
  if (request->peer >= 0) {
    const Lane* lane = lanes_[Index(request->comm->peers[request->peer])];
    if (lane != nullptr && lane->lost) {
      request->source = request->peer;
      return core::Finish(request, MPI_ERR_PROC_ABORTED);
    }
  }
  space.Post(request);
}

void Engine::ReceiveMatched(Request* request, Message* message) {
  if (message->frame == FrameKind::kReadyToSend) {
    const Offer offer{message->bytes, message->token, message->address};
    BeginRendezvous(request, message->from, message->source, message->tag, offer);
  } else if (message->frame == FrameKind::kParcel) {
    AcceptParcel(request, message->from, message->source, message->tag, message->bytes,
                 message->parcel);
  } else {
    if (message->frame == FrameKind::kEagerSync)
      SendAnswer(LaneTo(message->from),
                 {PackToken(FrameKind::kDone, message->token), Grant{}, false});
    DeliverEager(request, message->from, message->source, message->tag,
                 {message->payload(), static_cast<std::size_t>(message->bytes)});
  }
  FreeMessage(message);
}

bool Cancel(Request* request) {
  if (request->complete) return false;
  if (request->type == Request::Type::kSend) {
    const bool cancelled = TheEngine().CancelSend(request);
    if (cancelled) Disturb();
    return cancelled;
  }
  if (request->type != Request::Type::kReceive || request->from != kNoPeer) return false;
  TheEngine().SpaceOf(request->context).Withdraw(request);
  request->cancelled = true;
  request->source = MPI_ANY_SOURCE;
  request->tag = MPI_ANY_TAG;
  core::Finish(request, MPI_SUCCESS);
  Disturb();
  return true;
}

namespace {

// A probe under way.
struct Probing {
  Envelope from;
  MPI_Status* status;
  bool take;
  Message* message = nullptr;
};

// Looks for the message and, if it is there, does to it what the probe wants.
bool Look(void* argument) {
  Probing& probing = *static_cast<Probing*>(argument);
  MatchSpace& space = TheEngine().SpaceOf(probing.from.context);
  Message* message = space.FindUnexpected(probing.from.peer, probing.from.tag);
  if (message == nullptr) return false;
  probing.message = message;
  if (probing.status != MPI_STATUS_IGNORE) {
    probing.status->MPI_SOURCE = message->source;
    probing.status->MPI_TAG = message->tag;
    core::SetStatusBytes(probing.status, static_cast<std::int64_t>(message->bytes));
    core::SetStatusCancelled(probing.status, false);
  }
  if (!probing.take) return true;
  space.RemoveUnexpected(message);
  message->comm = probing.from.comm;
  core::Retain(probing.from.comm);
  return true;
}

}  // namespace

Message* Probe(const Envelope& from, bool take, MPI_Status* status) {
  Probing probing{from, status, take};
  if (Look(&probing)) return probing.message;
  TheEngine().Progress();
  return Look(&probing) ? probing.message : nullptr;
}

Message* WaitProbe(const Envelope& from, bool take, MPI_Status* status) {
  Probing probing{from, status, take};
  WaitUntil(Look, &probing);
  return probing.message;
}

void StartMatchedReceive(Request* request, Message* message, const Buffer& into) {
  Comm* comm = message->comm;
  PrepareReceive(request, {comm, comm->context, message->source, message->tag}, into);
  request->active = true;
  message->comm = nullptr;
  TheEngine().ReceiveMatched(request, message);
  static_cast<void>(core::Release(comm));
}

Message* FindMessage(MPI_Message handle) { return core::FromHandle<Message>(handle); }
MPI_Message HandleOf(Message* message) { return core::ToHandle<MPI_Message>(message); }
Comm* CommOf(const Message& message) { return message.comm; }

}  // namespace lamina::p2p
