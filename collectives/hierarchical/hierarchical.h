// SPDX-License-Identifier: BSD-3-Clause
// The component that follows the hierarchy: each operation in stages, one a level. See README.md.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective::hierarchical {

// All but the last are called "hierarchical". They fit only if the communicator has levels.
extern const Algorithm kBarrier;
extern const Algorithm kBcast;
extern const Algorithm kReduce;
extern const Algorithm kAllreduce;
extern const Algorithm kAllgather;
extern const Algorithm kAllgatherv;
extern const Algorithm kAlltoall;
extern const Algorithm kGather;
extern const Algorithm kScatter;
extern const Algorithm kReduceScatter;
extern const Algorithm kReduceScatterBlock;
extern const Algorithm kScan;
extern const Algorithm kExscan;
extern const Algorithm kAllreduceSliced;

Component Describe();

}  // namespace lamina::collective::hierarchical
