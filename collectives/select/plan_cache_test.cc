// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a call finds the plan of an equal call and of no other; memory stays bounded; a plan in
// use
//         outlives its place in the cache; sorting a schedule keeps the order within each kind.
// Method: plans that are told apart by their scratch size.
#include "collectives/select/plan_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace lamina::collective {
namespace {

Plan* NewPlan(std::int64_t mark) {
  Schedule schedule;
  schedule.scratch_elements = mark;
  return MakePlan(nullptr, schedule);
}

Call CallOf(std::int64_t bytes) {
  Call call;
  call.operation = Operation::kBcast;
  call.bytes = bytes;
  return call;
}

void Add(PlanCache* cache, const Call& call, std::int64_t mark) {
  Plan* plan = NewPlan(mark);
  cache->Add(call, plan);
  Release(plan);
}

TEST(PlanCache, FindsEqualCallsOnly) {
  PlanCache cache(4, 100);
  Add(&cache, CallOf(8), 1);
  ASSERT_NE(cache.Find(CallOf(8)), nullptr);
  EXPECT_EQ(cache.Find(CallOf(8))->scratch_elements, 1);
  EXPECT_EQ(cache.Find(CallOf(9)), nullptr);
  Call other = CallOf(8);
  other.root = 1;
  EXPECT_EQ(cache.Find(other), nullptr);
  other = CallOf(8);
  other.in_place = true;
  EXPECT_EQ(cache.Find(other), nullptr);
  other = CallOf(8);
  other.operation = Operation::kBarrier;
  EXPECT_EQ(cache.Find(other), nullptr);
  other = CallOf(8);
  other.commutative = false;
  EXPECT_EQ(cache.Find(other), nullptr);
}

TEST(PlanCache, ComparesCountsAndDisplacements) {
  PlanCache cache(4, 100);
  const std::vector<std::int64_t> counts = {1, 2}, places = {0, 1}, other = {0, 2};
  Call call = CallOf(0);
  call.output_counts = counts;
  call.output_displacements = places;
  Add(&cache, call, 7);
  EXPECT_NE(cache.Find(call), nullptr);
  call.output_displacements = other;
  EXPECT_EQ(cache.Find(call), nullptr);
  // The same numbers on the other side are another call.
  call.output_displacements = places;
  call.input_counts = call.output_counts;
  call.output_counts = {};
  EXPECT_EQ(cache.Find(call), nullptr);
}

TEST(PlanCache, TheLongestUnusedMakesRoom) {
  PlanCache cache(2, 100);
  Add(&cache, CallOf(1), 1);
  Add(&cache, CallOf(2), 2);
  ASSERT_NE(cache.Find(CallOf(1)), nullptr);
  Add(&cache, CallOf(3), 3);
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_NE(cache.Find(CallOf(1)), nullptr);
  EXPECT_EQ(cache.Find(CallOf(2)), nullptr);
  EXPECT_NE(cache.Find(CallOf(3)), nullptr);
}

TEST(PlanCache, APlanInUseOutlivesItsPlace) {
  PlanCache cache(1, 100);
  Plan* plan = NewPlan(1);
  cache.Add(CallOf(1), plan);
  Add(&cache, CallOf(2), 2);
  EXPECT_EQ(plan->references, 1u);
  EXPECT_EQ(plan->scratch_elements, 1);
  Release(plan);
}

TEST(PlanCache, LargePlansAreNotKept) {
  PlanCache cache(4, 3);
  const std::vector<std::int64_t> counts = {1, 2, 3, 4};
  Call call = CallOf(0);
  call.output_counts = counts;
  Add(&cache, call, 1);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(MakePlan, SortsEachRoundAndKeepsOrder) {
  Schedule schedule;
  schedule.Copy(Input(0, 1), Output(0, 1));
  schedule.Send(1, Input(0, 1));
  schedule.Receive(2, Output(1, 1));
  schedule.Send(3, Input(0, 1));
  schedule.EndRound();
  schedule.Receive(4, Output(2, 1));
  schedule.EndRound();
  Plan* plan = MakePlan(nullptr, schedule);
  ASSERT_EQ(plan->rounds.size(), 2u);
  EXPECT_EQ(plan->transfers_max, 3u);
  EXPECT_EQ(plan->requests(), 3u);
  std::vector<Rank> peers;
  for (const Step& step : plan->steps) peers.push_back(step.peer);
  EXPECT_EQ(peers, (std::vector<Rank>{2, 1, 3, -1, 4}));
  EXPECT_EQ(plan->rounds[0].sends, 1u);
  EXPECT_EQ(plan->rounds[0].locals, 3u);
  EXPECT_EQ(plan->rounds[1].receives, 4u);
  EXPECT_EQ(plan->rounds[1].end, 5u);
  Release(plan);
  // Requests are needed for the receives of four rounds and the sends of one.
  schedule.receives_ahead = 3;
  plan = MakePlan(nullptr, schedule);
  EXPECT_EQ(plan->requests(), 5 * 3u);
  Release(plan);
}

}  // namespace
}  // namespace lamina::collective
