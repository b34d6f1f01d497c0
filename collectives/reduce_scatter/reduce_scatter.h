// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Reduce_scatter and MPI_Reduce_scatter_block.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kReduceScatterDirect;
extern const Algorithm kReduceScatterHalving;
extern const Algorithm kReduceScatterPairwise;
extern const Algorithm kReduceScatterRing;

extern const Algorithm kReduceScatterBlockDirect;
extern const Algorithm kReduceScatterBlockHalving;
extern const Algorithm kReduceScatterBlockPairwise;
extern const Algorithm kReduceScatterBlockRing;

}  // namespace lamina::collective
