// SPDX-License-Identifier: BSD-3-Clause
// The exec spawner starts shepherds through any command that runs another one somewhere and passes
// its standard input and output on.
#pragma once

#include "launcher/spawn/spawner.h"

namespace lamina::launcher::exec {

SpawnerComponent Describe();

}  // namespace lamina::launcher::exec
