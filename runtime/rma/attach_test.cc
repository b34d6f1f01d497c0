// SPDX-License-Identifier: BSD-3-Clause
// Goal:   memory is held from attach to detach, overlaps are refused, readers never see half a
//         change, and there is no limit.
// Method: random regions against a map; a reader beside an owner that attaches and detaches.
#include "runtime/rma/attach.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <thread>

namespace lamina::rma {
namespace {

TEST(Attach, HoldsWhatIsAttached) {
  const auto table = std::make_unique<AttachTable>();
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
    const std::uint64_t asked = random() % 520, wanted = 1 + random() % 8;
    bool holds = false;
    for (const auto& [begin, length] : model)
      holds = holds || (asked >= begin && asked + wanted <= begin + length);
    EXPECT_EQ(table->Holds(asked, wanted), holds);
  }
}

TEST(Attach, HasNoLimit) {
  const auto table = std::make_unique<AttachTable>();
  for (std::uint64_t i = 1; i <= AttachTable::kRegionsMax; ++i)
    ASSERT_TRUE(table->Attach(i * 16, 8));
  EXPECT_FALSE(table->Holds(8, 8));
  EXPECT_TRUE(table->Attach(8, 8));
  EXPECT_TRUE(table->Holds(8, 8));
  EXPECT_TRUE(table->Detach(8));
  EXPECT_FALSE(table->Holds(8, 8));
  EXPECT_FALSE(table->Detach(8));
}

TEST(Attach, IsReadWhileItChanges) {
  const auto table = std::make_unique<AttachTable>();
  ASSERT_TRUE(table->Attach(1000, 8));
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done.load()) {
      EXPECT_TRUE(table->Holds(1000, 8));
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
