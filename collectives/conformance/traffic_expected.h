// SPDX-License-Identifier: BSD-3-Clause
// How many messages and elements each algorithm moves in all, according to its cost statement.
#pragma once

#include <cstdint>
#include <optional>

#include "collectives/conformance/scenario.h"

namespace lamina::collective {

struct Moved {
  std::int64_t messages = 0;
  std::int64_t elements = 0;
  bool operator==(const Moved&) const = default;
};

// Returns nothing for an algorithm without an entry, which its author has to write.
std::optional<Moved> Expected(const Algorithm& algorithm, const Case& one,
                              const Scenario& scenario);

}  // namespace lamina::collective
