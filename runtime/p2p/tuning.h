// SPDX-License-Identifier: BSD-3-Clause
// The constants of p2p that nobody has to change. How they were chosen is in test/bench/results.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamina::p2p {

// Unexpected messages (message_pool.h).

// Every unexpected message has at least this much room for data, so that most can be used again.
inline constexpr std::size_t kMessageRoomBytesMin = 64;
// A freed message is kept for reuse unless so many are kept already or it has more room than this.
inline constexpr std::uint32_t kPooledMessagesMax = 256;
inline constexpr std::uint32_t kPooledRoomBytesMax = 4096;

// Long messages (rendezvous.h).

// Only so many peers may be asked to push, because a ring that is pushed through grows.
inline constexpr std::uint32_t kLanesWithWaysMax = 8;
// What is fetched by way of scratch comes in pieces that stay in the second-level cache.
inline constexpr std::uint64_t kUnpackedPieceBytes = 256 * 1024;

// Fetching or pushing (ways.h).

// So many messages are fetched before the first push is tried.
inline constexpr std::uint32_t kFetchedFirst = 8;
// So many messages in a row go the way that is not preferred, once in kTrialEveryMin messages. As
// long as that changes nothing, the distance doubles up to kTrialEveryMax.
inline constexpr std::uint32_t kTrials = 3;
inline constexpr std::uint32_t kTrialEveryMin = 256;
inline constexpr std::uint32_t kTrialEveryMax = 4096;
// Pushing is preferred if it would still be faster with this part of its time added.
inline constexpr std::uint64_t kPushAdvantage = 3;
// A push that takes so many times as long as usual ends the preference.
inline constexpr std::uint64_t kLateFactor = 8;
// Pushes side by side are timed together, but not more of them than this.
inline constexpr std::uint64_t kRunMessagesMax = 64;
// With every message the best time known grows by this part of itself, so that it is forgotten.
inline constexpr std::uint64_t kForgetting = 16;

// Waiting (watch.h).

// What waits for room can only go when the peer makes room, which rings no bell. So nobody sleeps
// longer than this meanwhile.
inline constexpr std::uint32_t kBlockedSleepMs = 1;
// A thread lets others run after so many polls that found nothing.
inline constexpr std::uint32_t kPollsAmongOthers = 10;
// A thread beside the one that keeps watch yields so often before it sleeps, because a switch costs
// less than a sleep and a wake.
inline constexpr std::uint32_t kYieldsBesideWatch = 10;
// After so many waits of one thread in a row the others are taken to have gone.
inline constexpr std::uint32_t kWaitsAlone = 1000;
// A program that tests in a loop on a shared CPU gives the CPU up once in so many tests.
inline constexpr std::uint32_t kVainTestsPerYield = 16;

// A program that tests in a loop is looked at once in so many tests that find nothing, and what it
// has open is noted if that was not done for so long.
inline constexpr std::uint32_t kVainTestsPerNote = 128;
inline constexpr std::uint64_t kTestsNotedEveryMs = 100;
// Tests that are so far apart belong to different loops.
inline constexpr std::uint64_t kTestsForgottenMs = 1000;

// Coming to rest (rest.h).

// A process at rest handles so many events of each transport at once.
inline constexpr std::uint32_t kEventsAtRest = 64;
// How long it takes at most until a nap is seen to have ended.
inline constexpr std::uint32_t kNapLookMs = 1;

}  // namespace lamina::p2p
