// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every algorithm is right for every number of ranks, root and count, in place or not; it
//         cannot deadlock, and it moves exactly what its cost statement says.
// Method: play the schedules of all ranks without a network and without any buffering, with texts
//         as data and joining as the reduction, and compare with the naive result. Algorithms that
//         take non-commutative operations must keep rank order exactly; the others may permute
//         operands, but alike on all ranks.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "collectives/basic/basic.h"
#include "collectives/conformance/player.h"
#include "collectives/conformance/scenario.h"
#include "collectives/conformance/traffic_expected.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

constexpr Rank kRanksMax = 64;
#ifdef LAMINA_TEST_LONG
constexpr bool kLong = true;
#else
constexpr bool kLong = false;
#endif

// Lives as long as the process, like what it offers.
const Collective& Basic() {
  static const param::Settings* const settings = new param::Settings;
  static const Collective* const made = (*basic::Describe().make(Context{settings})).release();
  return *made;
}

// The algorithms within one group of ranks that all have each other for neighbours. The others have
// tests of their own, between_test.cc and neighbor_test.cc.
std::vector<const Algorithm*> AmongAll() {
  std::vector<const Algorithm*> all;
  for (const Algorithm* algorithm : Basic().Algorithms())
    if (!algorithm->inter && !Neighbourly(algorithm->operation)) all.push_back(algorithm);
  return all;
}

std::string CaseText(const Case& one) {
  return std::string(Name(one.operation)) + " of " + std::to_string(one.ranks) + " ranks, root " +
         std::to_string(one.root) + ", count " + std::to_string(one.count) +
         (one.in_place ? ", in place" : "") + (one.commutative ? "" : ", non-commutative");
}

// May an algorithm cut its blocks into smaller ones?
bool Cuttable(Operation operation) {
  return operation == Operation::kBcast || operation == Operation::kReduce ||
         operation == Operation::kAllreduce || operation == Operation::kScan ||
         operation == Operation::kExscan || operation == Operation::kAllgather ||
         operation == Operation::kGather || operation == Operation::kScatter;
}

// Has every rank something for, or of, every other?
bool Quadratic(Operation operation) {
  return operation == Operation::kAllgather || operation == Operation::kAllgatherv ||
         operation == Operation::kAlltoall || operation == Operation::kAlltoallv ||
         operation == Operation::kAlltoallw || operation == Operation::kReduceScatter ||
         operation == Operation::kReduceScatterBlock;
}

class Algorithms : public testing::TestWithParam<const Algorithm*> {
 protected:
  // Returns false if the algorithm does not fit. Otherwise reports what is wrong with it.
  bool Try(const Case& one) {
    const Algorithm& algorithm = *GetParam();
    Scenario scenario(one);
    std::vector<Schedule> schedules(static_cast<std::size_t>(one.ranks));
    for (Rank rank = 0; rank < one.ranks; ++rank) {
      const Shape shape{one.ranks, rank};
      const bool fits = algorithm.fits(scenario.call(rank), shape);
      if (!fits && rank == 0) return false;
      EXPECT_TRUE(fits) << CaseText(one) << ": rank " << rank << " disagrees about fitting";
      algorithm.plan(scenario.call(rank), shape, &schedules[static_cast<std::size_t>(rank)]);
    }
    Player player(schedules, &scenario.memory());
    EXPECT_EQ(player.Play(), "") << CaseText(one);
    EXPECT_EQ(scenario.Compare(!one.commutative), "") << CaseText(one);
    const std::optional<Moved> expected = Expected(algorithm, one, scenario);
    EXPECT_TRUE(expected.has_value()) << "traffic_expected.cc has no entry for it";
    if (expected.has_value()) {
      EXPECT_EQ(player.traffic().messages, expected->messages) << CaseText(one);
      EXPECT_EQ(player.traffic().elements, expected->elements) << CaseText(one);
    }
    return true;
  }

  int TryAllOf(Case one) {
    int tried = 0;
    for (const bool in_place : {false, true})
      for (const bool commutative : {true, false}) {
        if (!commutative && !Reduces(one.operation)) continue;
        if (in_place &&
            (one.operation == Operation::kBcast || one.operation == Operation::kBarrier))
          continue;
        one.in_place = in_place;
        one.commutative = commutative;
        if (Try(one)) ++tried;
        if (HasFailure()) return tried;
      }
    return tried;
  }
};

