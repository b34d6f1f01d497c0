// SPDX-License-Identifier: BSD-3-Clause
// Collectives of ranks that share a node, in memory that they share: a component that convenes
// meetings and has no plans.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective::board {

Component Describe();

}  // namespace lamina::collective::board
