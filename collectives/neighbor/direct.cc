// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives, direct: every rank starts its messages to and from all of its
// neighbours at once.
//
// Only the two ends of an edge know that it is there, so nobody else could pass a block on.
//
// Shape:  input one block, or one per destination; output one block per source. A rank copies its
//         block for itself; a block beyond an edge of the grid is left alone.
// Cost:   alpha + (sources + destinations - 1) * overhead + their bytes * beta; one round.
// Source: MPI-5.0, section 8.6 (the definitions of MPI_NEIGHBOR_ALLGATHER and its kin).
#include "collectives/algorithms.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

bool Fits(const Call&, const Shape& shape) { return !shape.inter(); }

// Every rank has neighbours of its own, so there is no cost that all ranks would agree on.
double CostUs(const Call&, const Shape&, const LinkModel& link) { return link.alpha_us; }

template <class BlocksOf>
void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  PlanNeighbours(BlocksOf(call), shape, schedule);
}

}  // namespace

constinit const Algorithm kNeighborAllgatherDirect{"direct", Operation::kNeighborAllgather, Fits,
                                                   CostUs, Plan<GatheredBlocks>};
constinit const Algorithm kNeighborAllgathervDirect{"direct", Operation::kNeighborAllgatherv, Fits,
                                                    CostUs, Plan<GatheredBlocks>};
constinit const Algorithm kNeighborAlltoallDirect{"direct", Operation::kNeighborAlltoall, Fits,
                                                  CostUs, Plan<UniformBlocks>};
constinit const Algorithm kNeighborAlltoallvDirect{"direct", Operation::kNeighborAlltoallv, Fits,
                                                   CostUs, Plan<GivenBlocks>};
constinit const Algorithm kNeighborAlltoallwDirect{"direct", Operation::kNeighborAlltoallw, Fits,
                                                   CostUs, Plan<GivenBlocks>};

}  // namespace lamina::collective
