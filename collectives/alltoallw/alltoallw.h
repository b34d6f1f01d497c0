// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Alltoallw. Positions are bytes, and each block has its own datatype.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kAlltoallwInPlace;
extern const Algorithm kAlltoallwWindowed;

}  // namespace lamina::collective
