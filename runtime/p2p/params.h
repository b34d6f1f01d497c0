// SPDX-License-Identifier: BSD-3-Clause
// The parameters of p2p.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::p2p {

struct Params {
  std::uint32_t poll_events_max = 16;
  std::uint32_t goodbye_timeout_ms = 10000;
  std::string push = "auto";
};
inline constexpr std::tuple kFields{
    param::Describe("p2p.engine.poll_events_max", &Params::poll_events_max, Unit::kCount, 1u, 4096u,
                    "Frames handled per transport and poll. More of them raise the throughput of "
                    "many short messages and make a single MPI_Test take longer."),
    param::Describe("p2p.engine.goodbye_timeout_ms", &Params::goodbye_timeout_ms,
                    Unit::kMilliseconds, 1u, 600000u,
                    "How long MPI_Finalize waits for network peers to say goodbye."),
    param::Describe(
        "p2p.engine.push", &Params::push, "auto|never",
        "Whether long messages on a node may be copied through the ring where that proves faster "
        "than reading the sender's memory. With auto each of 8 peers may cost 512 KiB."),
};

}  // namespace lamina::p2p
