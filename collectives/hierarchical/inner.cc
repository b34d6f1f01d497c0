// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/hierarchical/inner.h"

#include <algorithm>

#include "collectives/basic/basic.h"
#include "collectives/pieces/cost.h"
#include "runtime/base/check.h"

namespace lamina::collective::hierarchical {
namespace {

// True if the call becomes a step at the board. A gather without data counts, because it only makes
// its root wait for all.
bool AtBoard(const Call& call, std::size_t level) {
  if (!call.board || level > 0) return false;
  return call.operation == Operation::kBcast || call.operation == Operation::kReduce ||
         (call.operation == Operation::kGather && call.bytes == 0);
}

struct Choice {
  const Algorithm* algorithm = nullptr;
  double cost_us = 0;
};

Choice Choose(const Call& call, Rank ranks, const LinkModel& link) {
  const Shape shape{ranks, 0};
  Choice best;
  for (const Algorithm* algorithm : basic::All()) {
    if (algorithm->operation != call.operation || algorithm->inter || !algorithm->fits(call, shape))
      continue;
    const double cost_us = algorithm->cost_us(call, shape, link);
    if (best.algorithm == nullptr || cost_us < best.cost_us) best = {algorithm, cost_us};
  }
  CHECK(best.algorithm != nullptr);
  return best;
}

Slice Moved(const Slice& slice, const Places& places) {
  Slice moved = slice;
  if (slice.where == Where::kScratch) {
    moved.first += places.scratch;
    return moved;
  }
  const Slice& at = slice.where == Where::kInput ? places.input : places.output;
  moved.where = at.where;
  moved.first += at.first;
  return moved;
}

}  // namespace

double CheapestUs(const Call& call, Rank ranks, const LinkModel& link) {
  return ranks < 2 ? 0 : Choose(call, ranks, link).cost_us;
}

double CheapestUs(Operation operation, std::int64_t bytes, Rank ranks, const LinkModel& link) {
  return CheapestUs(Inner(Call{}, operation, bytes), ranks, link);
}

StageTime CheapestTime(const Call& call, Rank ranks, const LinkModel& link) {
  LinkModel at_once = link;
  at_once.crowd = 1;
  return {CheapestUs(call, ranks, link), CheapestUs(call, ranks, at_once)};
}

// In a bcast one rank copies in and then the others copy out. In a reduce all ranks but one copy in
// and then that one folds everything.
StageTime BoardTime(const Call& call, const Span& span) {
  if (span.ranks < 2) return Whole(0);
  const double bytes = static_cast<double>(call.bytes);
  double busy_us = Move(span.link, 0, bytes);
  if (call.operation != Operation::kBcast)
    busy_us =
        (span.ranks - 1) * span.link.overhead_us / 2 + Combine(span.link, (span.ranks - 1) * bytes);
  return {Move(span.link, 1, bytes) + busy_us + Turns(span.link, 1), busy_us};
}

StageTime TimeIn(const std::vector<Span>& spans, std::size_t i, const Call& call) {
  const Span& span = spans[i];
  return AtBoard(call, i) ? BoardTime(call, span) : CheapestTime(call, span.ranks, span.link);
}

Call Inner(const Call& call, Operation operation, std::int64_t bytes) {
  Call inner;
  inner.operation = operation;
  inner.commutative = call.commutative;
  inner.uncut = call.uncut;
  inner.board = call.board;
  inner.bytes = bytes;
  return inner;
}

void Append(const Call& call, const Stage& stage, const Places& places, Schedule* schedule) {
  if (stage.alone()) return;
  if (AtBoard(call, stage.level)) {
    const Rank root = stage.members[static_cast<std::size_t>(call.root)].rank;
    const Slice into = Moved(Output(0, call.output_count), places);
    if (call.operation == Operation::kBcast)
      schedule->Tell(root, into);
    else
      schedule->Fold(root, Moved(Input(0, call.input_count), places), into);
    return schedule->EndRound();
  }
  const Shape shape{stage.size(), stage.own};
  Schedule inner;
  Choose(call, stage.size(), stage.link).algorithm->plan(call, shape, &inner);
  std::uint32_t begin = 0;
  for (const std::uint32_t end : inner.round_ends) {
    for (; begin < end; ++begin) {
      const Step& step = inner.steps[begin];
      const bool communicates = step.verb == Verb::kSend || step.verb == Verb::kReceive;
      if (!communicates && step.from.count == 0) continue;
      const Rank peer =
          communicates ? stage.members[static_cast<std::size_t>(step.peer)].rank : step.peer;
      schedule->steps.push_back(
          {step.verb, peer, Moved(step.from, places), Moved(step.to, places)});
    }
    schedule->EndRound();
  }
  schedule->scratch_elements =
      std::max(schedule->scratch_elements, places.scratch + inner.scratch_elements);
}

void AppendBcast(const Call& call, const Stage& stage, const Slice& data, std::int64_t bytes,
                 Schedule* schedule) {
  Call inner = Inner(call, Operation::kBcast, bytes);
  inner.root = stage.leader;
  inner.output_count = data.count;
  Append(inner, stage, {{}, data}, schedule);
}

}  // namespace lamina::collective::hierarchical
