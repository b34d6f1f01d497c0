// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a roll tells what was put into it, and bytes from strangers do no harm.
// Method: rolls to and fro; every beginning of one; bytes at random from a seed.
#include "runtime/agreement/roll.h"

#include <gtest/gtest.h>

#include <random>

namespace lamina::agreement {
namespace {

std::vector<p2p::Introduction> Example() {
  return {{transport::ProcessName{0x0102030405060708u}, {std::byte{9}, std::byte{10}}},
          {transport::ProcessName{7}, {}}};
}

TEST(RollTest, ToAndFro) {
  const Result<std::vector<p2p::Introduction>> read = ReadRoll(RollOf(Example()));
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].name, Example()[i].name);
    EXPECT_EQ((*read)[i].card, Example()[i].card);
  }
}

TEST(RollTest, Bytes) {
  const std::vector<std::byte> roll = RollOf(Example());
  const unsigned char expected[] = {2, 0, 0,  0, 8, 7, 6, 5, 4, 3, 2, 1, 2, 0, 0,
                                    0, 9, 10, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  ASSERT_EQ(roll.size(), sizeof expected);
  for (std::size_t i = 0; i < roll.size(); ++i) EXPECT_EQ(roll[i], std::byte{expected[i]}) << i;
}

TEST(RollTest, APieceOfOneIsNone) {
  std::vector<std::byte> roll = RollOf(Example());
  for (std::size_t bytes = 0; bytes < roll.size(); ++bytes)
    EXPECT_FALSE(ReadRoll(std::span(roll).first(bytes)).ok()) << bytes;
  roll.push_back(std::byte{0});
  EXPECT_FALSE(ReadRoll(roll).ok());
}

TEST(RollTest, StrangeBytesDoNoHarm) {
  std::mt19937 random(4711);
  for (int turn = 0; turn < 20000; ++turn) {
    std::vector<std::byte> roll(random() % 64);
    for (std::byte& byte : roll) byte = std::byte{static_cast<unsigned char>(random() % 4)};
    static_cast<void>(ReadRoll(roll));
  }
}

}  // namespace
}  // namespace lamina::agreement
