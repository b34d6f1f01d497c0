// SPDX-License-Identifier: BSD-3-Clause
// Allgather, neighbour exchange: ranks swap blocks with their two neighbours in turn, two blocks at
// a time.
//
// Ranks 2q and 2q + 1 swap their own blocks first; from then on every rank passes the pair of
// blocks it got last to its other neighbour. This takes half as many rounds as the ring, and still
// only neighbours talk, but the number of ranks must be even.
//
// Shape:  input n elements on every rank, output P blocks on every rank.
// Cost:   P / 2 * alpha + (P - 1) * n * beta.
// Source: Chen, Zhang, Zhang, Yuan, HPC Asia 2005, 166-173.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

bool Fits(const Call&, const Shape& shape) { return shape.ranks % 2 == 0; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = shape.ranks / 2;
  return MoveInRing(link, rounds, (shape.ranks - 1) * static_cast<double>(call.bytes)) +
         Turns(link, rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const Rank pairs = ranks / 2;
  const Rank rank = shape.rank;
  const bool even = rank % 2 == 0;
  const std::int64_t block = call.output_count;
  const auto blocks = [&](Rank first, Rank count) { return Output(first * block, count * block); };
  const Slice own = call.in_place ? blocks(rank, 1) : Input(0, call.input_count);
  const Rank partner = rank ^ 1;
  const Rank other = even ? (rank + ranks - 1) % ranks : (rank + 1) % ranks;

  schedule->Receive(partner, blocks(partner, 1));
  schedule->Send(partner, own);
  if (!call.in_place) schedule->Copy(own, blocks(rank, 1));
  schedule->EndRound();
  // The even rank of a pair receives the pair next below, then the one next above, then the second
  // one below, and so on. The odd rank does the same with above first.
  Rank held = rank / 2;
  for (Rank round = 1; round < pairs; ++round) {
    const Rank distance = (round + 1) / 2;
    const bool below = even == (round % 2 == 1);
    const Rank wanted = (rank / 2 + (below ? pairs - distance : distance)) % pairs;
    const Rank peer = round % 2 == 1 ? other : partner;
    schedule->Receive(peer, blocks(2 * wanted, 2));
    schedule->Send(peer, blocks(2 * held, 2));
    schedule->EndRound();
    held = wanted;
  }
}

}  // namespace

constinit const Algorithm kAllgatherNeighborExchange{"neighbor_exchange", Operation::kAllgather,
                                                     Fits, CostUs, Plan};

}  // namespace lamina::collective
