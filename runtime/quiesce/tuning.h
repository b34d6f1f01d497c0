// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

#include <cstddef>

namespace lamina::quiesce {

// The agent's stack; making transports anew needs the most of it.
inline constexpr std::size_t kAgentStackBytes = 1 << 20;

// While the process settles, the agent looks this often whether something has come.
inline constexpr int kSettleMs = 1;

// The launcher answers rank 0 within this time, or is taken not to answer at all. It may have to
// write the generation before to a slow disk first.
inline constexpr int kAnswerMs = 600'000;

}  // namespace lamina::quiesce
