// SPDX-License-Identifier: BSD-3-Clause
// The spawner that only pretends: hosts and processes made of timers, which fail on request.
#pragma once

#include "launcher/spawn/spawner.h"

namespace lamina::launcher::fake {

SpawnerComponent Describe();

}  // namespace lamina::launcher::fake
