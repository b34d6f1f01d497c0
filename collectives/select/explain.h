// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm would be chosen for what, as a table for people. Starts nothing.
#pragma once

#include <string>

#include "collectives/select/library.h"

namespace lamina::collective {

// For a communicator of `ranks` ranks, `per_node` on each node in blocks: by operation and range of
// sizes, the algorithm, its predicted time and why it is taken. kInvalid: there is no such shape.
Result<std::string> Explain(const Library& library, Rank ranks, Rank per_node);

}  // namespace lamina::collective
