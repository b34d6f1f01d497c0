// SPDX-License-Identifier: BSD-3-Clause
// How many messages and elements each algorithm moves in all, by its cost statement.
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

// Nothing for an algorithm that has no entry: its author has to write one.
std::optional<Moved> Expected(const Algorithm& algorithm, const Case& one,
                              const Scenario& scenario);

}  // namespace lamina::collective
