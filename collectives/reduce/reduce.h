// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for MPI_Reduce.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kReduceBinomial;
extern const Algorithm kReduceInOrder;
extern const Algorithm kReduceLinear;
extern const Algorithm kReduceRabenseifner;

}  // namespace lamina::collective
