// SPDX-License-Identifier: BSD-3-Clause
// What a user may change about messages from a process to itself.
#pragma once

#include <cstdint>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::self {

struct Params {
  std::uint32_t queue_bytes = 64u * 1024;
  std::uint32_t eager_bytes_max = 4u * 1024;
};
inline constexpr std::tuple kFields{
    param::Describe(
        "transport.self.queue_bytes", &Params::queue_bytes, Unit::kBytes, 2048u, 16u * 1024 * 1024,
        "Room for frames that were sent and not yet delivered; a quarter of it is the largest "
        "frame. Raise it if a rank sends itself many messages before it receives them."),
    param::Describe("transport.self.eager_bytes_max", &Params::eager_bytes_max, Unit::kBytes, 256u,
                    4u * 1024 * 1024,
                    "Messages up to this are copied twice at once; longer ones are announced and "
                    "copied once. Raise it if announcing is the slower way."),
};

}  // namespace lamina::self
