// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamina::launcher {

// A host's answer is cut after this many bytes.
inline constexpr std::size_t kAnswerBytesMax = 1 << 20;

// A job that its own timeout has ended gets this long to leave.
inline constexpr std::uint64_t kLeaveMs = 5000;

// Hosts whose clocks differ by more than this are reported.
inline constexpr std::int64_t kClockUsMax = 1'000'000;

// A launcher has to answer within this time.
inline constexpr int kAnswerMs = 2000;

// A host has to answer a ping within this time.
inline constexpr int kPingMs = 2000;

// A launcher is asked this often whether answers to a ping have come.
inline constexpr int kAskAgainMs = 20;

// Processes that were killed are looked for again in so many rounds.
inline constexpr int kRounds = 40;

// The time between two such rounds.
inline constexpr int kRoundMs = 50;

// The stacks of so many ranks of a host are looked at together.
inline constexpr std::size_t kStacksAtOnce = 16;

// The program that shows a rank's stack gets so many seconds.
inline constexpr int kStackSeconds = 15;

}  // namespace lamina::launcher
