// SPDX-License-Identifier: BSD-3-Clause
// Goal:   no stretch overlaps one that a member may still read, and short stretches leave room for
// many. Method: take stretches of random lengths, and compare each with all before it.
#include "collectives/board/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace lamina::collective::board {
namespace {

constexpr std::size_t kBytes = 16 << 10;
constexpr std::size_t kOperations = 8;

struct Taken {
  std::size_t begin, end;
};

TEST(Ring, AStretchOverlapsOnlyWhatMustBeFinished) {
  std::mt19937 random(4711);
  Ring ring(kBytes, kOperations);
  std::vector<Taken> taken{{0, 0}};  // by number of the operation; there is none of number 0
  for (Number number = 1; number <= 5000; ++number) {
    const std::size_t longest = random() % 2 != 0 ? 100 : kBytes / kOperations;
    const std::size_t bytes = 1 + random() % longest;
    const Ring::Stretch stretch = ring.Take(bytes, number);
    const Taken own{stretch.offset, stretch.offset + bytes};
    ASSERT_EQ(own.begin % kLineBytes, 0u);
    ASSERT_LE(own.end, kBytes);
    ASSERT_LT(stretch.before, number);
    for (Number other = stretch.before + 1; other < number; ++other)
      ASSERT_TRUE(taken[other].end <= own.begin || own.end <= taken[other].begin)
          << other << " and " << number;
    taken.push_back(own);
  }
}

TEST(Ring, AsManyHaveRoomAsWerePromisedAndMoreOfShorterOnes) {
  for (const std::size_t bytes : {kBytes / kOperations, kBytes / kOperations / 4, kLineBytes}) {
    Ring ring(kBytes, kOperations);
    EXPECT_TRUE(ring.IsShort(bytes));
    for (Number number = 1; number <= 1000; ++number) {
      const Number before = ring.Take(bytes, number).before;
      // A segment is waited for as a whole.
      const std::size_t room = (kBytes - (1 << 10)) / bytes;
      EXPECT_GE(number - before, std::min<Number>(number, room)) << bytes;
    }
  }
  EXPECT_FALSE(Ring(kBytes, kOperations).IsShort(kBytes / kOperations + 1));
}

TEST(Ring, TheNextOneIsWhereItWasSaidToBe) {
  Ring ring(kBytes, kOperations);
  for (Number number = 1; number <= 100; ++number) {
    const std::size_t next = ring.Next(1000);
    EXPECT_EQ(ring.Take(1000, number).offset, next);
  }
}

}  // namespace
}  // namespace lamina::collective::board
