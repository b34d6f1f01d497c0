// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every rank gets the place the user can foresee, and what cannot be met says what helps.
// Method: requests over machines and hosts that are not there; the plan is compared as a whole or
//         as the line of hosts by rank; then requests at random against the rules of slots.
#include "launcher/plan/place.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace lamina::launcher {
namespace {

Machine Laptop() {
  Machine machine;
  machine.name = "laptop";
  machine.cpus = 4;
  machine.processes_max = 32768;
  return machine;
}

ProgramRequest Program(std::optional<std::uint32_t> ranks, const std::string& hosts = "") {
  ProgramRequest program;
  program.argv = {"./prog"};
  program.ranks = ranks;
  if (!hosts.empty()) program.hosts = *ParseHostList(hosts);
  return program;
}

Request Of(std::vector<ProgramRequest> programs, const std::string& host_file = "") {
  Request request;
  request.programs = std::move(programs);
  if (!host_file.empty()) request.host_file = *ParseHostFile(host_file, "hosts");
  return request;
}

// "a a b": the host of each rank.
std::string HostsByRank(const Plan& plan) {
  std::string line;
  for (const RankPlan& rank : plan.ranks)
    line += (line.empty() ? "" : " ") + plan.hosts[rank.host].name;
  return line;
}

std::string HostsByRank(const Request& request) {
  Result<Plan> plan = MakePlan(request, Laptop(), true);
  return plan.ok() ? HostsByRank(*plan) : std::string(plan.status().message());
}

std::string ErrorOf(const Request& request, bool other_hosts = true) {
  Result<Plan> plan = MakePlan(request, Laptop(), other_hosts);
  EXPECT_FALSE(plan.ok());
  return plan.ok() ? "" : std::string(plan.status().message());
}

TEST(MakePlan, OneProgramHere) {
  Result<Plan> plan = MakePlan(Of({Program(3)}), Laptop(), false);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->hosts.size(), 1u);
  EXPECT_EQ(plan->hosts[0].name, "laptop");
  EXPECT_EQ(plan->hosts[0].slots, 4u);
  EXPECT_EQ(plan->universe_slots, 4u);
  ASSERT_EQ(plan->ranks.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(plan->ranks[i].rank, i);
    EXPECT_EQ(plan->ranks[i].local_rank, i);
    EXPECT_EQ(plan->ranks[i].sharing, Sharing::kExclusive);
    EXPECT_EQ(plan->ranks[i].cpuset, "");
  }
}

TEST(MakePlan, WithoutNumberOneRankASlot) {
  EXPECT_EQ(HostsByRank(Of({Program({})})), "laptop laptop laptop laptop");
  EXPECT_EQ(HostsByRank(Of({Program({}, "a:2,b:1")})), "a a b");
}

TEST(MakePlan, MoreRanksThanCpusJustRunHere) {
  Result<Plan> plan = MakePlan(Of({Program(5)}), Laptop(), false);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  for (const RankPlan& rank : plan->ranks) EXPECT_EQ(rank.sharing, Sharing::kShared);
  EXPECT_TRUE(MakePlan(Of({Program(200, "localhost")}), Laptop(), false).ok());
}

TEST(MakePlan, AWrittenNumberOfSlotsIsKept) {
  EXPECT_EQ(ErrorOf(Of({Program(3, "localhost:2")})),
            "3 ranks of ./prog, but 2 free slots on 1 host; --oversubscribe lets ranks share "
            "slots, or raise the number of slots (-H host:slots, slots= in the host file)");
  Request request = Of({Program(5, "localhost:2")});
  request.oversubscribe = true;
  Result<Plan> plan = MakePlan(request, Laptop(), false);
  ASSERT_TRUE(plan.ok());
  // Five ranks share four CPUs, whatever number of slots was written.
  EXPECT_EQ(plan->ranks[0].sharing, Sharing::kShared);
}

