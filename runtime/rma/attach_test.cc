// SPDX-License-Identifier: BSD-3-Clause
// Goal:   memory is held from attach to detach, overlaps are refused, readers never see half a
//         change, and there is no limit.
// Method: random regions against a map; a reader beside an owner that attaches and detaches.
#include "runtime/rma/attach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace lamina::rma {
namespace {

using SmallTable = AttachTableOf<512, 8>;

TEST(Attach, HoldsWhatIsAttached) {
  const auto table = std::make_unique<SmallTable>();
  std::map<std::uint64_t, std::uint64_t> model;
  std::minstd_rand random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t address = 1 + random() % 500, bytes = random() % 20;
    if (random() % 2 == 0) {
      EXPECT_EQ(table->Detach(address), model.erase(address) == 1);
    } else {
      bool overlaps = model.contains(address);
      for (const auto& [begin, length] : model)
        overlaps = overlaps || (begin < address + bytes && address < begin + length);
      EXPECT_EQ(table->Attach(address, bytes), !overlaps);
      if (!overlaps) model[address] = bytes;
    }
    const std::uint64_t asked = random() % 520, wanted = 1 + random() % 40;
    std::uint64_t covered = 0;
    for (const auto& [begin, length] : model)
      if (begin < asked + wanted && asked < begin + length)
        covered += std::min(begin + length, asked + wanted) - std::max(begin, asked);
    EXPECT_EQ(table->Holds(asked, wanted), covered == wanted);
  }
}

// Region i begins behind region i - 1 and a gap, in whatever order they are attached.
void FillAndEmpty(const std::vector<std::uint32_t>& order) {
  const auto table = std::make_unique<SmallTable>();
  for (const std::uint32_t i : order) ASSERT_TRUE(table->Attach(16 + i * 16, 8));
  EXPECT_EQ(table->beyond.load(), 0u);
  for (const std::uint32_t i : order) {
    EXPECT_TRUE(table->Holds(16 + i * 16, 8));
    EXPECT_FALSE(table->Holds(16 + i * 16, 9));
    EXPECT_FALSE(table->Holds(24 + i * 16, 8));
    EXPECT_FALSE(table->Attach(16 + i * 16, 1));
  }
  for (const std::uint32_t i : order) {
    EXPECT_TRUE(table->Detach(16 + i * 16));
    EXPECT_FALSE(table->Holds(16 + i * 16, 1));
  }
  EXPECT_EQ(table->count.load(), 0u);
  EXPECT_EQ(table->shelves.load(), 0u);
}

TEST(Attach, ChecksAsManyRegionsAsItSaysInEveryOrder) {
  std::vector<std::uint32_t> order(SmallTable::kRegionsMax);
  std::iota(order.begin(), order.end(), 0u);
  FillAndEmpty(order);
  std::reverse(order.begin(), order.end());
  FillAndEmpty(order);
  std::minstd_rand random(7);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    FillAndEmpty(order);
  }
}

// What is left of many regions after most are gone lies on shelves that are nearly empty.
TEST(Attach, FindsRoomAmongShelvesThatAreNearlyEmpty) {
  const auto table = std::make_unique<SmallTable>();
  std::map<std::uint64_t, std::uint64_t> model;
  std::minstd_rand random(3);
  for (int round = 0; round < 20; ++round) {
    while (model.size() < SmallTable::kRegionsMax) {
      const std::uint64_t address = 16 * (1 + random() % (4 * SmallTable::kRegionsMax));
      ASSERT_EQ(table->Attach(address, 8), model.try_emplace(address, 8).second);
    }
    for (auto region = model.begin(); region != model.end();) {
      if (random() % 6 == 0) {
        ++region;
        continue;
      }
      ASSERT_TRUE(table->Detach(region->first));
      region = model.erase(region);
    }
    for (const auto& [address, bytes] : model) ASSERT_TRUE(table->Holds(address, bytes));
  }
  EXPECT_EQ(table->beyond.load(), 0u);
}

// An access may begin in one region and end in another that follows without a gap, on whatever
// shelf that lies.
TEST(Attach, HoldsWhatSpansRegionsThatTouch) {
  const auto table = std::make_unique<SmallTable>();
  constexpr std::uint64_t kBegin = 4096, kBytes = 16, kEnd = kBegin + kBytes * 64;
  for (std::uint64_t address = kBegin; address < kEnd; address += kBytes)
    ASSERT_TRUE(table->Attach(address, kBytes));
  EXPECT_TRUE(table->Holds(kBegin, kEnd - kBegin));
  EXPECT_TRUE(table->Holds(kBegin + 5, kBytes));
  EXPECT_FALSE(table->Holds(kBegin - 1, 2));
  EXPECT_FALSE(table->Holds(kEnd - 1, 2));
  EXPECT_FALSE(table->Holds(kEnd - 1, ~std::uint64_t{0}));
  ASSERT_TRUE(table->Detach(kBegin + 7 * kBytes));
  EXPECT_FALSE(table->Holds(kBegin, kEnd - kBegin));
  EXPECT_TRUE(table->Holds(kBegin, 7 * kBytes));
  EXPECT_FALSE(table->Holds(kBegin, 7 * kBytes + 1));
  EXPECT_TRUE(table->Holds(kBegin + 8 * kBytes, kEnd - kBegin - 8 * kBytes));
  ASSERT_TRUE(table->Attach(kBegin + 7 * kBytes, kBytes - 1));
  EXPECT_FALSE(table->Holds(kBegin, 8 * kBytes));
}

TEST(Attach, HasNoLimit) {
  const auto table = std::make_unique<SmallTable>();
  for (std::uint64_t i = 1; i <= SmallTable::kRegionsMax; ++i)
    ASSERT_TRUE(table->Attach(i * 16, 8));
  EXPECT_FALSE(table->Holds(8, 8));
  EXPECT_TRUE(table->Attach(8, 8));
  EXPECT_TRUE(table->Holds(8, 8));
  EXPECT_TRUE(table->Detach(8));
  EXPECT_FALSE(table->Holds(8, 8));
  EXPECT_FALSE(table->Detach(8));
}

// It was 65,536, and each region that came behind them was no longer checked.
TEST(Attach, ChecksManyRegionsOfAWindow) { EXPECT_GE(AttachTable::kRegionsMax, 262144u); }

TEST(Attach, IsReadWhileItChanges) {
  const auto table = std::make_unique<SmallTable>();
  ASSERT_TRUE(table->Attach(1000, 8));
  ASSERT_TRUE(table->Attach(1008, 8));
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done.load()) {
      EXPECT_TRUE(table->Holds(1000, 8));
      EXPECT_TRUE(table->Holds(1004, 12));
      EXPECT_FALSE(table->Holds(2000, 8));
    }
  });
  for (int i = 0; i < 20000; ++i) {
    EXPECT_TRUE(table->Attach(500, 8));
    EXPECT_TRUE(table->Attach(1500, 8));
    EXPECT_TRUE(table->Detach(500));
    EXPECT_TRUE(table->Detach(1500));
  }
  done.store(true);
  reader.join();
}

}  // namespace
}  // namespace lamina::rma
