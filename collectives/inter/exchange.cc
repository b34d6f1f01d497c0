// SPDX-License-Identifier: BSD-3-Clause
// Allgather and alltoall, with v and w, between two groups: every rank starts its messages to and
// from up to 32 ranks of the other group at once. Empty blocks are not sent, so one direction may
// have no data.
//
// Shape:  input one block (allgather), or one per rank of the other group; output one per rank of
//         the other group.
// Cost:   alpha + (2 Q - 1) * overhead + Q * n * beta, Q ranks in the other group.
// Source: MPI-5.0, sections 6.7 and 6.8 (the definitions of MPI_ALLGATHER and MPI_ALLTOALL).
#include "collectives/pieces/exchange.h"

#include "collectives/algorithms.h"
#include "collectives/inter/group.h"

namespace lamina::collective {
namespace {

// The window keeps the links busy and bounds what is posted at once.
constexpr Rank kWindow = 32;

template <class BlocksOf>
void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  PlanBetween(BlocksOf(call), shape, kWindow, schedule);
}

}  // namespace

constinit const Algorithm kInterAllgatherWindowed{"windowed", Operation::kAllgather, AlwaysFits,
                                                  NoCostUs,   Plan<GatheredBlocks>,  true};
constinit const Algorithm kInterAllgathervWindowed{"windowed", Operation::kAllgatherv, AlwaysFits,
                                                   NoCostUs,   Plan<GatheredBlocks>,   true};
constinit const Algorithm kInterAlltoallWindowed{"windowed", Operation::kAlltoall, AlwaysFits,
                                                 NoCostUs,   Plan<UniformBlocks>,  true};
constinit const Algorithm kInterAlltoallvWindowed{"windowed", Operation::kAlltoallv, AlwaysFits,
                                                  NoCostUs,   Plan<GivenBlocks>,     true};
constinit const Algorithm kInterAlltoallwWindowed{"windowed", Operation::kAlltoallw, AlwaysFits,
                                                  NoCostUs,   Plan<GivenBlocks>,     true};

}  // namespace lamina::collective