TEST(MakePlan, MaxSlotsHoldsEvenWhenSharing) {
  Request request = Of({Program(5)}, "a slots=2 max_slots=3\nb slots=1 max_slots=1\n");
  request.oversubscribe = true;
  EXPECT_EQ(ErrorOf(request),
            "5 ranks of ./prog, but 3 free slots on 2 hosts; no host may take more (max_slots, "
            "--map-by ppr)");
  request.programs[0].ranks = 4;
  EXPECT_EQ(HostsByRank(request), "a a a b");
}

TEST(MakePlan, BySlotFillsAHostByNodeGoesRound) {
  Request request = Of({Program(5)}, "a slots=3\nb slots=3\n");
  EXPECT_EQ(HostsByRank(request), "a a a b b");
  request.mapping.map_by = MapBy::kNode;
  EXPECT_EQ(HostsByRank(request), "a b a b a");
  request.programs[0].ranks = 6;
  EXPECT_EQ(HostsByRank(request), "a b a b a b");
}

TEST(MakePlan, ByNodePassesOverFullHosts) {
  Request request = Of({Program(5)}, "a slots=1\nb slots=3\nc slots=1\n");
  request.mapping.map_by = MapBy::kNode;
  EXPECT_EQ(HostsByRank(request), "a b c b b");
}

TEST(MakePlan, RanksAHost) {
  Request request = Of({Program(4)}, "a slots=8\nb slots=8\n");
  request.ranks_per_host_max = 2;
  EXPECT_EQ(HostsByRank(request), "a a b b");
  request.programs[0].ranks = 5;
  EXPECT_EQ(ErrorOf(request),
            "5 ranks of ./prog, but 4 free slots on 2 hosts; no host may take "
            "more than 2 (-N and --ppn count ranks of a host, not hosts)");
  // Neither sharing nor other numbers of slots would help.
  request.never_oversubscribe = true;
  EXPECT_TRUE(ErrorOf(request).ends_with("not hosts)"));
}

TEST(MakePlan, ProgramsFollowOneAnother) {
  EXPECT_EQ(HostsByRank(Of({Program(1), Program(3)}, "a slots=2\nb slots=2\n")), "a a b b");
  EXPECT_EQ(HostsByRank(Of({Program(1, "b"), Program(2)}, "a slots=2\nb slots=2\n")), "b a a");
  Result<Plan> plan = MakePlan(Of({Program(1), Program(2)}), Laptop(), false);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->ranks[0].app, 0u);
  EXPECT_EQ(plan->ranks[2].app, 1u);
  EXPECT_EQ(plan->ranks[2].local_rank, 2u);
  EXPECT_EQ(plan->apps[1].ranks, 2u);
}

TEST(MakePlan, TwoProgramsOnOneHostDoNotDoubleIt) {
  Result<Plan> plan = MakePlan(Of({Program(1, "a"), Program(1, "a:3")}), Laptop(), true);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->hosts.size(), 1u);
  EXPECT_EQ(plan->hosts[0].slots, 3u);
}

TEST(MakePlan, SeveralProgramsNeedNumbers) {
  EXPECT_EQ(ErrorOf(Of({Program(1), Program({})})),
            "say how many ranks of ./prog to start (-n); only a single program gets one rank a "
            "slot by itself");
}

TEST(MakePlan, HostListChoosesFromTheHostFile) {
  EXPECT_EQ(HostsByRank(Of({Program(2, "b")}, "a slots=2\nb slots=2\n")), "b b");
  EXPECT_EQ(ErrorOf(Of({Program(3, "b")}, "a slots=2\nb slots=2\n")).substr(0, 34),
            "3 ranks of ./prog, but 2 free slot");
  EXPECT_EQ(ErrorOf(Of({Program(1, "c")}, "a slots=2\n")), "host c (-H) is not in the host file");
}

