// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exec/execution.h"

#include <algorithm>
#include <new>

#include "collectives/exec/exec.h"
#include "collectives/select/table.h"
#include "runtime/core/errors.h"
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

// The plan for a call in which no rank needs to do anything.
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
      transfers_(std::size_t{plan->transfers_max} * plan->strands()),
      strands_(plan->strands()) {
  EachType(Hold);
  if (held_.op == nullptr) return;
  datatype::Retain(const_cast<datatype::Op*>(held_.op));
  if (!held_.op->predefined) ++with_users_operation;
}

Execution::~Execution() {
  EachType(Drop);
  if (held_.op != nullptr) {
    if (!held_.op->predefined) --with_users_operation;
    datatype::Release(const_cast<datatype::Op*>(held_.op));
  }
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

void Execution::Post(Strand* strand) {
  if (strand->round == strand->end) return;
  const Plan::Round& now = plan_->rounds[strand->round];
  strand->under_way = now.locals - now.receives;
  strand->next_pending = 0;
  const auto number = static_cast<std::uint32_t>(strand - strands_.data());
  for (std::uint32_t i = 0; i < strand->under_way; ++i) {
    const Step& step = plan_->steps[now.receives + i];
    const p2p::Envelope envelope = route_.To(step.peer, number);
    Request* transfer = &strand->transfers[i];
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

bool Execution::Arrived(Strand* strand) {
  while (strand->next_pending < strand->under_way &&
         strand->transfers[strand->next_pending].complete) {
    const int result = strand->transfers[strand->next_pending++].error;
    if (result != MPI_SUCCESS && error_ == MPI_SUCCESS) [[unlikely]]
      Fail(result);
  }
  return strand->next_pending == strand->under_way;
}

// Where errors end the job nothing more is sent, because it would not be right, and others would
// take it for a result. The rounds that are under way end, and then the request is there to fail.
void Execution::Fail(int error) {
  error_ = error;
  if (!core::EndsJob(route_.comm())) return;
  for (Strand& strand : strands_) strand.end = std::min(strand.end, strand.round + 1);
}

bool Execution::Move(Strand* strand) {
  while (strand->round < strand->end) {
    if (!Arrived(strand)) return false;
    const Plan::Round& now = plan_->rounds[strand->round];
    for (std::uint32_t i = now.locals; i < now.end; ++i) binding_.Perform(plan_->steps[i]);
    ++strand->round;
    Post(strand);
  }
  return true;
}

int Execution::Start(Request* owner) {
  owner_ = owner;
  error_ = MPI_SUCCESS;
  packed_.Begin();
  std::uint32_t begin = 0;
  for (std::uint32_t i = 0; i < plan_->strands(); ++i) {
    const std::uint32_t end = plan_->strand_ends.empty()
                                  ? static_cast<std::uint32_t>(plan_->rounds.size())
                                  : plan_->strand_ends[i];
    strands_[i] = {begin, end, 0, 0, transfers_.data() + std::size_t{i} * plan_->transfers_max};
    Post(&strands_[i]);
    begin = end;
  }
  Advance();
  return MPI_SUCCESS;
}

void Execution::Advance() {
  if (owner_ == nullptr) return;
  bool all_ended = true;
  for (Strand& strand : strands_) all_ended = Move(&strand) && all_ended;
  if (!all_ended) return;
  packed_.End();
  Request* owner = owner_;
  owner_ = nullptr;
  core::Finish(owner, error_);  // may free the request, and this with it
}

namespace {

// Makes the request for `invocation` without starting it. Returns MPI_SUCCESS, or an error class
// and no request.
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
  const Route route = persistent ? Route::Persistent(comm, table.persistent_serial)
                                 : Route::NextNonblocking(comm, plan->strands());
  if (persistent) table.persistent_serial += plan->strands();
  auto execution = std::make_unique<Execution>(it, std::move(packed), plan, route);
  if (!execution->Prepare()) return MPI_ERR_NO_MEM;

  Request* made = core::NewRequest(comm);
  made->type = Request::Type::kCollective;
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

bool MayCallBack() { return Execution::with_users_operation != 0; }

}  // namespace lamina::collective
