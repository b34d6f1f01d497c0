// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a machine knows itself by name or number and no other by mistake; limits are read right.
// Method: machines made up here; the texts the kernel writes.
#include "launcher/plan/machine.h"

#include <gtest/gtest.h>

namespace lamina::launcher {
namespace {

Machine Named(const std::string& name) {
  Machine machine;
  machine.name = name;
  machine.addresses = {"10.1.2.3", "fe80::1"};
  return machine;
}

TEST(IsThisMachine, ByName) {
  EXPECT_TRUE(IsThisMachine("node1", Named("node1")));
  EXPECT_TRUE(IsThisMachine("node1.east.example", Named("node1.east.example")));
  EXPECT_TRUE(IsThisMachine("node1", Named("node1.east.example")));
  EXPECT_TRUE(IsThisMachine("node1.east.example", Named("node1")));
  EXPECT_TRUE(IsThisMachine("localhost", Named("node1")));
}

TEST(IsThisMachine, ByNumber) {
  EXPECT_TRUE(IsThisMachine("127.0.0.1", Named("node1")));
  EXPECT_TRUE(IsThisMachine("::1", Named("node1")));
  EXPECT_TRUE(IsThisMachine("10.1.2.3", Named("node1")));
  EXPECT_TRUE(IsThisMachine("fe80::1", Named("node1")));
  EXPECT_FALSE(IsThisMachine("10.1.2.4", Named("node1")));
}

TEST(IsThisMachine, NotAnother) {
  EXPECT_FALSE(IsThisMachine("node1.west.example", Named("node1.east.example")));
  EXPECT_FALSE(IsThisMachine("node10", Named("node1")));
  EXPECT_FALSE(IsThisMachine("node", Named("node1")));
  EXPECT_FALSE(IsThisMachine("", Named("node1")));
  EXPECT_FALSE(IsThisMachine("", Named("node1.east")));
  EXPECT_FALSE(IsThisMachine(".east", Named("node1.east")));
}

TEST(CpusOfQuota, RoundsUpAndKnowsNoLimit) {
  EXPECT_EQ(CpusOfQuota("200000 100000"), 2u);
  EXPECT_EQ(CpusOfQuota("150000 100000"), 2u);
  EXPECT_EQ(CpusOfQuota("1000 100000"), 1u);
  EXPECT_EQ(CpusOfQuota("max 100000"), std::nullopt);
  EXPECT_EQ(CpusOfQuota("-1 100000"), std::nullopt);
  EXPECT_EQ(CpusOfQuota(""), std::nullopt);
  EXPECT_EQ(CpusOfQuota("5 0"), std::nullopt);
}

TEST(CountOfList, Lists) {
  EXPECT_EQ(CountOfList("0"), 1u);
  EXPECT_EQ(CountOfList("0-3,8"), 5u);
  EXPECT_EQ(CountOfList(""), 0u);
  EXPECT_EQ(CountOfList("3-1"), 0u);
  EXPECT_EQ(CountOfList("0-x"), 0u);
  EXPECT_EQ(CountOfList("0-99999999999"), 0u);
}

TEST(ThisMachine, IsPlausible) {
  const Machine machine = ThisMachine(true);
  EXPECT_FALSE(machine.name.empty());
  EXPECT_GE(machine.cpus, 1u);
  EXPECT_GE(machine.numa_domains, 1u);
  EXPECT_TRUE(IsThisMachine(machine.name, machine));
}

}  // namespace
}  // namespace lamina::launcher
