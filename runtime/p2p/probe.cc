// SPDX-License-Identifier: BSD-3-Clause
// How a program looks for a message before it receives it.
#include "runtime/p2p/awaited.h"
#include "runtime/p2p/counted_endpoint.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/p2p.h"

namespace lamina::p2p {
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
  MatchSpace& space = TheEngine().delivery().spaces().Of(probing.from.context);
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
  const Awaited awaited{Awaited::Kind::kProbe, from.comm, from.peer, from.tag, 0};
  const Awaiting awaiting(awaited);
  const auto is_over = [](void* argument) {
    return Look(argument) || IsGone(static_cast<Probing*>(argument)->from);
  };
  WaitUntil(is_over, &probing);
  return probing.message;
}

bool IsGone(const Envelope& from) {
  const Lanes& lanes = TheEngine().lanes();
  if (!lanes.any_lost()) return false;
  return lanes.AreLost(*from.comm, from.peer) || (IsOwn(from.context) && IsBroken(*from.comm));
}

bool IsBroken(const Comm& comm) { return TheEngine().IsBroken(comm); }

bool IsThere(const Envelope& from) {
  return TheEngine().delivery().spaces().Of(from.context).FindUnexpected(from.peer, from.tag) !=
         nullptr;
}

void StartMatchedReceive(Request* request, Message* message, const Buffer& into) {
  Comm* comm = message->comm;
  PrepareReceive(request, {comm, comm->context, message->source, message->tag}, into);
  request->active = true;
  message->comm = nullptr;
  TheEngine().delivery().Receive(request, message);
  static_cast<void>(core::Release(comm));
}

Message* FindMessage(MPI_Message handle) { return core::FromHandle<Message>(handle); }
MPI_Message HandleOf(Message* message) { return core::ToHandle<MPI_Message>(message); }
Comm* CommOf(const Message& message) { return message.comm; }

}  // namespace lamina::p2p
