// SPDX-License-Identifier: BSD-3-Clause
// Collectives on a communicator of one: at most a copy.
#pragma once

#include "collectives/exec/invocation.h"

namespace lamina::collective {

void RunAlone(const Invocation& invocation);

}  // namespace lamina::collective
