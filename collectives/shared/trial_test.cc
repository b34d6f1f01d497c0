// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the faster way is taken, even after that has changed, and tries stay few.
// Method: ways that take given times.
#include "collectives/shared/trial.h"

#include <gtest/gtest.h>

namespace lamina::collective::shared {
namespace {

constexpr std::uint32_t kBefore = 8;
constexpr std::uint32_t kCalls = 100;
constexpr std::uint32_t kTriesOfBoth = 2 * Trial::kTries;

// How many of so many calls took the other way.
std::uint32_t Play(Trial& trial, std::int64_t board_ns, std::int64_t other_ns,
                   std::uint32_t calls) {
  std::uint32_t others = 0;
  for (std::uint32_t call = 0; call < calls; ++call) {
    const bool other = trial.other();
    others += other ? 1 : 0;
    if (trial.trying()) {
      trial.Took(other ? other_ns : board_ns);
    } else {
      trial.Count();
    }
  }
  return others;
}

TEST(Trial, TheFasterWayIsTaken) {
  for (const bool other_is_faster : {false, true}) {
    Trial trial(kBefore, kCalls);
    const std::int64_t other_ns = other_is_faster ? 10 : 30;
    EXPECT_EQ(Play(trial, 20, other_ns, kBefore), 0u);
    EXPECT_TRUE(trial.trying());
    EXPECT_EQ(Play(trial, 20, other_ns, kTriesOfBoth), Trial::kTries);
    EXPECT_FALSE(trial.trying());
    EXPECT_EQ(Play(trial, 20, other_ns, kCalls), other_is_faster ? kCalls : 0);
    EXPECT_TRUE(trial.trying());
  }
}

TEST(Trial, WhatBecameFasterIsTakenAfterTheNextTries) {
  Trial trial(kBefore, kCalls);
  Play(trial, 10, 20, kBefore + kTriesOfBoth + kCalls);
  EXPECT_EQ(Play(trial, 40, 20, kTriesOfBoth), Trial::kTries);
  EXPECT_EQ(Play(trial, 40, 20, kCalls), kCalls);
}

TEST(Trial, OneDisturbedTryDoesNotDecide) {
  Trial trial(kBefore, kCalls);
  Play(trial, 1, 1, kBefore);
  for (const std::int64_t ns : {500, 20, 10, 500, 500, 20}) trial.Took(ns);
  EXPECT_FALSE(trial.trying());
  EXPECT_FALSE(trial.other());
}

}  // namespace
}  // namespace lamina::collective::shared
