// SPDX-License-Identifier: BSD-3-Clause
// Parameters that say how patient the launcher is.
#pragma once

#include <cstdint>
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

}  // namespace lamina::launcher
