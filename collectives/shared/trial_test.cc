// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the fastest way is taken, even after that has changed, and tries stay few.
// Method: ways that take given times.
#include "collectives/shared/trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lamina::collective::shared {
namespace {

constexpr std::uint32_t kBefore = 8;
constexpr std::uint32_t kTries = 6;
constexpr std::uint32_t kCalls = 100;
constexpr Trial::Pace kPace{kBefore, kTries, kCalls};

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
  for (const std::int64_t ns : {500, 10, 500, 500, 500, 20, 20, 20, 500, 500, 500, 500})
    trial.Took(ns);
  EXPECT_FALSE(trial.trying());
  EXPECT_EQ(trial.way(), 0u);
}

}  // namespace
}  // namespace lamina::collective::shared
