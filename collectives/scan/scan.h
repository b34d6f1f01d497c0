// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Scan.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kScanDoubling;
extern const Algorithm kScanLinear;

}  // namespace lamina::collective
