// SPDX-License-Identifier: BSD-3-Clause
// The ssh spawner starts shepherds on any list of hosts, each over an ssh of its own.
#pragma once

#include "launcher/spawn/spawner.h"

namespace lamina::launcher::ssh {

SpawnerComponent Describe();

}  // namespace lamina::launcher::ssh
