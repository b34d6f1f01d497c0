// SPDX-License-Identifier: BSD-3-Clause
// Goal:   ranks get the CPUs the user can foresee, none that is not allowed, and none is shared
//         while another lies idle.
// Method: synthetic topologies, even and uneven; the list of CPUs by rank is compared, and rules
//         that hold for all of them are checked over many sizes. Nothing is really bound.
#include "launcher/plan/bind.h"

#include <gtest/gtest.h>

#include <map>

namespace lamina::launcher {
namespace {

// 2 packages, each one NUMA domain of 4 cores of 2 hardware threads: 16 CPUs.
constexpr const char* kServer = "pack:2 [numa] l3:1 core:4 pu:2";
constexpr const char* kLaptop = "pack:1 [numa] core:4 pu:1";

Plan Ranks(std::uint32_t count) {
  Plan plan;
  plan.hosts.push_back({});
  plan.hosts[0].name = "here";
  for (std::uint32_t i = 0; i < count; ++i) {
    RankPlan rank;
    rank.rank = i;
    rank.local_rank = i;
    plan.ranks.push_back(rank);
  }
  return plan;
}

// "0-1 2-3 -": the list of each rank. `allowed` "": everything.
std::string Lists(const char* machine, std::uint32_t ranks, Binding binding,
                  const std::string& allowed = "") {
  Result<Topology> topology = SyntheticTopology(machine);
  EXPECT_TRUE(topology.ok()) << topology.status().message();
  if (!topology.ok()) return "";
  const CpuSet set = allowed.empty() ? AllowedCpus(topology->get()) : CpuSetOf(allowed);
  Plan plan = Ranks(ranks);
  if (Status status = BindRanks(binding, 0, topology->get(), set, &plan); !status.ok())
    return std::string(status.message());
  std::string lists;
  for (const RankPlan& rank : plan.ranks)
    lists += (lists.empty() ? "" : " ") + (rank.cpuset.empty() ? "-" : rank.cpuset);
  return lists;
}

Binding To(BindTo to, MapBy map_by = MapBy::kSlot) { return {to, map_by, true, "asked"}; }
constexpr BindTo kCore = BindTo::kCore;
constexpr BindTo kNuma = BindTo::kNuma;
constexpr BindTo kSocket = BindTo::kSocket;
constexpr BindTo kHwthread = BindTo::kHwthread;

TEST(BindRanks, None) { EXPECT_EQ(Lists(kServer, 2, To(BindTo::kNone)), "- -"); }

TEST(BindRanks, CoresOneAfterAnother) {
  EXPECT_EQ(Lists(kServer, 4, To(kCore)), "0-1 2-3 4-5 6-7");
  EXPECT_EQ(Lists(kServer, 4, To(kHwthread)), "0 1 2 3");
  EXPECT_EQ(Lists(kLaptop, 4, To(kCore)), "0 1 2 3");
}

TEST(BindRanks, MoreRanksThanCoresShareEvenlyInBlocks) {
  EXPECT_EQ(Lists(kLaptop, 6, To(kCore)), "0 0 1 2 2 3");
  EXPECT_EQ(Lists(kLaptop, 8, To(kCore)), "0 0 1 1 2 2 3 3");
}

TEST(BindRanks, DomainsInBlocks) {
  EXPECT_EQ(Lists(kServer, 4, To(kNuma)), "0-7 0-7 8-15 8-15");
  EXPECT_EQ(Lists(kServer, 4, To(kSocket)), "0-7 0-7 8-15 8-15");
  EXPECT_EQ(Lists(kServer, 2, To(kNuma)), "0-7 8-15");
  EXPECT_EQ(Lists(kServer, 3, To(kNuma)), "0-7 0-7 8-15");
}

TEST(BindRanks, DealtOutInTurn) {
  EXPECT_EQ(Lists(kServer, 4, To(kNuma, MapBy::kNuma)), "0-7 8-15 0-7 8-15");
  EXPECT_EQ(Lists(kServer, 4, To(kCore, MapBy::kNuma)), "0-1 8-9 2-3 10-11");
  EXPECT_EQ(Lists(kServer, 4, To(kHwthread, MapBy::kSocket)), "0 8 1 9");
  EXPECT_EQ(Lists(kServer, 4, To(kHwthread, MapBy::kCore)), "0 2 4 6");
  EXPECT_EQ(Lists(kServer, 4, To(kSocket, MapBy::kCore)), "0-7 0-7 0-7 0-7");
  EXPECT_EQ(Lists(kServer, 3, To(kCore, MapBy::kHwthread)), "0-1 0-1 2-3");
}

TEST(BindRanks, UnevenDomainsAreFilledToTheirSize) {
  // What is allowed makes the first domain smaller: 1 core there, 4 in the other.
  EXPECT_EQ(Lists(kServer, 5, To(kCore, MapBy::kNuma), "6-15"), "6-7 8-9 10-11 12-13 14-15");
  EXPECT_EQ(Lists(kServer, 5, To(kNuma), "6-15"), "6-7 8-15 8-15 8-15 8-15");
}

TEST(BindRanks, OnlyWhatIsAllowed) {
  EXPECT_EQ(Lists(kServer, 2, To(kCore), "3-4"), "3 4");
  EXPECT_EQ(Lists(kServer, 2, To(kSocket), "7-8"), "7 8");
  EXPECT_EQ(Lists(kServer, 2, To(kNuma), "0-1"), "0-1 0-1");
  EXPECT_EQ(Lists(kServer, 1, To(kCore), "100"),
            "no CPU of this machine is allowed to this process");
}

TEST(BindRanks, SeveralMemoriesBesideTheSameCores) {
  // Two NUMA nodes (say DRAM and HBM) under each package are one place for ranks.
  EXPECT_EQ(Lists("pack:2 [numa] [numa] core:2 pu:1", 4, To(kNuma)), "0-1 0-1 2-3 2-3");
}

TEST(BindRanks, DefaultStaysOutOfTheWay) {
  const Binding by_default{BindTo::kNuma, MapBy::kSlot, false, "default"};
  EXPECT_EQ(Lists(kServer, 4, by_default), "0-7 0-7 8-15 8-15");
  EXPECT_EQ(Lists(kServer, 1, by_default), "-");
  EXPECT_EQ(Lists(kLaptop, 4, by_default), "- - - -");
  EXPECT_EQ(Lists(kServer, 4, by_default, "0-7"), "- - - -");
}

TEST(BindRanks, OtherHostsAreLeftAlone) {
  Result<Topology> topology = SyntheticTopology(kLaptop);
  ASSERT_TRUE(topology.ok());
  Plan plan = Ranks(4);
  plan.hosts.push_back({});
  for (const std::uint32_t i : {1u, 3u}) {
    plan.ranks[i].host = 1;
    plan.ranks[i].local_rank = i / 2;
  }
  plan.ranks[2].local_rank = 1;
  ASSERT_TRUE(BindRanks(To(kCore), 0, topology->get(), AllowedCpus(topology->get()), &plan).ok());
  EXPECT_EQ(plan.ranks[0].cpuset, "0");
  EXPECT_EQ(plan.ranks[1].cpuset, "");
  EXPECT_EQ(plan.ranks[2].cpuset, "1");
  EXPECT_EQ(plan.ranks[3].cpuset, "");
}

// No core is given to a second rank before every core has one, whatever the order; ranks of a
// domain never differ by more than one in number for even machines.
TEST(BindRanks, NobodySharesWhileOthersIdle) {
  for (const char* machine : {kServer, kLaptop, "pack:2 [numa] l3:2 l2:8 core:1 pu:2",
                              "pack:3 core:5 pu:1", "pu:7", "[numa] pack:4 [numa] core:3 pu:4"}) {
    Result<Topology> topology = SyntheticTopology(machine);
    ASSERT_TRUE(topology.ok()) << machine;
    const CpuSet allowed = AllowedCpus(topology->get());
    const int cores = hwloc_get_nbobjs_by_type(topology->get(), HWLOC_OBJ_CORE);
    const auto places = static_cast<std::uint32_t>(
        cores > 0 ? cores : hwloc_get_nbobjs_by_type(topology->get(), HWLOC_OBJ_PU));
    for (const MapBy map_by :
         {MapBy::kSlot, MapBy::kNode, MapBy::kNuma, MapBy::kSocket, MapBy::kCore}) {
      for (std::uint32_t ranks = 1; ranks <= 3 * places; ++ranks) {
        Plan plan = Ranks(ranks);
        ASSERT_TRUE(BindRanks(To(kCore, map_by), 0, topology->get(), allowed, &plan).ok());
        std::map<std::string, std::uint32_t> used;
        for (const RankPlan& rank : plan.ranks) {
          ASSERT_FALSE(rank.cpuset.empty());
          ++used[rank.cpuset];
        }
        EXPECT_EQ(used.size(), std::min(ranks, places))
            << machine << ", by " << Name(map_by) << ", " << ranks;
        for (const auto& [list, count] : used)
          EXPECT_LE(count, (ranks + places - 1) / places)
              << machine << ", by " << Name(map_by) << ", " << list;
      }
    }
  }
}

Machine Cpus(std::uint32_t cpus, std::uint32_t domains) {
  Machine machine;
  machine.name = "here";
  machine.cpus = cpus;
  machine.numa_domains = domains;
  return machine;
}

TEST(ChooseBinding, DefaultByMachine) {
  const Request request;
  EXPECT_EQ(ChooseBinding(request, Ranks(4), 0, Cpus(8, 1)).to, BindTo::kNone);
  EXPECT_EQ(ChooseBinding(request, Ranks(4), 0, Cpus(8, 2)).to, BindTo::kNuma);
  EXPECT_EQ(ChooseBinding(request, Ranks(1), 0, Cpus(8, 2)).to, BindTo::kNone);
  EXPECT_EQ(ChooseBinding(request, Ranks(9), 0, Cpus(8, 2)).to, BindTo::kNone);
  EXPECT_FALSE(ChooseBinding(request, Ranks(4), 0, Cpus(8, 2)).asked);
}

TEST(ChooseBinding, MappingBindsUnlessToldOtherwise) {
  Request request;
  request.map_by = MapBy::kSocket;
  EXPECT_EQ(ChooseBinding(request, Ranks(4), 0, Cpus(8, 2)).to, BindTo::kSocket);
  request.bind_to = BindTo::kNone;
  EXPECT_EQ(ChooseBinding(request, Ranks(4), 0, Cpus(8, 2)).to, BindTo::kNone);
  request.map_by = MapBy::kNode;
  request.bind_to = BindTo::kDefault;
  EXPECT_EQ(ChooseBinding(request, Ranks(4), 0, Cpus(8, 1)).to, BindTo::kNone);
}

}  // namespace
}  // namespace lamina::launcher
