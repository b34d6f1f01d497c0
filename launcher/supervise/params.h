// SPDX-License-Identifier: BSD-3-Clause
// Parameters that say how patient the launcher is, and how jobs are saved.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::launcher {

struct SuperviseParams {
  std::uint32_t grace_ms = 5000;
  std::uint32_t hint_ms = 1000;
};
inline constexpr std::tuple kSuperviseFields{
    param::Describe(
        "launcher.supervise.grace_ms", &SuperviseParams::grace_ms, Unit::kMilliseconds, 0u,
        3'600'000u,
        "When the job has to end, ranks get SIGTERM and, after this time, SIGKILL. Raise it where "
        "ranks write files on SIGTERM, but keep it below a batch system's own patience."),
    param::Describe("launcher.supervise.hint_ms", &SuperviseParams::hint_ms, Unit::kMilliseconds,
                    0u, 3'600'000u,
                    "After ctrl-C, how long to wait before saying that a second one kills the "
                    "ranks. 0: never."),
};

struct CheckpointParams {
  std::string engine = "auto";
  std::uint32_t stop_ms = 10'000;
  std::string end_command;
  std::string local;
  std::uint32_t every = 1;
};
inline constexpr std::tuple kCheckpointFields{
    param::Describe("checkpoint.engine.use", &CheckpointParams::engine, "",
                    "What saves the processes of a job with --checkpoint: auto, or the name of an "
                    "engine (`lamina info checkpoint` lists them)."),
    param::Describe(
        "checkpoint.stop_ms", &CheckpointParams::stop_ms, Unit::kMilliseconds, 1u, 3'600'000u,
        "How long each step of bringing a job to rest may take before the checkpoint is "
        "given up and the job goes on. Raise it where a reduction function of the "
        "program computes for longer."),
    param::Describe("checkpoint.end_command", &CheckpointParams::end_command, "",
                    "What the shell is to do once a job has been saved and ended, for instance: "
                    "scontrol requeue $SLURM_JOB_ID"),
    param::Describe(
        "checkpoint.store.local", &CheckpointParams::local, "",
        "A fast directory, for instance /dev/shm, into which states are written first. "
        "They are copied to --checkpoint-dir, which all hosts must share, while the job "
        "goes on. Empty: none."),
    param::Describe("checkpoint.store.every", &CheckpointParams::every, Unit::kCount, 1u, 1000u,
                    "With checkpoint.store.local, each so-manieth state is copied; and the one "
                    "with which the job ends."),
};

}  // namespace lamina::launcher
