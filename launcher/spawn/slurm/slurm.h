// SPDX-License-Identifier: BSD-3-Clause
// Starts one shepherd on each node of a Slurm allocation by a single srun.
#pragma once

#include "launcher/spawn/spawner.h"

namespace lamina::launcher::slurm {

SpawnerComponent Describe();

}  // namespace lamina::launcher::slurm