TEST(MakePlan, HostsThatAreAvoidedStayFree) {
  Request request = Of({Program(2)}, "a slots=2\nb slots=2\nc slots=2\n");
  Avoid({"a", "d"}, &request);
  EXPECT_EQ(HostsByRank(request), "b b");
  Avoid({"b"}, &request);
  EXPECT_EQ(HostsByRank(request), "c c");
}

TEST(MakePlan, UnschedulableHostsStayFree) {
  Request request = Of({Program({})}, "login schedule=no slots=8\na slots=2\n");
  Result<Plan> plan = MakePlan(request, Laptop(), true);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(HostsByRank(*plan), "a a");
  EXPECT_EQ(plan->hosts.size(), 2u);
  EXPECT_EQ(plan->universe_slots, 2u);
  request.universe_slots = 7;
  EXPECT_EQ(MakePlan(request, Laptop(), true)->universe_slots, 7u);
  EXPECT_EQ(ErrorOf(Of({Program(1)}, "login schedule=no\n")),
            "every host is marked schedule=no: no place for ./prog");
}

TEST(MakePlan, OtherHostsAreRefusedByName) {
  EXPECT_EQ(ErrorOf(Of({Program(2)}, "localhost slots=1\nnode2 slots=1\n"), false),
            "starting on other hosts is not there yet: host node2 (hosts:2)");
  // Named, but without a rank: no reason to refuse.
  EXPECT_TRUE(
      MakePlan(Of({Program(1)}, "localhost slots=1\nnode2 slots=1\n"), Laptop(), false).ok());
}

TEST(MakePlan, MoreProcessesThanTheMachineAllows) {
  EXPECT_EQ(ErrorOf(Of({Program(2000000000)}), false),
            "2000000000 ranks are more processes than this machine allows (32768)");
}

TEST(MakePlan, ThisMachineIsOneHostWhateverItIsCalled) {
  Result<Plan> plan =
      MakePlan(Of({Program(3, "localhost:2"), Program(1, "laptop,127.0.0.1")}), Laptop(), false);
  EXPECT_FALSE(plan.ok());  // 4 ranks, and 2 slots written down
  plan = MakePlan(Of({Program(1, "localhost:2"), Program(1, "laptop")}), Laptop(), false);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->hosts.size(), 1u);
  EXPECT_EQ(plan->hosts[0].name, "localhost");
  EXPECT_EQ(plan->ranks[1].local_rank, 1u);
  EXPECT_TRUE(MakePlan(Of({Program(1, "laptop.home")}), Laptop(), false).ok());
}

TEST(MakePlan, ALongNameIsNotTakenForThisMachineWhenTwoCouldBe) {
  EXPECT_EQ(ErrorOf(Of({Program(2, "laptop.east,laptop.west")}), false),
            "starting on other hosts is not there yet: host laptop.east (-H)");
  Result<Plan> plan =
      MakePlan(Of({Program(3, "laptop.east:1,laptop.west:1,laptop:1")}), Laptop(), true);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->hosts.size(), 3u);
}

TEST(MakePlan, LongNamesStayApart) {
  EXPECT_EQ(HostsByRank(Of({Program(2)}, "n1.east slots=1\nn1.west slots=1\n")), "n1.east n1.west");
}

TEST(MakePlan, RangesOfHosts) {
  EXPECT_EQ(HostsByRank(Of({Program({}, "n[1-2]:2,n[05]")})), "n1 n1 n2 n2 n05");
  EXPECT_EQ(HostsByRank(Of({Program({})}, "n[08-10] slots=1\n")), "n08 n09 n10");
}

TEST(MakePlan, ANumberPerHostMakesSlots) {
  Request request = Of({Program({}, "a,b")});
  request.ranks_per_host_max = 2;
  EXPECT_EQ(HostsByRank(request), "a a b b");
  request.programs[0].ranks = 3;
  EXPECT_EQ(HostsByRank(request), "a a b");
}

