// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exec/execution.h"

#include <new>

#include "collectives/select/table.h"
#include "runtime/p2p/p2p.h"

namespace lamina::collective {
namespace {

using core::Request;
using datatype::Datatype;

void Hold(const Datatype* type) {
  if (type != nullptr) datatype::Retain(const_cast<Datatype*>(type));
}
void Drop(const Datatype* type) {
  if (type != nullptr) datatype::Release(const_cast<Datatype*>(type));
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

// A plan that does nothing, for calls that nobody needs to do anything for.
Plan* NothingToDo() { return MakePlan(nullptr, Schedule{}); }

}  // namespace

// Calls `visit` for every datatype of the call.
template <class Visit>
void Execution::EachType(Visit visit) const {
  visit(held_.input_type);
  visit(held_.output_type);
  for (const Datatype* type : input_types_) visit(type);
  for (const Datatype* type : output_types_) visit(type);
}

Execution::Execution(const Invocation& invocation, PackedBcast packed, Plan* plan,
                     const Route& route)
    : plan_(plan),
      route_(route),
      input_types_(invocation.input_types.begin(), invocation.input_types.end()),
      output_types_(invocation.output_types.begin(), invocation.output_types.end()),
      held_(WithTypes(invocation, input_types_, output_types_)),
      packed_(std::move(packed)),
      binding_(held_),
      transfers_(plan->transfers_max) {
  EachType(Hold);
  if (held_.op != nullptr) datatype::Retain(const_cast<datatype::Op*>(held_.op));
}

Execution::~Execution() {
  EachType(Drop);
  if (held_.op != nullptr) datatype::Release(const_cast<datatype::Op*>(held_.op));
  Release(plan_);
}

bool Execution::Prepare() {
  const std::size_t bytes = binding_.ScratchBytes(*plan_);
  if (bytes == 0) return true;
  scratch_.reset(new (std::nothrow) std::byte[bytes]);
  if (scratch_ == nullptr) return false;
  binding_.SetScratch(*plan_, scratch_.get());
  return true;
}

void Execution::Post() {
  const Plan::Round& now = plan_->rounds[round_];
  under_way_ = now.locals - now.receives;
  next_pending_ = 0;
  for (std::uint32_t i = 0; i < under_way_; ++i) {
    const Step& step = plan_->steps[now.receives + i];
    const p2p::Envelope envelope = route_.To(step.peer);
    Request* transfer = &transfers_[i];
    transfer->comm = envelope.comm;
    transfer->watcher = nullptr;
    if (step.verb == Verb::kReceive)
      p2p::PrepareReceive(transfer, envelope, binding_.At(step.to));
    else
      p2p::PrepareSend(transfer, envelope, binding_.At(step.from), Request::Mode::kStandard);
    p2p::Start(transfer);
    if (!transfer->complete) transfer->watcher = this;
  }
}

bool Execution::Arrived() {
  while (next_pending_ < under_way_ && transfers_[next_pending_].complete) {
    const int result = transfers_[next_pending_++].error;
    if (result != MPI_SUCCESS && error_ == MPI_SUCCESS) error_ = result;
  }
  return next_pending_ == under_way_;
}

int Execution::Start(Request* owner) {
  owner_ = owner;
  error_ = MPI_SUCCESS;
  round_ = 0;
  packed_.Begin();
  if (!plan_->rounds.empty()) Post();
  Advance();
  return MPI_SUCCESS;
}

void Execution::Advance() {
  if (owner_ == nullptr) return;
  while (round_ < plan_->rounds.size()) {
    if (!Arrived()) return;
    const Plan::Round& now = plan_->rounds[round_];
    for (std::uint32_t i = now.locals; i < now.end; ++i) binding_.Perform(plan_->steps[i]);
    if (++round_ < plan_->rounds.size()) Post();
  }
  packed_.End();
  Request* owner = owner_;
  owner_ = nullptr;
  core::Finish(owner, error_);  // may free the request, and this with it
}

namespace {

// The request for `invocation`, not started. MPI_SUCCESS, or an error class and no request.
int Make(const Invocation& invocation, bool persistent, Request** request) {
  core::Comm* comm = invocation.comm;
  if (comm->collectives == nullptr) Attach(comm);
  Table& table = *comm->collectives;
  Invocation it = invocation;
  PackedBcast packed;
  if (!packed.Prepare(&it)) return MPI_ERR_NO_MEM;
  CountStore store;
  const Call call = MakeCall(it, &store);
  Plan* plan = Empty(call, *comm) ? NothingToDo() : table.Find(call);
  if (plan == nullptr) return MPI_ERR_UNSUPPORTED_OPERATION;
  const Route route = persistent ? Route::Persistent(comm, table.persistent_serial++) : Route(comm);
  auto execution = std::make_unique<Execution>(it, std::move(packed), plan, route);
  if (!execution->Prepare()) return MPI_ERR_NO_MEM;

  Request* made = core::NewRequest(comm);
  made->type = persistent ? Request::Type::kActivity : Request::Type::kCollective;
  made->persistent = persistent;
  made->activity = execution.release();
  *request = made;
  return MPI_SUCCESS;
}

}  // namespace

int Start(const Invocation& invocation, Request** request) {
  const int error = Make(invocation, false, request);
  if (error != MPI_SUCCESS) return error;
  (*request)->active = true;
  return (*request)->activity->Start(*request);
}

int Init(const Invocation& invocation, Request** request) {
  return Make(invocation, true, request);
}

}  // namespace lamina::collective
