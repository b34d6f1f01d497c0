// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Allgather.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kAllgatherBruck;
extern const Algorithm kAllgatherGatherBcast;
extern const Algorithm kAllgatherRecursiveDoubling;
extern const Algorithm kAllgatherNeighborExchange;
extern const Algorithm kAllgatherRing;

}  // namespace lamina::collective
