// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the faster way is found, kept, and given up when it is no longer the faster one, and
// trials
//         are few.
// Method: messages are played, and each way takes the time that the test says.
#include "runtime/p2p/ways.h"

#include <gtest/gtest.h>

namespace lamina::p2p {
namespace {

std::uint64_t now_ns = 1;

// Plays one message.
void Note(Ways* ways, Way way, std::uint64_t bytes, std::uint64_t ns) {
  const std::uint64_t began_ns = now_ns;
  if (way == Way::kPush) ways->Granted(began_ns);
  now_ns += ns;
  if (way == Way::kPush)
    ways->Pushed(bytes, now_ns);
  else
    ways->Fetched(bytes, began_ns, now_ns);
}

// Plays `messages` messages one after another, and returns how many were pushed.
int Pushed(Ways* ways, std::uint64_t bytes, int messages, std::uint64_t fetch_ns,
           std::uint64_t push_ns) {
  int pushed = 0;
  for (int i = 0; i < messages; ++i) {
    const Way way = ways->Choose(bytes);
    pushed += way == Way::kPush ? 1 : 0;
    Note(ways, way, bytes, way == Way::kPush ? push_ns : fetch_ns);
  }
  return pushed;
}

// Does the same in windows: messages that are pushed come together after all others were fetched.
int PushedInWindows(Ways* ways, std::uint64_t bytes, int windows, int messages,
                    std::uint64_t fetch_ns, std::uint64_t push_ns) {
  int all_pushed = 0;
  for (int window = 0; window < windows; ++window) {
    int pushed = 0;
    for (int i = 0; i < messages; ++i) {
      if (ways->Choose(bytes) == Way::kFetch) {
        Note(ways, Way::kFetch, bytes, fetch_ns);
        continue;
      }
      ways->Granted(now_ns);
      ++pushed;
    }
    now_ns += static_cast<std::uint64_t>(pushed) * push_ns;
    for (int i = 0; i < pushed; ++i) ways->Pushed(bytes, now_ns += i > 0);
    all_pushed += pushed;
  }
  return all_pushed;
}

TEST(Ways, FetchesWhatIsFasterFetched) {
  Ways ways;
  EXPECT_EQ(Pushed(&ways, 1 << 20, 8, 50'000, 90'000), 0) << "none before the first trial";
  EXPECT_LE(Pushed(&ways, 1 << 20, 2048, 50'000, 90'000), 2048 / 80);
}

TEST(Ways, TrialsThatChangeNothingGetRare) {
  Ways ways;
  Pushed(&ways, 1 << 20, 10'000, 50'000, 90'000);
  EXPECT_LE(Pushed(&ways, 1 << 20, 100'000, 50'000, 90'000), 100'000 / 1000);
  EXPECT_GE(Pushed(&ways, 1 << 20, 20'000, 50'000, 20'000), 20'000 / 2) << "still looks";
}

TEST(Ways, PushesWhatIsFasterPushed) {
  Ways ways;
  EXPECT_GE(Pushed(&ways, 1 << 20, 2048, 50'000, 30'000), 2048 - 2048 / 80 - 8);
}

TEST(Ways, EverySizeForItself) {
  Ways ways;
  Pushed(&ways, 64 << 10, 100, 5'000, 2'800);
  Pushed(&ways, 4 << 20, 100, 230'000, 300'000);
  EXPECT_EQ(ways.Choose(64 << 10), Way::kPush);
  EXPECT_EQ(ways.Choose(4 << 20), Way::kFetch);
}

TEST(Ways, ASlowFirstTrialIsNotTheLastWord) {
  Ways ways;
  for (int i = 0; i < 20; ++i) {
    const Way way = ways.Choose(1 << 20);
    static int tried = 0;
    const bool first = way == Way::kPush && tried++ == 0;  // the pages of the ring are new
    Note(&ways, way, 1 << 20, way == Way::kFetch ? 50'000 : first ? 300'000 : 30'000);
  }
  EXPECT_EQ(ways.Choose(1 << 20), Way::kPush);
}

TEST(Ways, ASenderThatIsBusyElsewhereIsFetchedFrom) {
  Ways ways;
  Pushed(&ways, 1 << 20, 50, 50'000, 30'000);
  ASSERT_EQ(ways.Choose(1 << 20), Way::kPush);
  Note(&ways, Way::kPush, 1 << 20, 10'000'000);
  EXPECT_EQ(ways.Choose(1 << 20), Way::kFetch);
  EXPECT_LE(Pushed(&ways, 1 << 20, 2048, 50'000, 10'000'000), 2048 / 80);
}

TEST(Ways, OneFetchThatWasDisturbedChangesNothing) {
  Ways ways;
  Pushed(&ways, 1 << 20, 100, 50'000, 90'000);
  Note(&ways, Way::kFetch, 1 << 20, 10'000'000);
  EXPECT_EQ(Pushed(&ways, 1 << 20, 100, 50'000, 90'000), 0);
}

TEST(Ways, WhatIsHardlyFasterPushedIsFetched) {
  Ways ways;
  EXPECT_LE(Pushed(&ways, 64 << 10, 2048, 4'100, 3'600), 2048 / 80);
}

TEST(Ways, ABurstAtTheEndOfAWindowIsNotItsTime) {
  const int windows = 100, messages = 64, all = windows * messages;
  Ways fetched;
  EXPECT_LE(PushedInWindows(&fetched, 1 << 20, windows, messages, 25'000, 62'000), all / 80);
  Ways pushed;
  EXPECT_GE(PushedInWindows(&pushed, 1 << 20, windows, messages, 62'000, 25'000), all * 9 / 10);
  EXPECT_LE(PushedInWindows(&pushed, 1 << 20, windows, messages, 25'000, 62'000), all / 10);
}

TEST(Ways, AStreamWithoutAnEndIsTimedToo) {
  Ways ways;
  Pushed(&ways, 1 << 20, 50, 50'000, 30'000);
  ASSERT_EQ(ways.Choose(1 << 20), Way::kPush);
  ways.Granted(now_ns);
  for (int i = 0; i < 100; ++i) {
    ways.Granted(now_ns);
    ways.Pushed(1 << 20, now_ns += 90'000);
  }
  EXPECT_EQ(ways.Choose(1 << 20), Way::kFetch);
}

TEST(Ways, AWayThatGetsSlowerIsLeft) {
  Ways ways;
  Pushed(&ways, 1 << 20, 50, 50'000, 30'000);
  EXPECT_LE(Pushed(&ways, 1 << 20, 100, 50'000, 90'000), 20);
}

TEST(Ways, WhatIsNotKnownYetIsNotPreferred) {
  Ways ways;
  Pushed(&ways, 64 << 10, 8, 5'000, 0);
  int pushed = 0;  // none of the window has arrived yet
  for (int i = 0; i < 64; ++i) pushed += ways.Choose(64 << 10) == Way::kPush ? 1 : 0;
  EXPECT_EQ(pushed, 3);
}

TEST(Ways, AnySizeHasAPlace) {
  Ways ways;
  for (int n = 0; n < 63; ++n) {
    Note(&ways, ways.Choose(std::uint64_t{1} << n), std::uint64_t{1} << n, 1000);
    ways.Choose((std::uint64_t{1} << n) + 1);
  }
}

}  // namespace
}  // namespace lamina::p2p
