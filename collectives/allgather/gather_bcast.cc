// SPDX-License-Identifier: BSD-3-Clause
// Allgather, gather then bcast: every rank sends its block to rank 0, which sends all blocks to
// every rank.
//
// It is two messages deep whatever P is, so if ranks share CPUs each waits for its turn only twice;
// but rank 0 sends everything. This is for short blocks.
//
// Shape:  input n elements on every rank, output P blocks on every rank.
// Cost:   2 * (alpha + (P - 2) * overhead) + (P - 1) * (P + 1) * n * beta.
// Source: MPI-5.0, section 6.7 (MPI_ALLGATHER as MPI_GATHER followed by MPI_BCAST).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  const double bytes = others * static_cast<double>(call.bytes);
  return Burst(link, others, bytes) + Burst(link, others, bytes * shape.ranks) + Turns(link, 2);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t block = call.output_count;
  const auto place = [&](Rank rank) { return Output(rank * block, block); };
  const Slice own = call.in_place ? place(shape.rank) : Input(0, call.input_count);
  const Slice all = Output(0, shape.ranks * block);
  if (shape.rank == 0) {
    for (Rank rank = 1; rank < shape.ranks; ++rank) schedule->Receive(rank, place(rank));
    if (!call.in_place) schedule->Copy(own, place(0));
    schedule->EndRound();
    for (Rank rank = 1; rank < shape.ranks; ++rank) schedule->Send(rank, all);
    return schedule->EndRound();
  }
  schedule->Send(0, own);
  schedule->EndRound();
  schedule->Receive(0, all);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kAllgatherGatherBcast{"gather_bcast", Operation::kAllgather, AlwaysFits,
                                                CostUs, Plan};

}  // namespace lamina::collective
