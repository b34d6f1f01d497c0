// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exec/execution.h"

#include <new>

#include "collectives/exec/alone.h"
#include "collectives/select/table.h"
#include "runtime/base/check.h"
#include "runtime/p2p/p2p.h"

namespace lamina::collective {
namespace {

using core::Request;
using datatype::Datatype;

// All that are under way, oldest first. Guarded by the library lock.
constinit Execution* first = nullptr;
constinit Execution* last = nullptr;

void Link(Execution* execution) {
  execution->previous = last;
  (last != nullptr ? last->next : first) = execution;
  last = execution;
}

void Unlink(Execution* execution) {
  (execution->previous != nullptr ? execution->previous->next : first) = execution->next;
  (execution->next != nullptr ? execution->next->previous : last) = execution->previous;
}

void Hold(const Datatype* type) {
  if (type != nullptr) datatype::Retain(const_cast<Datatype*>(type));
}
void Drop(const Datatype* type) {
  if (type != nullptr) datatype::Release(const_cast<Datatype*>(type));
}

// Calls `visit` for every datatype of the call.
template <class Visit>
void EachType(const Execution& execution, Visit visit) {
  visit(execution.held.input_type);
  visit(execution.held.output_type);
  for (const Datatype* type : execution.input_types) visit(type);
  for (const Datatype* type : execution.output_types) visit(type);
}

Invocation WithTypes(const Invocation& invocation, std::span<const Datatype* const> input_types,
                     std::span<const Datatype* const> output_types) {
  Invocation held = invocation;
  held.input_types = input_types;
  held.output_types = output_types;
  held.input_counts = held.input_displacements = {};
  held.output_counts = held.output_displacements = {};
  return held;
}

void Complete(Execution* execution) {
  Request* owner = execution->owner;
  const int error = execution->error;
  execution->packed.End();
  owner->execution = nullptr;
  delete execution;
  core::Finish(owner, error);
}

}  // namespace

Execution::Execution(const Invocation& invocation, PackedBcast packed_bcast, Plan* plan_to_run,
                     Request* request, int message_tag)
    : owner(request),
      plan(plan_to_run),
      tag(message_tag),
      input_types(invocation.input_types.begin(), invocation.input_types.end()),
      output_types(invocation.output_types.begin(), invocation.output_types.end()),
      held(WithTypes(invocation, input_types, output_types)),
      packed(std::move(packed_bcast)),
      binding(held),
      transfers(plan_to_run->transfers_max) {
  EachType(*this, Hold);
  if (held.op != nullptr) datatype::Retain(const_cast<datatype::Op*>(held.op));
}

Execution::~Execution() {
  EachType(*this, Drop);
  if (held.op != nullptr) datatype::Release(const_cast<datatype::Op*>(held.op));
  Release(plan);
}

bool Execution::Prepare() {
  const std::size_t bytes = binding.ScratchBytes(*plan);
  if (bytes == 0) return true;
  scratch.reset(new (std::nothrow) std::byte[bytes]);
  if (scratch == nullptr) return false;
  binding.SetScratch(*plan, scratch.get());
  return true;
}

void Execution::Post() {
  const Plan::Round& now = plan->rounds[round];
  core::Comm* comm = held.comm;
  under_way = now.locals - now.receives;
  next_pending = 0;
  for (std::uint32_t i = 0; i < under_way; ++i) {
    const Step& step = plan->steps[now.receives + i];
    const p2p::Envelope envelope{comm, comm->CollectiveContext(), step.peer, tag};
    if (step.verb == Verb::kReceive)
      p2p::PrepareReceive(&transfers[i], envelope, binding.At(step.to));
    else
      p2p::PrepareSend(&transfers[i], envelope, binding.At(step.from), Request::Mode::kStandard);
    p2p::Start(&transfers[i]);
  }
}

bool Execution::Arrived() {
  while (next_pending < under_way && transfers[next_pending].complete) {
    const int result = transfers[next_pending++].error;
    if (result != MPI_SUCCESS && error == MPI_SUCCESS) error = result;
  }
  return next_pending == under_way;
}

bool Execution::Advance(bool* moved) {
  while (round < plan->rounds.size()) {
    if (!Arrived()) return false;
    const Plan::Round& now = plan->rounds[round];
    for (std::uint32_t i = now.locals; i < now.end; ++i) binding.Perform(plan->steps[i]);
    *moved = true;
    if (++round < plan->rounds.size()) Post();
  }
  return true;
}

int Start(const Invocation& invocation, Request** request) {
  core::Comm* comm = invocation.comm;
  Invocation it = invocation;
  PackedBcast packed;
  Plan* plan = nullptr;
  if (comm->size == 1) {
    RunAlone(invocation);
  } else {
    if (comm->collectives == nullptr) Attach(comm);
    if (!packed.Begin(&it)) return MPI_ERR_NO_MEM;
    CountStore store;
    const Call call = MakeCall(it, &store);
    if (!Empty(call)) {
      plan = comm->collectives->Find(call);
      if (plan == nullptr) return MPI_ERR_UNSUPPORTED_OPERATION;
    }
  }

  Request* made = core::NewRequest(comm);
  made->type = Request::Type::kCollective;
  made->active = true;
  if (plan == nullptr) {
    core::Finish(made, MPI_SUCCESS);
    *request = made;
    return MPI_SUCCESS;
  }
  auto execution = std::make_unique<Execution>(it, std::move(packed), plan, made, NextTag(comm));
  if (!execution->Prepare()) {
    execution.reset();
    core::FreeRequest(made);
    return MPI_ERR_NO_MEM;
  }
  made->execution = execution.get();
  *request = made;
  bool moved = false;
  if (!execution->plan->rounds.empty()) execution->Post();
  if (execution->Advance(&moved)) {
    Complete(execution.release());
  } else {
    Link(execution.release());
  }
  return MPI_SUCCESS;
}

bool Poll() {
  // Completing one may run functions of the user (attributes of a freed communicator), which may
  // come here again.
  static constinit bool polling = false;
  if (first == nullptr || polling) return false;
  polling = true;
  bool moved = false;
  for (Execution* execution = first; execution != nullptr;) {
    Execution* next = execution->next;
    if (execution->Advance(&moved)) {
      Unlink(execution);
      Complete(execution);
    }
    execution = next;
  }
  polling = false;
  return moved;
}

}  // namespace lamina::collective
