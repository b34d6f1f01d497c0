// SPDX-License-Identifier: BSD-3-Clause
// A shepherd is the part of mpiexec that runs on another node, in the foreground, as a child of
// sshd, slurmstepd or whatever started it. It starts that node's ranks, serves PMIx to them,
// carries their input and output over the one stream it was started with, and dies with it. It
// listens to nobody but its own ranks and leaves nothing.
#pragma once

#include <string_view>

#include "checkpoint/checkpoint_engine.h"
#include "launcher/spawn/spawner.h"
#include "runtime/base/environment.h"

namespace lamina::launcher {

struct ShepherdContext {
  const Environment& environment;
  const SpawnerRegistry& spawners;
  std::string_view local_spawner;  // the one of them that starts ranks on this machine
  const checkpoint::EngineRegistry& engines;
};

// Returns the exit status: 0 if the launcher was told goodbye.
int RunShepherd(const ShepherdContext& context);

}  // namespace lamina::launcher
