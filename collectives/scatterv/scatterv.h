// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Scatterv.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kScattervLinear;

}  // namespace lamina::collective
