// SPDX-License-Identifier: BSD-3-Clause
// Carries out a plan: starts the ranks, serves PMIx to them, moves their input and output, passes
// signals on, and ends when the last of them has.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/checkpoint_engine.h"
#include "checkpoint/store/claim.h"
#include "launcher/plan/plan.h"
#include "launcher/spawn/spawner.h"
#include "launcher/supervise/verdict.h"
#include "runtime/base/environment.h"
#include "runtime/base/param.h"

namespace lamina::launcher {

class Tie;

struct RunContext {
  const Environment& environment;   // of the launcher itself
  const param::Settings& settings;  // for launcher.supervise.* and the spawner's own parameters
  const SpawnerRegistry& spawners;  // plan.options.spawner names one of them
  // The hwloc topology that placement has loaded (without I/O objects); if it is null, the PMIx
  // server loads one by itself. It is borrowed. Its type is hwloc_topology_t, left out here to keep
  // hwloc out of this header.
  void* topology = nullptr;
  const checkpoint::EngineRegistry* engines = nullptr;  // null: no job is saved
  // Ties this launcher to the process that has started it for MPI_Comm_spawn; null if none has.
  Tie* tie = nullptr;
  // What the launchers of jobs that ranks spawn are told as well.
  std::vector<std::string> further_words = {};
  // What keeps the directory of saved states for this job. It is released when the job has been
  // saved to end, and otherwise outlives the job. Null: nothing does.
  checkpoint::Claim* claim = nullptr;
  Loss* loss = nullptr;  // is told what the job was lost by; null: nobody asks
};

// Runs the job to its end and returns the exit status for the user's shell, as the table in the
// README has it: 0 if every rank returned 0, else what the first failure gives. Everything that
// failed has been said on standard error, once.
int RunPlan(const Plan& plan, const RunContext& context);

// The table of launcher.supervise.* parameters with current values, for `lamina info --params`.
std::vector<param::Row> SuperviseParameters(const param::Settings& settings);

}  // namespace lamina::launcher
