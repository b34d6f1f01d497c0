// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Barrier.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kBarrierDissemination;
extern const Algorithm kBarrierLinear;
extern const Algorithm kBarrierTree;

}  // namespace lamina::collective
