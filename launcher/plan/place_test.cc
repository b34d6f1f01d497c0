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
    EXPECT_EQ(plan->ranks[i].wait_mode, WaitMode::kExclusive);
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
  for (const RankPlan& rank : plan->ranks) EXPECT_EQ(rank.wait_mode, WaitMode::kOversubscribed);
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
  EXPECT_EQ(plan->ranks[0].wait_mode, WaitMode::kOversubscribed);
}

TEST(MakePlan, MaxSlotsHoldsEvenWhenSharing) {
  Request request = Of({Program(5)}, "a slots=2 max_slots=3\nb slots=1 max_slots=1\n");
  request.oversubscribe = true;
  EXPECT_EQ(ErrorOf(request),
            "5 ranks of ./prog, but 3 free slots on 2 hosts; no host may take more (max_slots, "
            "--ppn)");
  request.programs[0].ranks = 4;
  EXPECT_EQ(HostsByRank(request), "a a a b");
}

TEST(MakePlan, BySlotFillsAHostByNodeGoesRound) {
  Request request = Of({Program(5)}, "a slots=3\nb slots=3\n");
  EXPECT_EQ(HostsByRank(request), "a a a b b");
  request.map_by = MapBy::kNode;
  EXPECT_EQ(HostsByRank(request), "a b a b a");
  request.programs[0].ranks = 6;
  EXPECT_EQ(HostsByRank(request), "a b a b a b");
}

TEST(MakePlan, ByNodePassesOverFullHosts) {
  Request request = Of({Program(5)}, "a slots=1\nb slots=3\nc slots=1\n");
  request.map_by = MapBy::kNode;
  EXPECT_EQ(HostsByRank(request), "a b c b b");
}

TEST(MakePlan, RanksAHost) {
  Request request = Of({Program(4)}, "a slots=8\nb slots=8\n");
  request.ranks_per_host_max = 2;
  EXPECT_EQ(HostsByRank(request), "a a b b");
  request.programs[0].ranks = 5;
  EXPECT_EQ(ErrorOf(request),
            "5 ranks of ./prog, but 4 free slots on 2 hosts; no host may take "
            "more (max_slots, --ppn)");
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

TEST(MakePlan, UnschedulableHostsStayFree) {
  Request request = Of({Program({})}, "login schedule=no slots=8\na slots=2\n");
  Result<Plan> plan = MakePlan(request, Laptop(), true);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(HostsByRank(*plan), "a a");
  EXPECT_EQ(plan->hosts.size(), 2u);
  EXPECT_EQ(plan->universe_slots, 2u);
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
    request.map_by = random() % 2 == 0 ? MapBy::kSlot : MapBy::kNode;
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
