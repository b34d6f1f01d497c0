// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Exscan.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kExscanDoubling;
extern const Algorithm kExscanLinear;

}  // namespace lamina::collective
