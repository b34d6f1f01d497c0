// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the fastest way is taken, even after another one has become the fastest, and tries are
// few. Method: the ways take given times.
#include "collectives/board/trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lamina::collective::board {
namespace {

constexpr std::uint32_t kBefore = 8;
constexpr std::uint32_t kInVain = 5;
constexpr std::uint32_t kTries = 1 + kInVain;  // for a way that always takes the same time
constexpr std::uint32_t kCalls = 100;
constexpr Trial::Pace kPace{kBefore, kInVain, kCalls};

using Taken = std::vector<std::uint32_t>;

// How many of so many calls took each way, where way i takes ns[i].
Taken Play(Trial& trial, const std::vector<std::int64_t>& ns, std::size_t calls) {
  Taken taken(ns.size());
  for (std::size_t call = 0; call < calls; ++call) {
    const std::size_t way = trial.way();
    ++taken[way];
    if (trial.trying()) {
      trial.Took(ns[way]);
    } else {
      trial.Count();
    }
  }
  return taken;
}

TEST(Trial, TheFastestWayIsTaken) {
  for (const std::vector<std::int64_t>& ns :
       {std::vector<std::int64_t>{20, 30}, {20, 10}, {20, 30, 40}, {20, 10, 30}, {20, 30, 10}}) {
    const std::size_t ways = ns.size();
    const auto fastest =
        static_cast<std::size_t>(std::min_element(ns.begin(), ns.end()) - ns.begin());
    Trial trial(ways, kPace);
    Taken before(ways), after(ways);
    before[0] = kBefore;
    after[fastest] = kCalls;
    EXPECT_EQ(Play(trial, ns, kBefore), before);
    EXPECT_TRUE(trial.trying());
    EXPECT_EQ(Play(trial, ns, ways * kTries), Taken(ways, kTries));
    EXPECT_FALSE(trial.trying());
    EXPECT_EQ(Play(trial, ns, kCalls), after);
    EXPECT_TRUE(trial.trying());
  }
}

TEST(Trial, WhatBecameFasterIsTakenAfterTheNextTries) {
  Trial trial(2, kPace);
  Play(trial, {10, 20}, kBefore + 2 * kTries + kCalls);
  EXPECT_EQ(Play(trial, {40, 20}, 2 * kTries), Taken(2, kTries));
  EXPECT_EQ(Play(trial, {40, 20}, kCalls), (Taken{0, kCalls}));
}

TEST(Trial, OneDisturbedTryDoesNotDecide) {
  Trial trial(2, kPace);
  Play(trial, {1, 1}, kBefore);
  for (const std::int64_t ns : {500, 10, 500, 500, 500, 20, 20}) trial.Took(ns);
  for (const std::int64_t ns : {20, 20, 500, 500, 500, 500}) trial.Took(ns);
  EXPECT_FALSE(trial.trying());
  EXPECT_EQ(trial.way(), 0u);
}

// The times of calls in their order. In the end way 1 takes less time.
TEST(Trial, AWayIsTriedAsLongAsThatBringsSomething) {
  Trial trial(2, {0, 2, kCalls});
  for (const std::int64_t ns : {5562, 4824, 4715, 4766}) {
    EXPECT_EQ(trial.way(), 0u);
    trial.Took(ns);
  }
  for (const std::int64_t ns : {5756, 6505, 4846, 4256, 3815, 3541, 3486, 3500}) {
    EXPECT_TRUE(trial.trying());
    EXPECT_EQ(trial.way(), 1u);
    trial.Took(ns);
  }
  EXPECT_FALSE(trial.trying());
  EXPECT_EQ(trial.way(), 1u);
}

TEST(Trial, TriesEndHoweverMuchTheyBring) {
  Trial trial(2, kPace);
  Play(trial, {1, 1}, kBefore);
  std::int64_t ns = 1 << 30;
  for (std::uint32_t tries = 0; tries < 2 * kTriesMax; ++tries) {
    EXPECT_TRUE(trial.trying());
    trial.Took(ns);
    ns -= ns / 16;
  }
  EXPECT_FALSE(trial.trying());
}

}  // namespace
}  // namespace lamina::collective::board
