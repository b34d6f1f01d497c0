// SPDX-License-Identifier: BSD-3-Clause
// Starts one shepherd on each host of a PBS job through its task manager (TM).
#pragma once

#include "launcher/spawn/spawner.h"

namespace lamina::launcher::pbs {

SpawnerComponent Describe();

}  // namespace lamina::launcher::pbs
