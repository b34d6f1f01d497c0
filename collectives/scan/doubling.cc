// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan, doubling: in round k rank r folds in, from the left, what rank r - 2^k had at
// its beginning.
//
// Before round k a rank holds the fold of the 2^k ranks up to itself (fewer near the first one), so
// ceil(log2 P) rounds make prefixes of any length, in rank order. In an exscan every vector first
// moves one rank up, and then this is done by ranks 1..P-1: nothing is folded that does not belong
// to the result, and the output of rank 0 is left alone.
//
// Shape:  input and output n elements on every rank; scratch n, or 2 n in an exscan in place.
// Cost:   ceil(log2 P) * (alpha + n * beta + n * gamma). In an exscan P is one less, and the move
//         takes alpha + n * beta more.
// Source: Hillis, Steele, Commun. ACM 29 (1986) 1170-1183.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

// The lowest rank that takes part in the doubling.
Rank FirstOf(const Call& call) { return call.operation == Operation::kExscan ? 1 : 0; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = CeilLog2(shape.ranks - FirstOf(call));
  const double hops = rounds + FirstOf(call);
  const double bytes = static_cast<double>(call.bytes);
  return MoveAtOnce(link, hops, hops * bytes) + Combine(link, rounds * bytes) + Turns(link, hops);
}

// What an exscan does first.
void MoveUp(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const Rank rank = shape.rank;
  const Slice arrival = call.in_place ? Scratch(count, count) : Output(0, count);
  if (rank > 0) schedule->Receive(rank - 1, arrival);
  if (rank + 1 < shape.ranks) schedule->Send(rank + 1, Input(0, count));
  if (rank > 0 && call.in_place) schedule->Copy(arrival, Output(0, count));
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const Slice result = Output(0, count);
  const bool exclusive = call.operation == Operation::kExscan;
  if (exclusive)
    MoveUp(call, shape, schedule);
  else if (!call.in_place)
    schedule->Copy(Input(0, count), result);
  schedule->EndRound();
  const Rank before = shape.rank - FirstOf(call);  // how many ranks are before this one
  if (before < 0) return;
  schedule->scratch_elements = exclusive && call.in_place ? 2 * count : count;
  for (Rank gap = 1; gap + FirstOf(call) < shape.ranks; gap *= 2) {
    if (before >= gap) schedule->Receive(shape.rank - gap, Scratch(0, count));
    if (shape.rank + gap < shape.ranks) schedule->Send(shape.rank + gap, result);
    if (before >= gap) schedule->Reduce(Scratch(0, count), result);
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kScanDoubling{"doubling", Operation::kScan, AlwaysFits, CostUs, Plan};
constinit const Algorithm kExscanDoubling{"doubling", Operation::kExscan, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
