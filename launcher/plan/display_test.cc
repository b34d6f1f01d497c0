// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what --display prints can be read at a glance and says all.
// Method: plans made here over synthetic machines; the text is compared as it is.
#include "launcher/plan/display.h"

#include <gtest/gtest.h>

#include "launcher/plan/bind.h"

namespace lamina::launcher {
namespace {

Plan Ranks(std::uint32_t count) {
  Plan plan;
  plan.hosts.push_back({});
  plan.hosts[0].name = "node07";
  plan.hosts[0].slots = 16;
  plan.apps.push_back({{"./solver", "input file"}, {}, "", "", count});
  for (std::uint32_t i = 0; i < count; ++i) {
    RankPlan rank;
    rank.rank = i;
    rank.local_rank = i;
    plan.ranks.push_back(rank);
  }
  plan.options.spawner = "local";
  return plan;
}

std::string Bindings(const char* machine, std::uint32_t ranks, BindTo to,
                     const std::string& allowed = "", MapBy map_by = MapBy::kSlot) {
  Result<Topology> topology = SyntheticTopology(machine);
  EXPECT_TRUE(topology.ok());
  const CpuSet set = allowed.empty() ? AllowedCpus(topology->get()) : CpuSetOf(allowed);
  Plan plan = Ranks(ranks);
  Mapping mapping;
  mapping.map_by = map_by;
  EXPECT_TRUE(BindRanks({to, mapping, true, ""}, 0, topology->get(), set, &plan).ok());
  return ShowBindings(plan, 0, topology->get(), set);
}

TEST(ShowBindings, Cores) {
  EXPECT_EQ(Bindings("pack:2 [numa] core:2 pu:2", 3, BindTo::kCore),
            "bindings on node07: 2 sockets, 2 NUMA domains, 4 cores, 8 CPUs\n"
            "  rank 0      [## ..] [.. ..]  core 0 (CPUs 0-1)\n"
            "  rank 1      [.. ##] [.. ..]  core 1 (CPUs 2-3)\n"
            "  rank 2      [.. ..] [## ..]  core 2 (CPUs 4-5)\n");
}

TEST(ShowBindings, DomainsWithinASocket) {
  EXPECT_EQ(Bindings("pack:1 group:2 [numa] core:2 pu:1", 4, BindTo::kNuma),
            "bindings on node07: 1 socket, 2 NUMA domains, 4 cores, 4 CPUs\n"
            "  ranks 0,1   [# #|. .]  NUMA domain 0 (CPUs 0-1)\n"
            "  ranks 2,3   [. .|# #]  NUMA domain 1 (CPUs 2-3)\n");
}

TEST(ShowBindings, WhatIsNotAllowedIsMarked) {
  EXPECT_EQ(Bindings("pack:1 [numa] core:4 pu:1", 2, BindTo::kCore, "1-2"),
            "bindings on node07: 1 socket, 1 NUMA domain, 4 cores, 4 CPUs, 2 of them allowed\n"
            "  rank 0      [- # . -]  core 1 (CPU 1)\n"
            "  rank 1      [- . # -]  core 2 (CPU 2)\n");
}

TEST(ShowBindings, NotBound) {
  EXPECT_EQ(Bindings("pack:1 [numa] core:2 pu:1", 3, BindTo::kNone),
            "bindings on node07: 1 socket, 1 NUMA domain, 2 cores, 2 CPUs\n"
            "  ranks 0-2   [# #]  not bound\n");
}

TEST(ShowBindings, AWideMachineInLettersOfCores) {
  const std::string half(32, '#');
  const std::string none(32, '.');
  EXPECT_EQ(Bindings("pack:2 [numa] core:64 pu:2", 2, BindTo::kSocket),
            "bindings on node07: 2 sockets, 2 NUMA domains, 128 cores, 256 CPUs\n"
            "  one letter is 2 cores: # all of them, + some\n"
            "  rank 0      [" +
                half + "] [" + none +
                "]  socket 0 (CPUs 0-127)\n"
                "  rank 1      [" +
                none + "] [" + half + "]  socket 1 (CPUs 128-255)\n");
  EXPECT_EQ(Bindings("pack:2 [numa] core:16 pu:2", 1, BindTo::kHwthread),
            "bindings on node07: 2 sockets, 2 NUMA domains, 32 cores, 64 CPUs\n"
            "  one letter is a core: # all of it, + a part\n"
            "  rank 0      [+...............] [................]  CPU 0\n");
}

TEST(ShowBindings, CachesHaveNames) {
  EXPECT_EQ(Bindings("pack:1 [numa] l3:2 core:2 pu:1", 2, BindTo::kL3cache),
            "bindings on node07: 1 socket, 1 NUMA domain, 4 cores, 4 CPUs\n"
            "  rank 0      [# # . .]  L3 cache 0 (CPUs 0-1)\n"
            "  rank 1      [. . # #]  L3 cache 1 (CPUs 2-3)\n");
}

TEST(ShowBindingsElsewhere, WhatWillBeDone) {
  Plan plan = Ranks(3);
  EXPECT_EQ(ShowBindingsElsewhere(plan, 0), "");
  for (const char* name : {"node08", "node09"}) {
    plan.hosts.push_back({});
    plan.hosts.back().name = name;
  }
  plan.ranks[1].host = 1;
  plan.ranks[2].host = 2;
  EXPECT_EQ(ShowBindingsElsewhere(plan, 0),
            "bindings on node[08-09]: within a NUMA domain where there are several, otherwise not "
            "bound\n");
  plan.mapping.map_by = MapBy::kL3cache;
  EXPECT_EQ(ShowBindingsElsewhere(plan, 1), "bindings on node[07,09]: each rank to one l3cache\n");
  plan.mapping.cpus_per_rank = 4;
  EXPECT_EQ(ShowBindingsElsewhere(plan, 9), "bindings on node[07-09]: 4 CPUs for each rank\n");
}

TEST(ShowPlan, Everything) {
  Plan plan = Ranks(3);
  plan.apps[0].ranks = 1;
  plan.apps.push_back({{"./worker"}, {}, "/scratch", "", 2});
  plan.ranks[1].app = plan.ranks[2].app = 1;
  plan.ranks[2].host = 1;
  plan.ranks[2].sharing = Sharing::kShared;
  plan.hosts.push_back({});
  plan.hosts[1].name = "node08.cluster";
  plan.hosts.push_back({});
  plan.hosts[2].name = "login";
  plan.hosts[2].schedulable = false;
  plan.notes = {"not bound: because"};
  plan.options.timeout_ms = 1500;
  plan.options.tag_output = true;
  EXPECT_EQ(ShowPlan(plan),
            "plan: 3 ranks on 2 hosts\n"
            "  rank 0           ./solver 'input file'\n"
            "  ranks 1,2        ./worker\n"
            "                   in /scratch\n"
            "  host node07: 16 slots, ranks 0,1\n"
            "  host node08.cluster: 1 slot, rank 2, sharing CPUs\n"
            "  host login: 1 slot, kept free (schedule=no)\n"
            "  not bound: because\n"
            "  input to rank 0, output here, tagged\n"
            "  at most 1.500 s\n"
            "  started by local\n");
}

TEST(ShowEnvironment, OnlyWhatDiffers) {
  Plan plan = Ranks(1);
  plan.environment = {"PATH=/bin", "LAMINA_A_B=1", "HOME=/root"};
  plan.apps[0].environment = {"X=y"};
  const Environment own({"PATH=/bin", "HOME=/home/ada", "OLD=1"});
  EXPECT_EQ(ShowEnvironment(plan, own),
            "environment: as here, and\n"
            "  + HOME=/root\n"
            "  + LAMINA_A_B=1\n"
            "  - OLD\n"
            "  + X=y  (for ./solver)\n"
            "  + PMIX_*, LAMINA_EVENT_FD, LAMINA_ROSTER, LAMINA_NODE_MEMORY, "
            "LAMINA_P2P_WAIT_MODE, LAMINA_COLLECTIVE_SELECT_CROWD, LAMINA_RANK and its kin for "
            "each rank\n");
}

TEST(Ranges, Short) {
  EXPECT_EQ(Ranges({}), "");
  EXPECT_EQ(Ranges({0}), "0");
  EXPECT_EQ(Ranges({0, 1}), "0,1");
  EXPECT_EQ(Ranges({0, 1, 2, 5, 7, 8, 9}), "0-2,5,7-9");
}

TEST(CpuSetOf, RefusesWhatIsNoList) {
  EXPECT_EQ(ListOf(CpuSetOf("0-3,8")), "0-3,8");
  EXPECT_EQ(ListOf(CpuSetOf("abc")), "");
  EXPECT_EQ(ListOf(CpuSetOf("")), "");
}

}  // namespace
}  // namespace lamina::launcher
