// SPDX-License-Identifier: BSD-3-Clause
// What a user may change about lamina/sr.h, where the program leaves it open.
#pragma once

#include <cstdint>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::sr {

struct Params {
  // Such a message has 4096 bytes with its header in most transports' shortest form.
  std::uint32_t buffer_bytes = 4096 - 64;
  std::uint32_t pool_bytes = 1u << 20;
  std::uint32_t exit_ms = 60'000;
  bool watches = false;
};
inline constexpr std::tuple kFields{
    param::Describe("sr.buffer_bytes", &Params::buffer_bytes, Unit::kBytes, 64u, 1u << 30,
                    "Room of a usual message of lamina/sr.h, of programs that do not say it "
                    "themselves. Longer ones are fewer, but may need the receiver's consent."),
    param::Describe("sr.pool_bytes", &Params::pool_bytes, Unit::kBytes, 0u, 1u << 30,
                    "Memory of each node for usual messages of lamina/sr.h, out of which other "
                    "nodes of the host copy them. When it is used up, messages are copied twice."),
    param::Describe("sr.exit_ms", &Params::exit_ms, Unit::kMilliseconds, 1u, 86'400'000u,
                    "For so long lamina_sr_exit waits for a node that does not come, and then "
                    "aborts the job. Raise it where nodes compute long without receiving."),
    param::Describe("sr.watches", &Params::watches,
                    "A thread of each node waits for messages of lamina/sr.h, also in programs "
                    "that do not ask for it. lamina_sr_arrived is then always right; a receive "
                    "takes longer."),
};

}  // namespace lamina::sr
