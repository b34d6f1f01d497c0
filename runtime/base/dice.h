// SPDX-License-Identifier: BSD-3-Clause
// Tests that throw random input at something draw it from here.
#pragma once

#include <gtest/gtest.h>

#include <random>

namespace lamina {

// Every run of the suite draws the same. With --gtest_shuffle it is something else each time, from
// the seed that gtest prints.
inline std::mt19937 Dice() {
  return std::mt19937(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()));
}

}  // namespace lamina
