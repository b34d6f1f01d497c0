// SPDX-License-Identifier: BSD-3-Clause
// The blocking executor. Short calls by messages spend their time here, so a round of one receive
// and one send, which is by far the most frequent, takes the shortest way: post the receive, send,
// wait. Nothing is allocated for a plan that was run before. Plans of several strands are for long
// data, and run like non-blocking ones.
#include <algorithm>
#include <memory>

#include "collectives/call/route.h"
#include "collectives/exec/binding.h"
#include "collectives/exec/exec.h"
#include "collectives/exec/execution.h"
#include "collectives/exec/failure.h"
#include "collectives/exec/packed_bcast.h"
#include "collectives/select/table.h"
#include "runtime/p2p/p2p.h"

namespace lamina::collective {
namespace {

using core::Request;
using p2p::Envelope;

constexpr auto kStandard = Request::Mode::kStandard;

class Runner {
 public:
  Runner(core::Comm* comm, const Plan& plan, const Binding& binding, Request* transfers)
      : meeting_(comm->collectives->meeting.get()),
        plan_(plan),
        binding_(binding),
        transfers_(transfers),
        route_(Route::Next(comm)) {}

  int RunAll() {
    if (plan_.receives_ahead > 0) [[unlikely]]
      return RunAhead();
    for (const Plan::Round& round : plan_.rounds) {
      PostReceives(round, transfers_);
      Communicate(round, transfers_, transfers_ + (round.sends - round.receives));
      PerformLocals(round);
    }
    return error_;
  }

 private:
  // Posts the receives of a round, and of the rounds ahead of it, before the round begins.
  [[gnu::noinline]] int RunAhead() {
    const std::size_t rounds = plan_.rounds.size(), window = plan_.receives_ahead + std::size_t{1};
    const auto receives_of = [&](std::size_t round) {
      return transfers_ + (1 + round % window) * plan_.transfers_max;
    };
    std::size_t posted = 0;
    for (std::size_t now = 0; now < rounds; ++now) {
      for (; posted < std::min(now + window, rounds); ++posted)
        PostReceives(plan_.rounds[posted], receives_of(posted));
      Communicate(plan_.rounds[now], receives_of(now), transfers_);
      PerformLocals(plan_.rounds[now]);
    }
    return error_;
  }

  void Note(int error) {
    if (error != MPI_SUCCESS && error_ == MPI_SUCCESS) [[unlikely]]
      error_ = EndIfFatal(route_.comm(), error);
  }

  void Perform(const Step& step) {
    if (AtBoard(step.verb))
      Note(meeting_->Step(step, binding_.At(step.from), binding_.At(step.to), binding_.op()));
    else
      binding_.Perform(step);
  }

  void Post(Request* request, const Step& step) {
    const Envelope envelope = route_.To(step.peer);
    request->comm = envelope.comm;
    if (step.verb == Verb::kReceive)
      p2p::PrepareReceive(request, envelope, binding_.At(step.to));
    else
      p2p::PrepareSend(request, envelope, binding_.At(step.from), kStandard);
    p2p::Start(request);
  }

  void Wait(Request* request) {
    if (!request->complete) p2p::Wait(request);
    Note(request->error);
  }

  void PerformLocals(const Plan::Round& round) {
    for (std::uint32_t i = round.locals; i < round.end; ++i) Perform(plan_.steps[i]);
  }

  void PostReceives(const Plan::Round& round, Request* receives) {
    for (std::uint32_t i = round.receives; i < round.sends; ++i) Post(receives++, plan_.steps[i]);
  }

  // `receives` are posted already. `sends` is room for requests.
  void Communicate(const Plan::Round& round, Request* receives, Request* sends) {
    const std::uint32_t sent = round.locals - round.sends;
    if (sent == 1) {
      // Blocking, which costs no request when the message is short; the receives are posted, so
      // waiting here cannot keep a peer from sending.
      const Step& step = plan_.steps[round.sends];
      Note(p2p::Send(route_.To(step.peer), binding_.At(step.from), kStandard));
    } else {
      for (std::uint32_t i = 0; i < sent; ++i) Post(&sends[i], plan_.steps[round.sends + i]);
    }
    for (std::uint32_t i = round.receives; i < round.sends; ++i) Wait(receives++);
    if (sent == 1) return;
    for (std::uint32_t i = 0; i < sent; ++i) Wait(&sends[i]);
  }

