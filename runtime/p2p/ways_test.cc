// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the faster way is found, kept, and given up when it is no longer the faster one; trials
// are
//         few.
// Method: a play: each way takes the time that the test says.
#include "runtime/p2p/ways.h"

#include <gtest/gtest.h>

namespace lamina::p2p {
namespace {

// How many of `messages` were pushed.
int Pushed(Ways* ways, std::uint64_t bytes, int messages, std::uint64_t fetch_ns,
           std::uint64_t push_ns) {
  int pushed = 0;
  for (int i = 0; i < messages; ++i) {
    const Way way = ways->Choose(bytes);
    pushed += way == Way::kPush ? 1 : 0;
    ways->Note(way, bytes, way == Way::kPush ? push_ns : fetch_ns);
  }
  return pushed;
}

TEST(Ways, FetchesWhatIsFasterFetched) {
  Ways ways;
  EXPECT_EQ(Pushed(&ways, 1 << 20, 8, 50'000, 90'000), 0) << "none before the first trial";
  EXPECT_LE(Pushed(&ways, 1 << 20, 2048, 50'000, 90'000), 2048 / 80);
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
    const bool first = way == Way::kPush && tried++ == 0;  // the ring's pages are new
    ways.Note(way, 1 << 20, way == Way::kFetch ? 50'000 : first ? 300'000 : 30'000);
  }
  EXPECT_EQ(ways.Choose(1 << 20), Way::kPush);
}

TEST(Ways, ASenderThatIsBusyElsewhereIsFetchedFrom) {
  Ways ways;
  Pushed(&ways, 1 << 20, 50, 50'000, 30'000);
  ASSERT_EQ(ways.Choose(1 << 20), Way::kPush);
  ways.Note(Way::kPush, 1 << 20, 10'000'000);
  EXPECT_EQ(ways.Choose(1 << 20), Way::kFetch);
  EXPECT_LE(Pushed(&ways, 1 << 20, 2048, 50'000, 10'000'000), 2048 / 80);
}

TEST(Ways, AWayThatGetsSlowerIsLeft) {
  Ways ways;
  Pushed(&ways, 1 << 20, 50, 50'000, 30'000);
  EXPECT_LE(Pushed(&ways, 1 << 20, 100, 50'000, 90'000), 20);
}

TEST(Ways, WhatIsNotKnownYetIsNotPreferred) {
  Ways ways;
  Pushed(&ways, 64 << 10, 8, 5'000, 0);
  int pushed = 0;  // a window of messages, of which none has come yet
  for (int i = 0; i < 64; ++i) pushed += ways.Choose(64 << 10) == Way::kPush ? 1 : 0;
  EXPECT_EQ(pushed, 3);
}

TEST(Ways, AnySizeHasAPlace) {
  Ways ways;
  for (int n = 0; n < 63; ++n) {
    ways.Note(ways.Choose(std::uint64_t{1} << n), std::uint64_t{1} << n, 1000);
    ways.Choose((std::uint64_t{1} << n) + 1);
  }
}

}  // namespace
}  // namespace lamina::p2p
