// SPDX-License-Identifier: BSD-3-Clause
// The spawner that forks on this node.
#pragma once

#include "launcher/spawn/spawner.h"

namespace lamina::launcher::local {

SpawnerComponent Describe();

}  // namespace lamina::launcher::local
