// SPDX-License-Identifier: BSD-3-Clause
// The Spawner for hosts that the user names, each reached by one command whose standard input and
// output are the stream to its shepherd.
#pragma once

#include <functional>
#include <memory>

#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/spawner.h"

namespace lamina::launcher {

using MakeStarter = std::function<std::unique_ptr<ShepherdStarter>()>;

std::unique_ptr<Spawner> MakePipedSpawner(MakeStarter make_starter, const SpawnContext& context);

}  // namespace lamina::launcher
