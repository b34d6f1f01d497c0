// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamina::launcher {

// An agent whose stream has ended may take this long to say why and to end.
inline constexpr std::uint64_t kReasonMs = 1000;

// The pause before a second attempt at a host; it doubles with every further attempt.
inline constexpr std::uint64_t kFirstRetryMs = 100;

// No pause between two attempts is longer.
inline constexpr std::uint64_t kRetryMsMax = 5000;

// A host at which an attempt ended by a time-out is tried this often.
inline constexpr std::uint32_t kSlowAttempts = 2;

// Once a host could not be reached, the others get this long, so that all that cannot are named.
inline constexpr std::uint64_t kOthersMs = 5000;

// A message names this many hosts that could not be reached, each with its reason.
inline constexpr std::size_t kReasonsNamed = 16;

// A manager that has not answered after this time is not waited for, nor are the words of its
// command about a host that was lost.
inline constexpr std::uint64_t kQuestionMs = 5000;

// What an agent says within this time, it has said without waiting for anybody.
inline constexpr std::uint64_t kAtOnceMs = 1000;

// Where nothing tells of an agent's end, it is looked for this often.
inline constexpr std::uint64_t kLookMs = 20;

// Agents that have nothing to do any more get this long to end by themselves.
inline constexpr int kPartingMs = 1000;

// A message about many lost hosts gives this many names.
inline constexpr std::size_t kHostsNamed = 4;

// A rank's stream may be this far ahead of its reader at the other end.
inline constexpr std::uint32_t kWindowBytes = 256u << 10;

// A pipe is read in pieces of this size.
inline constexpr std::size_t kPieceBytes = 64u << 10;

// A reader that keeps up grants no less than this at a time.
inline constexpr std::uint32_t kGrantBytesMin = 64u << 10;

// Exit records that say nothing alarming wait this long for others, and travel together.
inline constexpr std::uint64_t kGatherMs = 20;

// This many of the last events of a rank travel with the news of its end.
inline constexpr std::size_t kEventsTold = 32;

// A shepherd waits this long for the launcher's first words.
inline constexpr int kOpeningMs = 30'000;

// A shepherd that calls the launcher may take this long for one address.
inline constexpr int kConnectMs = 3000;

// A caller that has connected must have greeted after this time.
inline constexpr std::uint64_t kGuestMs = 10'000;

// More callers than this that have not greeted are not heard.
inline constexpr std::size_t kGuestsMax = 4096;

// This much of what an agent writes is kept for a message.
inline constexpr std::size_t kHeardBytesMax = 4096;

// This is the status of a job that does not fit a host.
inline constexpr int kBadInput = 2;

// A message quotes this many of an agent's last lines.
inline constexpr std::size_t kWordsLines = 3;

}  // namespace lamina::launcher
