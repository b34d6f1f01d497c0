// SPDX-License-Identifier: BSD-3-Clause
// Goal:   threads without CPUs are pointed out once, and a plan that is as it should be is not
//         talked about.
// Method: plans made here; warnings and notes are compared as they are.
#include "launcher/plan/advice.h"

#include <gtest/gtest.h>

namespace lamina::launcher {
namespace {

Plan Two(const std::string& cpuset, const std::string& variable) {
  Plan plan;
  plan.hosts.push_back({});
  plan.hosts[0].name = "node07";
  plan.hosts[0].cpus = 8;
  plan.apps.push_back({{"./solver"}, {}, "", "", 2});
  plan.ranks.resize(2);
  plan.ranks[1].rank = 1;
  for (RankPlan& rank : plan.ranks) rank.cpuset = cpuset;
  if (!variable.empty()) plan.environment = {variable};
  return plan;
}

TEST(Advise, ThreadsThatAreSqueezedTogether) {
  Plan plan = Two("0-1", "OMP_NUM_THREADS=4");
  Advise(&plan);
  EXPECT_EQ(plan.warnings,
            std::vector<std::string>{"OMP_NUM_THREADS=4, but rank 0 is kept on 2 CPUs (0-1); "
                                     "--cpus-per-rank 4 gives every thread its own"});
  EXPECT_TRUE(plan.notes.empty());
}

TEST(Advise, TheProgramsOwnVariableCounts) {
  Plan plan = Two("0", "OMP_NUM_THREADS=4");
  plan.apps[0].environment = {"OMP_NUM_THREADS=1"};
  Advise(&plan);
  EXPECT_TRUE(plan.warnings.empty());
}

TEST(Advise, MoreThreadsThanCpus) {
  Plan plan = Two("", "OMP_NUM_THREADS=8,2");
  Advise(&plan);
  EXPECT_TRUE(plan.warnings.empty());
  EXPECT_EQ(plan.notes,
            std::vector<std::string>{"16 threads (OMP_NUM_THREADS) on the 8 CPUs of node07"});
}

TEST(Advise, CpusWithoutANumberOfThreads) {
  Plan plan = Two("0-3", "");
  plan.mapping.cpus_per_rank = 4;
  Advise(&plan);
  EXPECT_TRUE(plan.warnings.empty());
  EXPECT_EQ(plan.notes.size(), 1u);
}

TEST(Advise, NothingToSay) {
  for (Plan plan : {Two("0-3", "OMP_NUM_THREADS=4"), Two("", "OMP_NUM_THREADS=4"), Two("0", ""),
                    Two("0", "OMP_NUM_THREADS=none")}) {
    Advise(&plan);
    EXPECT_TRUE(plan.warnings.empty());
    EXPECT_TRUE(plan.notes.empty());
  }
}

TEST(ThreadsOf, OpenMpSyntax) {
  EXPECT_EQ(ThreadsOf("8"), 8u);
  EXPECT_EQ(ThreadsOf("4,2"), 4u);
  EXPECT_EQ(ThreadsOf(" 4 "), 4u);
  for (const char* wrong : {"", "0", "-1", "x", "4x"}) EXPECT_FALSE(ThreadsOf(wrong)) << wrong;
}

}  // namespace
}  // namespace lamina::launcher
