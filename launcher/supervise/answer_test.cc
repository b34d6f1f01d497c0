// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the answer about a job is the one launcher/control/README.md writes down, and a slow
//         start is told in one line.
// Method: plans and states made by hand; texts compared word for word.
#include "launcher/supervise/answer.h"

#include <gtest/gtest.h>

#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

Plan PlanOf(std::uint32_t hosts, std::uint32_t ranks_each) {
  Plan plan;
  plan.options.spawner = "ssh";
  for (std::uint32_t host = 0; host < hosts; ++host) {
    plan.hosts.emplace_back();
    plan.hosts.back().name = "node" + std::to_string(host + 1);
    for (std::uint32_t i = 0; i < ranks_each; ++i) {
      RankPlan rank;
      rank.rank = static_cast<std::uint32_t>(plan.ranks.size());
      rank.host = host;
      plan.ranks.push_back(rank);
    }
  }
  plan.apps.emplace_back();
  plan.apps.back().argv = {"./solver", "input"};
  return plan;
}

TEST(AnswerTest, SaysWhatTheReadmeSays) {
  const JobNews news{
      "5e1f0c9a2b7d4e68",
      4711,
      4120,
      {true, true, false, true},
      {{0, HostState::Kind::kUp, 120, 312}, {1, HostState::Kind::kUp, 118, std::nullopt}},
      {{2, {LockNote::kExclusive, 0, 5, 2, 0}}, {3, {LockNote::kAll, 1, 5, 0, 0}}}};
  EXPECT_EQ(
      DescribeJob(PlanOf(2, 2), news),
      std::string("lamina ") + kVersion +
          "\njob 5e1f0c9a2b7d4e68\nage_ms 4120\nspawner ssh\nranks 4\nrunning 3\nparent 4711\n"
          "command ./solver input\nhost node1 2 2 up 120 312\n"
          "host node2 2 1 up 118 -\nlock 2 exclusive 5 0 1 0\nlock 3 all 5 1 - 0\nend\n");
}

TEST(AnswerTest, TheTargetKnowsWhoHoldsItsLock) {
  std::vector<LocksSeen> seen(4);
  seen[1].waits = {LockNote::kExclusive, 0, 5, 0, 0};
  seen[2].waits = {LockNote::kShared, 0, 9, 0, 0};      // another window
  seen[3].waits = {LockNote::kExclusive, 70, 5, 3, 0};  // the target is in another job
  seen[0].queued = {LockNote::kExclusive, 0, 5, 4, 0};
  EXPECT_EQ(Describe(LockWaits(seen)),
            "lock 1 exclusive 5 0 3 0\nlock 2 shared 9 0 - 0\nlock 3 exclusive 5 70 2 0\n");
  EXPECT_TRUE(LockWaits(std::vector<LocksSeen>(3)).empty());
}

TEST(AnswerTest, OwnChildrenNeedNoShepherd) {
  Plan plan = PlanOf(1, 1);
  plan.hosts.emplace_back();  // without ranks: not told
  EXPECT_NE(DescribeJob(plan, {"x", 0, 0, {true}, {}, {}}).find("host node1 1 1 here 0 -\nend\n"),
            std::string::npos);
}

TEST(AnswerTest, ArgumentsCannotForgeLines) {
  Plan plan = PlanOf(1, 1);
  plan.apps.front().argv = {"sh", "-c", "true\nhost evil 1 1 up 0 0\n\tx"};
  plan.apps.push_back(plan.apps.front());
  plan.apps.back().argv = {"b"};
  EXPECT_NE(DescribeJob(plan, {"x", 0, 0, {true}, {}, {}})
                .find("\ncommand sh -c true?host evil 1 1 up 0 0??x : b\n"),
            std::string::npos);
}

TEST(ProgressTest, NamesAFewOfThoseThatAreAwaited) {
  const Plan plan = PlanOf(5, 1);
  std::vector<HostState> hosts;
  for (std::uint32_t host = 0; host < 5; ++host)
    hosts.push_back({host, HostState::Kind::kStarting, 0, {}});
  EXPECT_EQ(StartProgress(plan, hosts, 2),
            "0 of 5 hosts have answered; waiting for node1, node2 and 3 others");
  hosts[0].kind = hosts[1].kind = HostState::Kind::kUp;
  EXPECT_EQ(StartProgress(plan, hosts, 2),
            "2 of 5 hosts have answered; waiting for node3, node4 and 1 other");
  hosts[2].kind = HostState::Kind::kLost;
  EXPECT_EQ(StartProgress(plan, hosts, 2),
            "3 of 5 hosts have answered; waiting for node4 and node5");
  hosts[3].kind = HostState::Kind::kDone;
  EXPECT_EQ(StartProgress(plan, hosts, 2), "4 of 5 hosts have answered; waiting for node5");
  hosts[4].kind = HostState::Kind::kUp;
  EXPECT_EQ(StartProgress(plan, hosts, 2), "");
  EXPECT_EQ(StartProgress(plan, {}, 2), "");
}

}  // namespace
}  // namespace lamina::launcher