TEST(MakePlan, PerObject) {
  Request request = Of({Program({}, "a,b")});
  request.mapping.map_by = MapBy::kNode;
  request.mapping.ranks_per_object = 2;
  EXPECT_EQ(HostsByRank(request), "a a b b");
  request.mapping.map_by = MapBy::kNuma;
  request.mapping.ranks_per_object = 1;
  request.objects_per_host = 2;
  EXPECT_EQ(HostsByRank(request), "a a b b");
  request.programs[0].ranks = 3;
  EXPECT_EQ(HostsByRank(request), "a a b");
  request.programs[0].ranks = 5;
  EXPECT_EQ(ErrorOf(request).substr(0, 50), "5 ranks of ./prog, but 4 free slots on 2 hosts; no");
}

TEST(MakePlan, CpusPerRankMakeFewerSlots) {
  Request request = Of({Program({})});
  request.mapping.cpus_per_rank = 2;
  EXPECT_EQ(HostsByRank(request), "laptop laptop");
  request.mapping.cpus_per_rank = 8;
  EXPECT_EQ(HostsByRank(request), "laptop");
}

TEST(MakePlan, InSequence) {
  Request request = Of({Program({})}, "a\nb\na slots=2\nc\n");
  request.mapping.map_by = MapBy::kSeq;
  EXPECT_EQ(HostsByRank(request), "a b a a c");
  request.programs[0].ranks = 2;
  EXPECT_EQ(HostsByRank(request), "a b");
  request.programs.push_back(Program({}));
  EXPECT_EQ(HostsByRank(request), "a b a a c");
  request.programs[1].ranks = 4;
  EXPECT_EQ(ErrorOf(request),
            "4 ranks of ./prog, but 3 places are left in the list of hosts (--map-by seq)");
  Request listed = Of({Program({}, "b,a,b")});
  listed.mapping.map_by = MapBy::kSeq;
  EXPECT_EQ(HostsByRank(listed), "b a b");
}

TEST(MakePlan, ByRankfile) {
  Request request = Of({Program({})});
  request.mapping.map_by = MapBy::kRankfile;
  request.rankfile = *ParseRankfile("rank 0=b slot=0\nrank 1=a slot=1:0\nrank 2=+n0\n", "ranks");
  Result<Plan> plan = MakePlan(request, Laptop(), true);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(HostsByRank(*plan), "b a b");
  EXPECT_EQ(plan->ranks[1].place, "1:0");
  EXPECT_EQ(plan->ranks[2].local_rank, 1u);
  request.programs[0].ranks = 4;
  EXPECT_EQ(ErrorOf(request), "the rank file has no line for rank 3");
  request.programs[0].ranks = 2;
  request.host_file = *ParseHostFile("a\n", "hosts");
  EXPECT_EQ(ErrorOf(request), "ranks:1: host b is none of the job's");
}

TEST(MakePlan, NumberedOverThePlaces) {
  Request request = Of({Program(6)}, "a slots=4\nb slots=2\n");
  request.mapping.rank_by = MapBy::kNode;
  EXPECT_EQ(HostsByRank(request), "a b a b a a");
  request.mapping.map_by = MapBy::kNode;
  request.mapping.rank_by = MapBy::kSlot;
  EXPECT_EQ(HostsByRank(request), "a a a a b b");
}

Request Allocated(const std::string& hosts, std::uint32_t cpus, ProgramRequest program) {
  Request request = Of({std::move(program)});
  request.allocation = *ParseHostList(hosts);
  request.allocation_name = "Slurm job 77";
  for (HostEntry& host : request.allocation) {
    host.slots_are_a_promise = false;
    host.cpus = cpus;
  }
  return request;
}

