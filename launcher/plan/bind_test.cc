// SPDX-License-Identifier: BSD-3-Clause
// Goal:   ranks get the CPUs the user can foresee, none that is not allowed, and none is shared
//         while another lies idle.
// Method: synthetic topologies, even and uneven; the list of CPUs by rank is compared, and rules
//         that hold for all of them are checked over many sizes. Nothing is really bound.
#include "launcher/plan/bind.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace lamina::launcher {
namespace {

// 2 packages, each one NUMA domain of 4 cores of 2 hardware threads: 16 CPUs.
constexpr const char* kServer = "pack:2 [numa] l3:1 core:4 pu:2";
constexpr const char* kLaptop = "pack:1 [numa] core:4 pu:1";
// 256 CPUs, which are several words of a mask.
constexpr const char* kLarge = "pack:2 [numa] core:64 pu:2";

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

Mapping By(MapBy map_by) {
  Mapping mapping;
  mapping.map_by = map_by;
  return mapping;
}

Binding To(BindTo to, MapBy map_by = MapBy::kSlot) { return {to, By(map_by), true, "asked"}; }
constexpr BindTo kCore = BindTo::kCore;
constexpr BindTo kNuma = BindTo::kNuma;
constexpr BindTo kSocket = BindTo::kSocket;
constexpr BindTo kHwthread = BindTo::kHwthread;

Binding Threads(std::uint32_t cpus, MapBy map_by = MapBy::kSlot, BindTo to = kCore) {
  Binding binding = To(to, map_by);
  binding.mapping.cpus_per_rank = cpus;
  return binding;
}

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

TEST(BindRanks, ManyCpus) {
  EXPECT_EQ(Lists(kLarge, 2, To(kNuma)), "0-127 128-255");
  EXPECT_EQ(Lists(kLarge, 3, To(kCore, MapBy::kSocket)), "0-1 128-129 2-3");
  EXPECT_EQ(Lists(kLarge, 2, Threads(64)), "0-127 128-255");
  std::string cores, threads, shared;
  for (int i = 0; i < 128; ++i) {
    const std::string core = std::to_string(2 * i) + "-" + std::to_string(2 * i + 1);
    cores += (i > 0 ? " " : "") + core;
    shared += (i > 0 ? " " : "") + core + " " + core;
  }
  for (int i = 0; i < 256; ++i) threads += (i > 0 ? " " : "") + std::to_string(i);
  EXPECT_EQ(Lists(kLarge, 128, To(kCore)), cores);
  EXPECT_EQ(Lists(kLarge, 256, To(kCore)), shared);
  EXPECT_EQ(Lists(kLarge, 256, To(kHwthread)), threads);
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
  const Binding by_default{BindTo::kNuma, {}, false, "default"};
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

TEST(BindRanks, CachesAreAPlace) {
  constexpr const char* kCaches = "pack:2 [numa] l3:2 core:2 pu:1";
  EXPECT_EQ(Lists(kCaches, 4, To(BindTo::kL3cache, MapBy::kL3cache)), "0-1 2-3 4-5 6-7");
  EXPECT_EQ(Lists(kCaches, 4, To(kCore, MapBy::kL3cache)), "0 2 4 6");
  EXPECT_EQ(Lists(kCaches, 4, To(BindTo::kL3cache)), "0-1 2-3 4-5 6-7");
  // Where there are none, the NUMA domain stands for it.
  EXPECT_EQ(Lists("pack:2 [numa] core:2 pu:1", 2, To(BindTo::kL3cache)), "0-1 2-3");
}

TEST(BindRanks, SeveralCoresARank) {
  EXPECT_EQ(Lists(kServer, 2, Threads(2)), "0-3 4-7");
  EXPECT_EQ(Lists(kServer, 2, Threads(2, MapBy::kSocket)), "0-3 8-11");
  EXPECT_EQ(Lists(kServer, 2, Threads(4)), "0-7 8-15");
  // Within one domain while the ranks fit like that, across domains if not.
  EXPECT_EQ(Lists(kServer, 2, Threads(3)), "0-5 8-13");
  EXPECT_EQ(Lists("pack:3 [numa] core:4 pu:1", 4, Threads(3)), "0-2 3-5 6-8 9-11");
  EXPECT_EQ(Lists(kServer, 1, Threads(8)), "0-15");
  EXPECT_EQ(Lists(kServer, 2, Threads(2, MapBy::kSlot, kNuma)), "0-7 8-15");
}

TEST(BindRanks, HardwareThreadsWhereCoresDoNotSuffice) {
  EXPECT_EQ(Lists(kServer, 4, Threads(4)), "0-3 4-7 8-11 12-15");
  EXPECT_EQ(Lists(kServer, 8, Threads(2)), "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15");
  EXPECT_EQ(Lists(kServer, 2, Threads(2, MapBy::kSlot, kHwthread)), "0-1 2-3");
  // More than there is: everybody has a part, and they share.
  EXPECT_EQ(Lists(kLaptop, 3, Threads(2)), "0-1 0-1 2-3");
  EXPECT_EQ(Lists(kLaptop, 2, Threads(9)), "0-3 0-3");
}

TEST(BindRanks, AsManyOnEachObject) {
  Binding binding = To(kNuma, MapBy::kNuma);
  binding.mapping.ranks_per_object = 2;
  EXPECT_EQ(Lists(kServer, 4, binding), "0-7 0-7 8-15 8-15");
  binding.to = kCore;
  EXPECT_EQ(Lists(kServer, 4, binding), "0-1 2-3 8-9 10-11");
  binding.mapping.cpus_per_rank = 2;
  EXPECT_EQ(Lists(kServer, 4, binding), "0-3 4-7 8-11 12-15");
  EXPECT_EQ(Lists(kServer, 3, binding), "0-3 4-7 8-11");
}

TEST(BindRanks, NumberedOverThePlaces) {
  Binding binding = To(kCore, MapBy::kNuma);
  binding.mapping.rank_by = MapBy::kSlot;
  EXPECT_EQ(Lists(kServer, 4, binding), "0-1 2-3 8-9 10-11");
  binding = To(kCore);
  binding.mapping.rank_by = MapBy::kSocket;
  EXPECT_EQ(Lists(kServer, 8, binding), "0-1 8-9 2-3 10-11 4-5 12-13 6-7 14-15");
}

std::string ByFile(const std::vector<std::string>& places, const std::string& allowed = "0-15") {
  Result<Topology> topology = SyntheticTopology(kServer);
  EXPECT_TRUE(topology.ok());
  Plan plan = Ranks(static_cast<std::uint32_t>(places.size()));
  plan.mapping.map_by = MapBy::kRankfile;
  for (std::size_t i = 0; i < places.size(); ++i) plan.ranks[i].place = places[i];
  const Binding binding = ChooseBinding(plan, 0, Machine{});
  Status status = BindRanks(binding, 0, topology->get(), CpuSetOf(allowed), &plan);
  if (!status.ok()) return std::string(status.message());
  std::string lists;
  for (const RankPlan& rank : plan.ranks)
    lists += (lists.empty() ? "" : " ") + (rank.cpuset.empty() ? "-" : rank.cpuset);
  return lists;
}

TEST(BindRanks, ByRankfile) {
  EXPECT_EQ(ByFile({"0", "1-2", "1:0-1", "1:*", "*", "", "0:0,1:3"}),
            "0-1 2-5 8-11 8-15 - - 0-1,14-15");
  EXPECT_EQ(ByFile({"0"}, "1-15"), "1");
  EXPECT_EQ(ByFile({"0", "8"}), "rank 1 on here: slot=8: the machine has no such core");
  EXPECT_EQ(ByFile({"2:0"}), "rank 0 on here: slot=2:0: the machine has no such core");
  EXPECT_EQ(ByFile({"0"}, "2-15"),
            "rank 0 on here: slot=0: this process may run on no such core, only on CPUs 2-15");
}

// A control group leaves cores out, which are counted all the same.
TEST(BindRanks, CoresOfTheWholeMachineAreCounted) {
  Result<Topology> topology = SyntheticTopology(kServer);
  ASSERT_TRUE(topology.ok());
  ASSERT_EQ(hwloc_topology_allow(topology->get(), CpuSetOf("8-15").get(), nullptr,
                                 HWLOC_ALLOW_FLAG_CUSTOM),
            0);
  const CpuSet allowed = AllowedCpus(topology->get());
  EXPECT_EQ(ListOf(allowed), "8-15");
  Plan plan = Ranks(1);
  plan.mapping.map_by = MapBy::kRankfile;
  plan.ranks[0].place = "5";
  const Binding binding = ChooseBinding(plan, 0, Machine{});
  ASSERT_TRUE(BindRanks(binding, 0, topology->get(), allowed, &plan).ok());
  EXPECT_EQ(plan.ranks[0].cpuset, "10-11");
  EXPECT_EQ(CountObjects(topology->get(), allowed, kCore), 4u);
  EXPECT_EQ(CountObjects(topology->get(), allowed, kSocket), 1u);
}

TEST(CountObjects, OnlyWhatIsAllowed) {
  Result<Topology> topology = SyntheticTopology(kServer);
  ASSERT_TRUE(topology.ok());
  EXPECT_EQ(CountObjects(topology->get(), CpuSetOf("0-15"), kSocket), 2u);
  EXPECT_EQ(CountObjects(topology->get(), CpuSetOf("0-7"), kSocket), 1u);
  EXPECT_EQ(CountObjects(topology->get(), CpuSetOf("1-4"), kCore), 3u);
  EXPECT_EQ(CountObjects(topology->get(), CpuSetOf("0-15"), BindTo::kNone), 1u);
}

// Whatever the machine, also with holes in it: ranks of several CPUs do not overlap while there are
// CPUs for all, each has as many as asked, and none that is not allowed.
TEST(BindRanks, RanksWithThreadsDoNotOverlap) {
  std::mt19937 random(64);
  for (const char* machine : {kServer, kLaptop, kLarge, "pack:2 [numa] l3:8 core:8 pu:2",
                              "pack:3 [numa] core:5 pu:1", "[numa] pack:4 [numa] core:3 pu:4"}) {
    Result<Topology> topology = SyntheticTopology(machine);
    ASSERT_TRUE(topology.ok()) << machine;
    const int cpus = hwloc_get_nbobjs_by_type(topology->get(), HWLOC_OBJ_PU);
    for (int round = 0; round < 40; ++round) {
      CpuSet allowed = AllowedCpus(topology->get());
      for (int hole = 0; hole < round % 4; ++hole)
        hwloc_bitmap_clr(allowed.get(), random() % static_cast<unsigned>(cpus));
      const auto usable = static_cast<std::uint32_t>(hwloc_bitmap_weight(allowed.get()));
      const std::uint32_t each = 1 + random() % 6;
      const std::uint32_t ranks = 1 + random() % (2 * usable / each + 1);
      Binding binding = Threads(each);
      Plan plan = Ranks(ranks);
      ASSERT_TRUE(BindRanks(binding, 0, topology->get(), allowed, &plan).ok());
      const CpuSet seen(hwloc_bitmap_alloc());
      for (const RankPlan& rank : plan.ranks) {
        const CpuSet set = CpuSetOf(rank.cpuset);
        const std::string what = std::string(machine) + ": " + std::to_string(ranks) + " x " +
                                 std::to_string(each) + " of " + std::to_string(usable);
        EXPECT_TRUE(hwloc_bitmap_isincluded(set.get(), allowed.get())) << what;
        EXPECT_FALSE(hwloc_bitmap_iszero(set.get())) << what;
        if (ranks * each > usable) continue;
        EXPECT_GE(hwloc_bitmap_weight(set.get()), static_cast<int>(each)) << what;
        EXPECT_FALSE(hwloc_bitmap_intersects(set.get(), seen.get())) << what;
        hwloc_bitmap_or(seen.get(), seen.get(), set.get());
      }
    }
  }
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
    for (const MapBy map_by : {MapBy::kSlot, MapBy::kNode, MapBy::kNuma, MapBy::kSocket,
                               MapBy::kL3cache, MapBy::kCore}) {
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

BindTo Chosen(const Mapping& mapping, std::uint32_t ranks, const Machine& machine) {
  Plan plan = Ranks(ranks);
  plan.mapping = mapping;
  return ChooseBinding(plan, 0, machine).to;
}

TEST(ChooseBinding, DefaultByMachine) {
  EXPECT_EQ(Chosen({}, 4, Cpus(8, 1)), BindTo::kNone);
  EXPECT_EQ(Chosen({}, 4, Cpus(8, 2)), BindTo::kNuma);
  EXPECT_EQ(Chosen({}, 1, Cpus(8, 2)), BindTo::kNone);
  EXPECT_EQ(Chosen({}, 9, Cpus(8, 2)), BindTo::kNone);
  EXPECT_FALSE(ChooseBinding(Ranks(4), 0, Cpus(8, 2)).asked);
}

TEST(ChooseBinding, MappingBindsUnlessToldOtherwise) {
  Mapping mapping = By(MapBy::kSocket);
  EXPECT_EQ(Chosen(mapping, 4, Cpus(8, 2)), BindTo::kSocket);
  mapping.cpus_per_rank = 2;
  EXPECT_EQ(Chosen(mapping, 4, Cpus(8, 2)), BindTo::kCore);
  mapping.bind_to = BindTo::kNone;
  EXPECT_EQ(Chosen(mapping, 4, Cpus(8, 2)), BindTo::kNone);
  EXPECT_EQ(Chosen(By(MapBy::kNode), 4, Cpus(8, 1)), BindTo::kNone);
}

}  // namespace
}  // namespace lamina::launcher
