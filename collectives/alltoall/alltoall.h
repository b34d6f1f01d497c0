// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Alltoall.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kAlltoallBruck;
extern const Algorithm kAlltoallInPlace;
extern const Algorithm kAlltoallPairwise;
extern const Algorithm kAlltoallWindowed;

}  // namespace lamina::collective
