// SPDX-License-Identifier: BSD-3-Clause
// Goal:   lists of hosts mean what `scontrol show hostnames` says they mean; mistakes are named.
// Method: lists in, names joined by blanks or the exact message out.
#include "launcher/plan/hostlist.h"

#include <gtest/gtest.h>

#include <random>

namespace lamina::launcher {
namespace {

std::string Names(std::string_view list) {
  Result<std::vector<std::string>> names = ExpandHostNames(list);
  if (!names.ok()) return std::string(names.status().message());
  std::string joined;
  for (const std::string& name : *names) joined += (joined.empty() ? "" : " ") + name;
  return joined;
}

TEST(ExpandHostNames, AsSlurmWritesThem) {
  EXPECT_EQ(Names("a,b,c[1-2]"), "a b c1 c2");
  EXPECT_EQ(Names("n[1-3,5]"), "n1 n2 n3 n5");
  EXPECT_EQ(Names("cn[0098-0101]"), "cn0098 cn0099 cn0100 cn0101");
  EXPECT_EQ(Names("node[1,3]"), "node1 node3");
  EXPECT_EQ(Names("rack[1-2]n[3-4]"), "rack1n3 rack1n4 rack2n3 rack2n4");
  EXPECT_EQ(Names("n[1-2]-[1-2]"), "n1-1 n1-2 n2-1 n2-2");
  EXPECT_EQ(Names("[1-3]"), "1 2 3");
  EXPECT_EQ(Names("a,a"), "a a");
}

TEST(ExpandHostNames, MoreThanSlurmAccepts) {
  EXPECT_EQ(Names("gpu-[01-02]-ib.east"), "gpu-01-ib.east gpu-02-ib.east");
  EXPECT_EQ(Names("n[9-10]"), "n9 n10");
  EXPECT_EQ(Names("n[08-10]"), "n08 n09 n10");
}

TEST(ExpandHostNames, MistakesAreNamed) {
  EXPECT_EQ(Names("n[3-1]"), "\"n[3-1]\": the range \"3-1\" runs backwards");
  EXPECT_EQ(Names("n[]"), "\"n[]\": \"\" is not a number or a range");
  EXPECT_EQ(Names("n[1-x]"), "\"n[1-x]\": \"1-x\" is not a number or a range");
  EXPECT_EQ(Names("n[1"), "\"n[1\": a [ without its ]");
  EXPECT_EQ(Names("n1]"), "\"n1]\": a ] without its [");
  EXPECT_EQ(Names("a,,b"), "an empty name in \"a,,b\"");
  EXPECT_EQ(Names("n[0-9999999]"), "\"n[0-9999999]\" stands for more than 262144 hosts");
  EXPECT_EQ(Names("n[0-9999][0-9999]"), "\"n[0-9999][0-9999]\" stands for more than 262144 hosts");
}

TEST(FoldHostNames, ShortAndTheSame) {
  EXPECT_EQ(FoldHostNames({"node1", "node2", "node4"}), "node[1-2,4]");
  EXPECT_EQ(FoldHostNames({"node1"}), "node1");
  EXPECT_EQ(FoldHostNames({"n08", "n09", "n10", "n011"}), "n[08-10,011]");
  EXPECT_EQ(FoldHostNames({"n9", "n10"}), "n[9-10]");
  EXPECT_EQ(FoldHostNames({"a", "b1-ib.east2", "b2-ib.east2", "c"}), "a,b[1-2]-ib.east2,c");
  EXPECT_EQ(FoldHostNames({"n2", "n1", "n2"}), "n[2,1-2]");
  std::mt19937 random(18);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> names;
    for (int i = static_cast<int>(random() % 12); i >= 0; --i)
      names.push_back(std::string(1, "xy"[random() % 2]) + (random() % 3 == 0 ? "0" : "") +
                      std::to_string(random() % 20) + (random() % 4 == 0 ? ".e1" : ""));
    EXPECT_EQ(*ExpandHostNames(FoldHostNames(names)), names);
  }
}

}  // namespace
}  // namespace lamina::launcher
