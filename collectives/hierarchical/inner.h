// SPDX-License-Identifier: BSD-3-Clause
// One stage of a hierarchical operation: an ordinary algorithm among the members of the stage, its
// schedule carried over to ranks and places of the whole.
#pragma once

#include "collectives/collective.h"
#include "collectives/hierarchical/segments.h"
#include "collectives/hierarchical/stages.h"

namespace lamina::collective::hierarchical {

// `algorithm`, whose plans make use of boards.
constexpr Algorithm Meeting(Algorithm algorithm) {
  algorithm.meets = true;
  return algorithm;
}

// What the cheapest algorithm of `call.operation` takes among `ranks`; 0 for one rank.
double CheapestUs(const Call& call, Rank ranks, const LinkModel& link);
// The same as part of a pipeline: who gets its turn finds all that has come meanwhile.
StageTime CheapestTime(const Call& call, Rank ranks, const LinkModel& link);
// Of `operation` over `bytes`, from root 0.
double CheapestUs(Operation operation, std::int64_t bytes, Rank ranks, const LinkModel& link);
// What `call`, a bcast or reduce, takes in stage `i`: at the board if it has one there.
StageTime TimeIn(const std::vector<Span>& spans, std::size_t i, const Call& call);
// At the board.
StageTime BoardTime(const Call& call, const Span& span);
// The part of `call` that is `operation` over `bytes`, from root 0.
Call Inner(const Call& call, Operation operation, std::int64_t bytes);

// Where the inner call's buffers begin in those of the whole.
struct Places {
  Slice input;  // counts are not looked at
  Slice output;
  std::int64_t scratch = 0;  // first element it may use
};

// Appends what this rank does in `call` among the members of `stage`, and enlarges the scratch. The
// call's root is an index into the members. A bcast or reduce that has a board is done there in
// stage 0.
void Append(const Call& call, const Stage& stage, const Places& places, Schedule* schedule);

// A bcast of `data` (`bytes` of them) from the leader, in the course of `call`.
void AppendBcast(const Call& call, const Stage& stage, const Slice& data, std::int64_t bytes,
                 Schedule* schedule);

}  // namespace lamina::collective::hierarchical
