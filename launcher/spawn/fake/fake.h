// SPDX-License-Identifier: BSD-3-Clause
// This spawner only pretends: its hosts and processes are made of timers and fail on request.
#pragma once

#include "launcher/spawn/spawner.h"

namespace lamina::launcher::fake {

SpawnerComponent Describe();

}  // namespace lamina::launcher::fake
