// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Reduce_scatter and MPI_Reduce_scatter_block.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kReduceScatterDirect;
extern const Algorithm kReduceScatterBlockDirect;

}  // namespace lamina::collective
