// SPDX-License-Identifier: BSD-3-Clause
// Tells people, in a table, which algorithm would be chosen for which call. Starts nothing.
#pragma once

#include <string>

#include "collectives/select/library.h"

namespace lamina::collective {

// The table for a communicator of `ranks` ranks, `per_node` consecutive ones on each node. For each
// operation and range of sizes it has the algorithm, its predicted time and why it is taken.
// kInvalid: there is no such shape.
Result<std::string> Explain(const Library& library, Rank ranks, Rank per_node);

}  // namespace lamina::collective