TEST_P(Algorithms, AllRanksRootsAndCounts) {
  const Operation operation = GetParam()->operation;
  int tried = 0;
  for (Rank ranks = 2; ranks <= kRanksMax; ++ranks) {
    // There are fewer elements than ranks, and more, so that blocks are empty, equal and unequal.
    // Blocks that every rank has for every other stay short. If there are many ranks, only numbers
    // around powers of two have several counts: the rest would take minutes and show nothing new.
    const bool around_power = (ranks & (ranks - 1)) == 0 || (ranks & (ranks + 1)) == 0;
    std::vector<std::int64_t> counts = {3};
    if (ranks <= 32 || around_power) counts.push_back(1);
    if (Cuttable(operation) && (ranks < 18 || around_power)) counts.push_back(ranks + 1);
    if (operation == Operation::kBarrier) counts = {0};
    for (const std::int64_t count : counts)
      for (Rank root = 0; root < (Rooted(operation) ? ranks : 1); ++root) {
        // Every root is tried. If there are many ranks, only the roots where intervals are cut
        // differently try every variant; at the others the variants take turns.
        const bool edge = root <= 2 || root + 2 >= ranks || root == ranks / 2;
        if (ranks <= 16 || edge) {
          tried += TryAllOf({operation, ranks, root, count});
        } else if (count == 3) {
          const bool in_place = root % 2 == 1 && operation != Operation::kBcast;
          tried += Try({operation, ranks, root, count, in_place, root % 4 < 2}) ? 1 : 0;
        }
        if (HasFailure()) return;
      }
  }
  EXPECT_GT(tried, 0) << "it fits nothing";
}

// Goal:   nothing is special about the first 64 numbers of ranks.
// Method: sizes at powers of two and beside them, up to 1024; where every rank has something for
//         every other, which takes as many cells as there are pairs of ranks, up to 257, and in the
//         long run up to 1024 too. Roots at both ends, in the middle and beside a power of two.
TEST_P(Algorithms, ManyRanks) {
  const Operation operation = GetParam()->operation;
  std::vector<Rank> sizes = {65, 128};
  if (!Quadratic(operation))
    for (const Rank ranks : {257, 1024}) sizes.push_back(ranks);
  if (kLong) sizes = {65, 127, 128, 129, 257, 500, 513, 1000, 1023, 1024};
  int tried = 0;
  for (const Rank ranks : sizes) {
    std::vector<Rank> roots = {0};
    if (Rooted(operation)) roots = {0, 2 * (ranks - PowerFloor(ranks)) + 1, ranks - 1};
    for (const Rank root : roots) {
      Case one{operation, ranks, root % ranks, operation == Operation::kBarrier ? 0 : 1};
      const bool twoway = operation != Operation::kBcast && operation != Operation::kBarrier;
      one.in_place = twoway && (ranks + root) % 2 == 1;
      one.commutative = !Reduces(operation) || root % 4 < 2;
      bool fitted = Try(one);
      // It may want the opposite, or a byte for each rank. If there is a block for every pair of
      // ranks, that would take too much memory.
      if (!fitted) {
        one.commutative = true;
        one.in_place = twoway && !one.in_place;
        if (Cuttable(operation) && !Quadratic(operation)) one.count = ranks + 1;
        fitted = Try(one);
      }
      tried += fitted ? 1 : 0;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(tried, 0) << "it fits nothing";
}

// Goal:   cutting into segments, which depends on bytes, is right for segments of any length.
// Method: few elements that are said to be long.
TEST_P(Algorithms, LongElements) {
  const Operation operation = GetParam()->operation;
  if (operation == Operation::kBarrier) return;
  for (const Rank ranks : {3, 4, 8, 13})
    for (const std::int64_t element_bytes : {1000, 30000}) {
      Case one{operation, ranks, ranks / 2, 33};
      one.element_bytes = element_bytes;
      Try(one);
      if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Basic, Algorithms, testing::ValuesIn(AmongAll()), [](const auto& info) {
  return std::string(Name(info.param->operation)) + "_" + info.param->name;
});

// Goal:   a call that comes never finds nobody to do it.
// Method: ask all algorithms of an operation, for every kind of call.
TEST(Coverage, EveryCallIsServed) {
  for (std::size_t i = 0; i < kOperations; ++i)
    for (const Rank ranks : {2, 3, 4, 7, 8, 64})
      for (const bool in_place : {false, true})
        for (const bool commutative : {false, true}) {
          Case one{static_cast<Operation>(i), ranks, ranks / 2, 2, in_place, commutative};
          if (Neighbourly(one.operation)) continue;
          const Scenario scenario(one);
          bool served = false;
          for (const Algorithm* algorithm : Basic().Algorithms())
            served = served || (algorithm->operation == one.operation && !algorithm->inter &&
                                algorithm->fits(scenario.call(0), {ranks, 0}));
          EXPECT_TRUE(served) << CaseText(one);
        }
}

}  // namespace
}  // namespace lamina::collective
