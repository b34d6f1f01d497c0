// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Bcast. The buffer is bytes on every rank: datatypes may differ between
// ranks, so only bytes are positions that all agree on. If the buffer is not bytes (Call::uncut),
// an algorithm that cuts it does not fit.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kBcastBinomial;
extern const Algorithm kBcastChain;
extern const Algorithm kBcastKnomial;
extern const Algorithm kBcastLinear;
extern const Algorithm kBcastScatterAllgather;

}  // namespace lamina::collective
