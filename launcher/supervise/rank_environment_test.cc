// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every rank gets the variables of the job and of its app, none of an outer launcher, is
//         told where it stands in the job, and whether ranks share CPUs unless the user has said
//         it.
// Method: plans made by hand.
#include "launcher/supervise/rank_environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lamina::launcher {
namespace {

using Words = std::vector<std::string>;

Plan PlanOf(const std::vector<Sharing>& ranks, const Words& environment = {}) {
  Plan plan;
  plan.hosts.emplace_back().name = "node1";
  plan.environment = environment;
  plan.apps.resize(2);
  plan.apps[0].argv = {"./ocean", "input"};
  plan.apps[1].argv = {"./ice"};
  plan.apps[1].wdir = "/scratch";
  for (const Sharing sharing : ranks) {
    RankPlan rank;
    rank.rank = static_cast<std::uint32_t>(plan.ranks.size());
    rank.app = rank.rank % 2;
    rank.sharing = sharing;
    rank.cpuset = std::to_string(rank.rank);
    plan.ranks.push_back(rank);
  }
  return plan;
}

Words Sorted(std::span<const std::string> words) {
  Words sorted(words.begin(), words.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// What a rank is told of its CPUs.
Words SharingOf(const RankStart& start) {
  Words words;
  for (const std::string& assignment : start.own_environment)
    if (assignment.starts_with("LAMINA_P2P_") || assignment.starts_with("LAMINA_COLLECTIVE_"))
      words.push_back(assignment);
  return words;
}

TEST(RankEnvironmentTest, FollowsThePlan) {
  const Plan plan = PlanOf({Sharing::kExclusive, Sharing::kExclusive});
  const RankEnvironments environments(plan);
  const std::vector<RankStart> starts = environments.Starts();
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[1].rank, 1u);
  EXPECT_EQ(starts[1].host, "node1");
  EXPECT_EQ(Sorted(starts[0].argv), (Words{"./ocean", "input"}));
  EXPECT_EQ(starts[1].argv.front(), "./ice");
  EXPECT_EQ(starts[1].wdir, "/scratch");
  EXPECT_EQ(starts[1].cpuset, "1");
  EXPECT_EQ(starts[1].event_fd, -1);
}

TEST(RankEnvironmentTest, AnAppsVariablesReplaceThoseOfTheJob) {
  Plan plan = PlanOf({Sharing::kExclusive, Sharing::kExclusive}, {"A=job", "B=job"});
  plan.apps[1].environment = {"A=ice"};
  const RankEnvironments environments(plan);
  EXPECT_EQ(Sorted(environments.Starts()[0].environment), (Words{"A=job", "B=job"}));
  EXPECT_EQ(Sorted(environments.Starts()[1].environment), (Words{"A=ice", "B=job"}));
}

TEST(RankEnvironmentTest, NothingOfAnOuterLauncherIsPassedOn) {
  const Plan plan =
      PlanOf({Sharing::kExclusive},
             {"PMIX_RANK=7", "PMIX_MCA_ptl=tcp", "LAMINA_EVENT_FD=5", "LAMINA_ROSTER=12:3",
              "LAMINA_NODE_MEMORY=12:4", "LAMINA_CHECKPOINT=5:6:", "LAMINA_AGENT=7:8",
              "LAMINA_WINDOW_FOLDER=/proc/irq", "LAMINA_P2P_WAIT_MODE=auto"});
  const RankEnvironments environments(plan);
  EXPECT_EQ(Sorted(environments.Starts()[0].environment), (Words{"PMIX_MCA_ptl=tcp"}));
}

TEST(RankEnvironmentTest, OneRankThatSharesMakesTheJobOneThatShares) {
  const Plan plan = PlanOf({Sharing::kExclusive, Sharing::kShared});
  const RankEnvironments environments(plan);
  EXPECT_EQ(SharingOf(environments.Starts()[0]),
            (Words{"LAMINA_P2P_WAIT_MODE=exclusive", "LAMINA_COLLECTIVE_SELECT_CROWD=4"}));
  EXPECT_EQ(SharingOf(environments.Starts()[1]),
            (Words{"LAMINA_P2P_WAIT_MODE=oversubscribed", "LAMINA_COLLECTIVE_SELECT_CROWD=4"}));
}

TEST(RankEnvironmentTest, TheUsersWordCounts) {
  Plan plan = PlanOf({Sharing::kExclusive, Sharing::kExclusive});
  plan.apps[1].environment = {"LAMINA_P2P_WAIT_MODE=oversubscribed",
                              "LAMINA_COLLECTIVE_SELECT_CROWD=3"};
  const RankEnvironments environments(plan);
  EXPECT_EQ(SharingOf(environments.Starts()[0]),
            (Words{"LAMINA_P2P_WAIT_MODE=exclusive", "LAMINA_COLLECTIVE_SELECT_CROWD=4"}));
  EXPECT_EQ(SharingOf(environments.Starts()[1]), Words());
}

TEST(RankEnvironmentTest, EveryRankIsToldItsPlace) {
  Plan plan = PlanOf({Sharing::kExclusive, Sharing::kExclusive, Sharing::kExclusive},
                     {"LAMINA_RANK=9", "LAMINA_NODES=9", "MPI_LOCALRANKID=9", "LAMINA_RANKS=9"});
  plan.apps[0].environment = {"LAMINA_SIZE=9"};
  // The second host gets no rank, so it counts as no node.
  plan.hosts.resize(3);
  plan.ranks[1].host = plan.ranks[2].host = 2;
  plan.ranks[2].local_rank = 1;
  const RankEnvironments environments(plan);
  const std::vector<RankStart> starts = environments.Starts();
  const auto place = [&starts](std::size_t rank) {
    Words words = starts[rank].own_environment;
    words.resize(8);
    return words;
  };
  EXPECT_EQ(place(0),
            (Words{"LAMINA_RANK=0", "LAMINA_SIZE=3", "LAMINA_LOCAL_RANK=0", "LAMINA_LOCAL_SIZE=1",
                   "LAMINA_NODE=0", "LAMINA_NODES=2", "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=1"}));
  EXPECT_EQ(place(2),
            (Words{"LAMINA_RANK=2", "LAMINA_SIZE=3", "LAMINA_LOCAL_RANK=1", "LAMINA_LOCAL_SIZE=2",
                   "LAMINA_NODE=1", "LAMINA_NODES=2", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2"}));
  for (const RankStart& start : starts)
    EXPECT_EQ(Sorted(start.environment), Words{"LAMINA_RANKS=9"});
}

}  // namespace
}  // namespace lamina::launcher
