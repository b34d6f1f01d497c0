// SPDX-License-Identifier: BSD-3-Clause
// Tests of parsers draw the bytes they throw at them from here.
#pragma once

#include <gtest/gtest.h>

#include <random>

namespace lamina {

// Every run of the suite draws the same bytes. Each round of test/fuzz draws others, from the seed
// that gtest shuffles with and prints.
inline std::mt19937 Dice() {
  return std::mt19937(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()));
}

}  // namespace lamina
