// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/p2p.h"

#include "runtime/core/process.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/short_send.h"

namespace lamina::p2p {

Lanes& TheLanes() { return TheEngine().lanes(); }

int Send(const Envelope& to, const Buffer& data, Request::Mode mode) {
  if (mode != Request::Mode::kSynchronous && TrySendNow(to, data)) [[likely]]
    return MPI_SUCCESS;
  Request request;
  PrepareSend(&request, to, data, mode);
  TheEngine().dispatch().Start(&request);
  Wait(&request);
  return request.error;
}

int Receive(const Envelope& from, const Buffer& into, MPI_Status* status) {
  Engine& engine = TheEngine();
  Request* request = core::NewRequest(from.comm);
  PrepareReceive(request, from, into);
  engine.delivery().Start(request);
  engine.WaitForNext(request);
  core::FillStatus(*request, status);
  const int error = request->error;
  core::FreeRequest(request);
  return error;
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

void PrepareReceive(Request* request, const Envelope& from, const Buffer& into) {
  request->type = Request::Type::kReceive;
  request->comm = request->comm != nullptr ? request->comm : from.comm;
  request->context = from.context;
  request->peer = from.peer;
  request->match_tag = from.tag;
  request->buffer = into;
}

void Start(Request* request) {
  if (request->type == Request::Type::kReceive)
    TheEngine().delivery().Start(request);
  else
    TheEngine().dispatch().Start(request);
}

bool Cancel(Request* request) {
  if (request->complete) return false;
  bool cancelled = false;
  if (request->type == Request::Type::kSend)
    cancelled = TheEngine().dispatch().Cancel(request);
  else if (request->type == Request::Type::kReceive)
    cancelled = TheEngine().delivery().Cancel(request);
  if (cancelled) Disturb();
  return cancelled;
}

bool Progress() { return TheEngine().Progress(); }

constinit AwaitedBy awaited_by = nullptr;

void WaitUntil(bool (*done)(void*), void* argument) { TheEngine().WaitUntil(done, argument); }

void Wait(Request* request) { TheEngine().WaitFor(request); }

void Disturb() { TheEngine().watch().Disturb(); }
void TestedInVain() { TheEngine().watch().TestedInVain(); }
[[gnu::cold]] transport::OneSided* OneSidedTo(PeerId peer) {
  const Lane& lane = TheEngine().lanes().To(peer);
  return lane.endpoint == nullptr || lane.lost ? nullptr : lane.endpoint->one_sided();
}

void Nudge(PeerId peer) { TheEngine().lanes().Nudge(peer); }
const waiting::WaitPolicy& Policy() { return TheEngine().policy(); }

void DropContext(ContextId context) {
  if (core::process == nullptr || core::process->engine == nullptr) return;
  for (std::uint64_t plane = 0; plane < kPlanes; ++plane)
    TheEngine().delivery().spaces().Drop(ContextId{Index(context) + plane});
}

Queued QueuedIn(ContextId context) {
  const MatchSpace* space = TheEngine().delivery().spaces().Find(context);
  return space != nullptr ? Queued{space->posted(), space->unexpected()} : Queued{0, 0};
}

}  // namespace lamina::p2p
