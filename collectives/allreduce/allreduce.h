// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Allreduce. All give identical bits on all ranks.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kAllreduceRecursiveDoubling;
extern const Algorithm kAllreduceLinear;
extern const Algorithm kAllreduceRabenseifner;
extern const Algorithm kAllreduceReduceBcast;
extern const Algorithm kAllreduceRing;

}  // namespace lamina::collective
