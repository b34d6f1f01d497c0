// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Gather and MPI_Gatherv.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kGatherBinomial;
extern const Algorithm kGatherLinear;

extern const Algorithm kGathervLinear;

}  // namespace lamina::collective
