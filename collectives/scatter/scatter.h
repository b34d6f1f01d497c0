// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Scatter and MPI_Scatterv.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kScatterBinomial;
extern const Algorithm kScatterLinear;

extern const Algorithm kScattervLinear;

}  // namespace lamina::collective
