// SPDX-License-Identifier: BSD-3-Clause
// The algorithms for collectives on intercommunicators: one for each operation.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kInterBarrierLeaders;
extern const Algorithm kInterBcastTree;
extern const Algorithm kInterGatherLinear;
extern const Algorithm kInterGathervLinear;
extern const Algorithm kInterScatterLinear;
extern const Algorithm kInterScattervLinear;
extern const Algorithm kInterAllgatherWindowed;
extern const Algorithm kInterAllgathervWindowed;
extern const Algorithm kInterAlltoallWindowed;
extern const Algorithm kInterAlltoallvWindowed;
extern const Algorithm kInterAlltoallwWindowed;
extern const Algorithm kInterReduceLeaders;
extern const Algorithm kInterAllreduceLeaders;
extern const Algorithm kInterReduceScatterLeaders;
extern const Algorithm kInterReduceScatterBlockLeaders;

}  // namespace lamina::collective
