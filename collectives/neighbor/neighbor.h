// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for the neighbourhood collectives.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kNeighborAllgatherDirect;
extern const Algorithm kNeighborAllgathervDirect;
extern const Algorithm kNeighborAlltoallDirect;
extern const Algorithm kNeighborAlltoallvDirect;
extern const Algorithm kNeighborAlltoallwDirect;

}  // namespace lamina::collective
