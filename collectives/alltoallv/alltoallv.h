// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Alltoallv.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kAlltoallvInPlace;
extern const Algorithm kAlltoallvPairwise;
extern const Algorithm kAlltoallvWindowed;

}  // namespace lamina::collective
