// SPDX-License-Identifier: BSD-3-Clause
// Moves one shepherd to each node of a BProc machine, by a single call from its front end.
#pragma once

#include "launcher/spawn/spawner.h"

namespace lamina::launcher::bproc {

SpawnerComponent Describe();

}  // namespace lamina::launcher::bproc
