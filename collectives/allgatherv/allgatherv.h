// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Allgatherv.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kAllgathervLinear;
extern const Algorithm kAllgathervRing;

}  // namespace lamina::collective
