// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Scatter.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kScatterBinomial;
extern const Algorithm kScatterLinear;

}  // namespace lamina::collective
