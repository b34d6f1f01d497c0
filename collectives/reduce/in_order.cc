// SPDX-License-Identifier: BSD-3-Clause
// Reduce, binomial tree in rank order: the tree is always rooted at rank 0, which sends the result
// to the root.
//
// Every fold joins two neighbouring intervals of ranks, so the operation need not be commutative;
// the price is one message more when the root is not rank 0. The result does not depend on the
// root.
//
// Shape:  input n elements on every rank, output n at the root; scratch 2 n where ranks fold.
// Cost:   (ceil(log2 P) + 1) * (alpha + n * beta) + ceil(log2 P) * n * gamma.
// Source: MPI-5.0, section 6.9.1 (canonical order); Johnsson, Ho 1989 for the tree.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/reduce/binomial_fold.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double depth = CeilLog2(shape.ranks);
  const double bytes = static_cast<double>(call.bytes);
  const double hops = depth + (call.root == 0 ? 0 : 1);
  return Move(link, hops, hops * bytes) + Combine(link, depth * bytes) + Turns(link, hops);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const Rank rank = shape.rank;
  const bool at_home = rank == 0 && call.root == 0;  // this rank folds where the result is wanted
  const Accumulator::Folds folds = FoldsOf(rank, shape.ranks);
  const Slice home = at_home ? Output(0, count) : Scratch(count, count);
  if (folds.right > 0) schedule->scratch_elements = at_home ? count : 2 * count;

  Accumulator sum(schedule, Input(0, count), home, Scratch(0, count), at_home && call.in_place,
                  folds);
  FoldSubtree(schedule, &sum, rank, 0, shape.ranks);
  if (at_home) return sum.Finish();
  schedule->Send(rank == 0 ? call.root : Parent(rank), sum.value());
  schedule->EndRound();
  if (rank != call.root) return;
  schedule->Receive(0, Output(0, count));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kReduceInOrder{"in_order", Operation::kReduce, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
