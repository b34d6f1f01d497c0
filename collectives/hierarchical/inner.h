// SPDX-License-Identifier: BSD-3-Clause
// One stage of a hierarchical operation: an ordinary algorithm plans a call among the members of
// the stage, and its schedule is translated to the ranks and buffers of the whole operation.
#pragma once

#include "collectives/collective.h"
#include "collectives/hierarchical/segments.h"
#include "collectives/hierarchical/stages.h"

namespace lamina::collective::hierarchical {

// Marks `algorithm` as one whose plans use boards.
constexpr Algorithm UsingBoards(Algorithm algorithm) {
  algorithm.meets = true;
  return algorithm;
}

// Predicts the cheapest algorithm's time for `call` among `ranks`. It is 0 for one rank.
double CheapestUs(const Call& call, Rank ranks, const LinkModel& link);
// The same for `operation` over `bytes` from root 0.
double CheapestUs(Operation operation, std::int64_t bytes, Rank ranks, const LinkModel& link);
// The same where the call is one stage of a pipeline. A rank that gets its turn finds everything
// that has come in the meantime, so only the first segment waits for turns.
StageTime CheapestTime(const Call& call, Rank ranks, const LinkModel& link);
// Predicts the time of `call` at a board.
StageTime BoardTime(const Call& call, const Span& span);
// Predicts the time of `call` in stage `i`, which is at the board if Append puts it there.
StageTime TimeIn(const std::vector<Span>& spans, std::size_t i, const Call& call);
// The inner call that does `operation` over `bytes`, from root 0, on behalf of `call`.
Call Inner(const Call& call, Operation operation, std::int64_t bytes);

// Where the inner call's buffers begin in those of the whole operation.
struct Places {
  Slice input;  // the counts are not used
  Slice output;
  std::int64_t scratch = 0;  // first element that the inner call may use
};

// Appends what this rank does in `call` among the members of `stage`, and enlarges the scratch. The
// call's root is an index into the members. In stage 0 of a call with boards, a bcast or a reduce
// becomes a step at the board.
void Append(const Call& call, const Stage& stage, const Places& places, Schedule* schedule);

// Appends a bcast of `data`, which is `bytes` long, from the leader of `stage` on behalf of `call`.
void AppendBcast(const Call& call, const Stage& stage, const Slice& data, std::int64_t bytes,
                 Schedule* schedule);

}  // namespace lamina::collective::hierarchical
