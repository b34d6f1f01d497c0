// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Gather.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kGatherBinomial;
extern const Algorithm kGatherLinear;

}  // namespace lamina::collective
