// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

namespace lamina::launcher::local {

// Processes that were killed are looked for again in so many rounds.
inline constexpr int kSweepRounds = 40;

// The time between two such rounds.
inline constexpr int kSweepRoundMs = 50;

// So many ancestors of a process are looked at.
inline constexpr int kAncestorsMax = 64;

}  // namespace lamina::launcher::local
