// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter and reduce_scatter_block between two groups: each folds its vectors to its leader,
// the leaders swap results, and each leader deals out the other group's.
//
// Shape:  input N elements on every rank of both groups, output n_i on rank i, N in each group.
//         Scratch 3 N at the leaders.
// Cost:   (1 + ceil(log2 P)) * (alpha + N * beta) + ceil(log2 P) * N * gamma
//         + alpha + (P - 2) * overhead + N * beta, P ranks in the larger group.
// Source: MPI-5.0, section 6.10 (the definition of MPI_REDUCE_SCATTER).
#include "collectives/algorithms.h"
#include "collectives/inter/group.h"

namespace lamina::collective {
namespace {

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const auto count_of = [&](Rank rank) {
    return call.output_counts.empty() ? call.output_count : call.output_counts[rank];
  };
  std::int64_t total = 0;
  for (Rank rank = 0; rank < shape.ranks; ++rank) total += count_of(rank);
  const Slice sum = FoldToLeader(total, shape, schedule);
  const Slice own = Output(0, count_of(shape.rank));
  if (shape.rank != 0) {
    if (own.count > 0) schedule->Receive(0, own);
    return schedule->EndRound();
  }
  schedule->scratch_elements = 3 * total;
  schedule->Receive(RemoteLeader(shape), Scratch(2 * total, total));
  schedule->Send(RemoteLeader(shape), sum);
  schedule->EndRound();
  std::int64_t at = 2 * total + own.count;
  for (Rank rank = 1; rank < shape.ranks; at += count_of(rank++))
    if (count_of(rank) > 0) schedule->Send(rank, Scratch(at, count_of(rank)));
  if (own.count > 0) schedule->Copy(Scratch(2 * total, own.count), own);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kInterReduceScatterLeaders{
    "leaders", Operation::kReduceScatter, AlwaysFits, NoCostUs, Plan, true};
constinit const Algorithm kInterReduceScatterBlockLeaders{
    "leaders", Operation::kReduceScatterBlock, AlwaysFits, NoCostUs, Plan, true};

}  // namespace lamina::collective
