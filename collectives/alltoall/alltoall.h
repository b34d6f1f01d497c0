// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kAlltoallBruck;
extern const Algorithm kAlltoallInPlace;
extern const Algorithm kAlltoallPairwise;
extern const Algorithm kAlltoallWindowed;

extern const Algorithm kAlltoallvInPlace;
extern const Algorithm kAlltoallvPairwise;
extern const Algorithm kAlltoallvWindowed;

// Positions are bytes here, and each block has its own datatype.
extern const Algorithm kAlltoallwInPlace;
extern const Algorithm kAlltoallwWindowed;

}  // namespace lamina::collective