  Meeting* const meeting_;  // not null where the plan has steps at a board
  const Plan& plan_;
  const Binding& binding_;
  Request* const transfers_;
  const Route route_;
  int error_ = MPI_SUCCESS;
};

int RunStrands(const Invocation& invocation, Plan& plan, const Binding& binding) {
  Retain(&plan);
  auto execution = std::make_unique<Execution>(invocation, PackedBcast{}, &plan,
                                               Route::Next(invocation.comm, plan.strands()));
  execution->Use(binding);
  Request* request = core::NewRequest(invocation.comm);
  request->type = Request::Type::kCollective;
  request->activity = execution.release();
  request->active = true;
  static_cast<void>(request->activity->Start(request));
  if (!request->complete) p2p::Wait(request);
  const int error = request->error;
  core::FreeRequest(request);
  return error;
}

int RunPlan(Table& table, const Invocation& invocation, Plan& plan) {
  Binding binding(invocation);
  const std::size_t scratch_bytes = binding.ScratchBytes(plan);
  if (scratch_bytes > 0) {
    std::byte* memory = table.Scratch(scratch_bytes);
    if (memory == nullptr) return MPI_ERR_NO_MEM;
    binding.SetScratch(plan, memory);
  }
  if (plan.strands() > 1) [[unlikely]] {
    const int error = RunStrands(invocation, plan, binding);
    table.Trim();
    return error;
  }
  if (table.requests.size() < plan.requests()) table.requests.resize(plan.requests());
  const int error = Runner(invocation.comm, plan, binding, table.requests.data()).RunAll();
  if (scratch_bytes > 0) table.Trim();
  return error;
}

int RunCall(const Invocation& invocation, const Call& call) {
  if (Empty(call, *invocation.comm)) return MPI_SUCCESS;
  Table& table = *invocation.comm->collectives;
  Plan* plan = table.Find(call);
  if (plan == nullptr) return MPI_ERR_UNSUPPORTED_OPERATION;
  const int error = RunPlan(table, invocation, *plan);
  Release(plan);
  return error;
}

[[gnu::noinline]] int RunBlocks(const Invocation& invocation) {
  CountStore store;
  return RunCall(invocation, MakeCall(invocation, &store));
}

[[gnu::noinline]] int RunBcast(const Invocation& invocation) {
  Invocation bytes = invocation;
  PackedBcast packed;
  if (!packed.Prepare(&bytes)) return MPI_ERR_NO_MEM;
  packed.Begin();
  const int error = RunCall(bytes, MakeCall(bytes, nullptr));
  packed.End();
  return error;
}

int RunByMessages(const Invocation& invocation) {
  if (invocation.operation == Operation::kBcast) return RunBcast(invocation);
  if (!invocation.input_counts.empty() || !invocation.output_counts.empty())
    return RunBlocks(invocation);
  return RunCall(invocation, MakeCall(invocation, nullptr));
}

// Runs a plan in which the ranks of each node meet.
int RunBySteps(const Invocation& invocation) {
  Invocation with_board = invocation;
  with_board.board = true;
  return RunByMessages(with_board);
}

}  // namespace

std::uint64_t Searches(const core::Comm& comm) {
  return comm.collectives == nullptr ? 0 : comm.collectives->plans.searches();
}

const char* CarriedOutBy(const core::Comm& comm, std::uint64_t searches_before) {
  if (comm.collectives == nullptr) return "";
  const PlanCache& plans = comm.collectives->plans;
  if (plans.searches() == searches_before)
    return comm.collectives->meeting != nullptr ? "shared memory" : "";
  const Plan* const plan = plans.Latest();
  return plan != nullptr && plan->algorithm != nullptr ? plan->algorithm->name : "";
}

int Run(const Invocation& invocation) {
  core::Comm* comm = invocation.comm;
  if (comm->collectives == nullptr) Attach(comm);
  Table& table = *comm->collectives;
  if (!table.has_convened) [[unlikely]]
    if (const int error = table.Convene(RunByMessages); error != MPI_SUCCESS) return error;
  if (table.meeting == nullptr) return RunByMessages(invocation);
  switch (table.meeting->Run(invocation)) {
    case Served::kDone:
      return MPI_SUCCESS;
    case Served::kFailed:
      return table.failure.error_class;
    case Served::kBySteps:
      return RunBySteps(invocation);
    case Served::kByMessages:
      break;
  }
  return RunByMessages(invocation);
}

}  // namespace lamina::collective
