// SPDX-License-Identifier: BSD-3-Clause
// The component that is always there: every operation, on any communicator, over
// point-to-point messages only.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective::basic {

// Everything it offers; for components that build on it.
std::span<const Algorithm* const> All();

Component Describe();

}  // namespace lamina::collective::basic
