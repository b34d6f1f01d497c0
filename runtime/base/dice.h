// SPDX-License-Identifier: BSD-3-Clause
// What a test throws at a parser.
#pragma once

#include <gtest/gtest.h>

#include <random>

namespace lamina {

// The same throws in every run of the suite; in each round of test/fuzz others, by the seed that
// gtest shuffles with and prints.
inline std::mt19937 Dice() {
  return std::mt19937(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()));
}

}  // namespace lamina