TEST(MakePlan, AnAllocationIsADefault) {
  EXPECT_EQ(HostsByRank(Allocated("n1:1,n2:1", 2, Program({}))), "n1 n2");
  // More ranks than tasks: free CPUs first, in blocks; then sharing, evenly.
  EXPECT_EQ(HostsByRank(Allocated("n1:1,n2:1", 2, Program(4))), "n1 n1 n2 n2");
  Result<Plan> plan = MakePlan(Allocated("n1:1,n2:1", 2, Program(5)), Laptop(), true);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(HostsByRank(*plan), "n1 n1 n1 n2 n2");
  EXPECT_EQ(plan->ranks[0].sharing, Sharing::kShared);
  EXPECT_EQ(plan->ranks[4].sharing, Sharing::kExclusive);
}

TEST(MakePlan, NamesAreChosenWithinAnAllocation) {
  EXPECT_EQ(HostsByRank(Allocated("n1.east:2,n2.east:2", 2, Program({}, "n2"))), "n2.east n2.east");
  EXPECT_EQ(ErrorOf(Allocated("n1:2", 2, Program(1, "n9"))),
            "host n9 (-H) does not belong to Slurm job 77");
  Request request = Allocated("n1:2,n2:2", 2, Program({}));
  request.host_file = *ParseHostFile("n2 slots=1\n", "hosts");
  EXPECT_EQ(HostsByRank(request), "n2");
  request.host_file = *ParseHostFile("n2\nn3\n", "hosts");
  EXPECT_EQ(ErrorOf(request), "host n3 (hosts:2) does not belong to Slurm job 77");
}

TEST(MakePlan, TenThousandHostsAreNoWork) {
  Request request = Of({Program({}, "n[00001-10000]:4")});
  request.mapping.rank_by = MapBy::kNode;
  Result<Plan> plan = MakePlan(request, Laptop(), true);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->ranks.size(), 40000u);
  EXPECT_EQ(plan->hosts[plan->ranks[9999].host].name, "n10000");
}

// Whatever is asked: a plan has all ranks in order, no host beyond its slots unless sharing was
// allowed, never beyond max_slots; a refusal means that the slots do not suffice.
TEST(MakePlan, RequestsAtRandom) {
  std::mt19937 random(20261120);
  for (int round = 0; round < 2000; ++round) {
    std::string file;
    std::uint64_t slots = 0;
    std::uint64_t most = 0;
    const std::uint32_t hosts = 1 + random() % 5;
    std::vector<std::uint32_t> limits;
    std::vector<std::uint32_t> hard;
    for (std::uint32_t h = 0; h < hosts; ++h) {
      limits.push_back(1 + random() % 6);
      hard.push_back(limits.back() + random() % 3);
      slots += limits.back();
      most += hard.back();
      file += "h" + std::to_string(h) + " slots=" + std::to_string(limits.back()) +
              " max_slots=" + std::to_string(hard.back()) + "\n";
    }
    Request request = Of({}, file);
    std::uint64_t ranks = 0;
    for (int p = static_cast<int>(random() % 3); p >= 0; --p) {
      request.programs.push_back(Program(1 + random() % 8));
      ranks += *request.programs.back().ranks;
    }
    request.oversubscribe = random() % 2 == 0;
    request.mapping.map_by = random() % 2 == 0 ? MapBy::kSlot : MapBy::kNode;
    Result<Plan> plan = MakePlan(request, Laptop(), true);
    EXPECT_EQ(plan.ok(), ranks <= (request.oversubscribe ? most : slots)) << file;
    if (!plan.ok()) continue;
    EXPECT_EQ(plan->ranks.size(), ranks);
    std::map<std::uint32_t, std::uint32_t> used;
    for (std::uint32_t i = 0; i < plan->ranks.size(); ++i) {
      EXPECT_EQ(plan->ranks[i].rank, i);
      EXPECT_EQ(plan->ranks[i].local_rank, used[plan->ranks[i].host]++);
    }
    for (const auto& [host, count] : used)
      EXPECT_LE(count, request.oversubscribe ? hard[host] : limits[host]) << file;
  }
}

}  // namespace
}  // namespace lamina::launcher
