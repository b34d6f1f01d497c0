// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

#include <sys/time.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace lamina::launcher {

// Pipes that are silent for this long after the last rank has ended are held by somebody out of our
// reach, and are given up.
inline constexpr std::uint64_t kDrainMs = 1000;

// A person at a terminal is told which hosts are waited for once the start takes this long.
inline constexpr std::uint64_t kSlowStartMs = 1000;

// The line that tells it is written again this often.
inline constexpr std::uint64_t kProgressMs = 250;

// With -v, this many of the last events of a rank that failed are shown.
inline constexpr std::size_t kEventsShown = 10;

// The line about the start gives this many names of hosts.
inline constexpr std::size_t kNamesShown = 2;

// Whoever has no terminal is told once that the start takes longer than this.
inline constexpr std::uint64_t kVerySlowStartMs = 5000;

// That one line gives this many names.
inline constexpr std::size_t kNamesSaid = 16;

// Another launcher on this machine has to answer within this time.
inline constexpr int kTieTimeoutMs = 1000;

// The launcher of a parent has this long to hear that a job which shares its fate has failed. It
// may be one of many that start at the same time.
inline constexpr int kLinkedTimeoutMs = 20'000;

// When a job has run out of time, at most so many lines say for what its ranks wait.
inline constexpr std::size_t kReasonsMax = 24;

// Whoever finds lines of source for a profile has this long.
inline constexpr std::chrono::milliseconds kLinesLimit{1800};

// The hosts of a job that is traced are asked for their clocks this often.
inline constexpr std::uint64_t kAskClocksMs = 500;

// With --hang-after the ranks are looked at this often.
inline constexpr std::uint64_t kLookForHangMs = 250;

// A look that comes so late says that this process was stopped, or starved.
inline constexpr std::uint64_t kHangLookLateMs = 2000;

// A job whose parent has finalized and ended, and which nobody else looks after, may take this long
// to end as well.
inline constexpr timeval kOrphanLimit{60, 0};

}  // namespace lamina::launcher
