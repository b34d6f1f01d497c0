// SPDX-License-Identifier: BSD-3-Clause
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
    param::Describe("transport.self.queue_bytes", &Params::queue_bytes, Unit::kBytes, 2048u,
                    16u * 1024 * 1024,
                    "Room for frames that were sent and not yet delivered. A quarter of it is the "
                    "largest frame."),
    param::Describe("transport.self.eager_bytes_max", &Params::eager_bytes_max, Unit::kBytes, 256u,
                    4u * 1024 * 1024, "Up to here copying twice beats a rendezvous with one copy."),
};

}  // namespace lamina::self
