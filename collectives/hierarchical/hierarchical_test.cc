// SPDX-License-Identifier: BSD-3-Clause
// Goal:   hierarchical algorithms are right for every number of ranks, root and count, however the
//         ranks lie: in blocks, round the nodes, in unequal and random groups, on three levels;
//         they cannot deadlock, and only leaders talk across. Non-commutative operations keep rank
//         order. Where there is one level nobody claims to fit.
// Method: play the schedules of all ranks without a network and without any buffering, with texts
//         as data and joining as the reduction, short and cut into segments, and compare with the
//         naive result; count the messages that cross between outermost groups.
#include "collectives/hierarchical/hierarchical.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collectives/conformance/player.h"
#include "collectives/conformance/scenario.h"

namespace lamina::collective {
namespace {

constexpr Rank kRanksMax = 64;
#ifdef LAMINA_TEST_LONG
constexpr bool kLong = true;
#else
constexpr bool kLong = false;
#endif

// The usual run takes all small numbers of ranks, and above them samples: powers of two and their
// neighbours, and a few more.
bool Sampled(Rank ranks) {
  return kLong || ranks <= 20 || ranks == 25 || (ranks >= 31 && ranks <= 33) || ranks == 50 ||
         ranks >= 63;
}

std::uint64_t Mixed(std::uint64_t x) { return (x * 6364136223846793005u + 12345u) >> 33; }

// How ranks lie: each level names the group of a rank; levels nest.
struct Layout {
  const char* name;
  std::vector<std::uint64_t (*)(std::uint64_t rank)> levels;
};
const Layout kLayouts[] = {
    {"blocks of 4", {[](std::uint64_t r) { return r / 4; }}},
    {"blocks of 7", {[](std::uint64_t r) { return r / 7; }}},
    {"round 3 nodes", {[](std::uint64_t r) { return r % 3; }}},
    {"round 5 nodes", {[](std::uint64_t r) { return r % 5; }}},
    {"unequal ranges", {[](std::uint64_t r) {
       return r < 1 ? 0 : r < 6 ? 1 : r < 8 ? 2 : 3 + r / 17;
     }}},
    {"at random", {[](std::uint64_t r) { return Mixed(r) % 6; }}},
    {"three levels in order",
     {[](std::uint64_t r) { return r / 2; }, [](std::uint64_t r) { return r / 6; },
      [](std::uint64_t r) { return r / 24; }}},
    {"two levels, unequal",
     {[](std::uint64_t r) { return r / 3; },
      [](std::uint64_t r) { return r < 9 ? 0 : 1 + r / 15; }}},
    {"two levels, round",
     {[](std::uint64_t r) { return r % 8; }, [](std::uint64_t r) { return r % 2; }}},
};

Hierarchy Made(const Layout& layout, Rank ranks) {
  Hierarchy hierarchy;
  LinkModel link;
  for (const auto& group_of : layout.levels) {
    PartitionBuilder builder;
    for (Rank rank = 0; rank < ranks; ++rank)
      builder.Add(group_of(static_cast<std::uint64_t>(rank)));
    hierarchy.Add("level", builder.Finish(), link);
    link.alpha_us *= 10;
    link.beta_us_per_byte *= 5;
  }
  hierarchy.outermost = link;
  return hierarchy;
}

std::string CaseText(const Case& one, const Layout& layout, std::int64_t element_bytes) {
  return std::string(Name(one.operation)) + " of " + std::to_string(one.ranks) + " ranks, " +
         layout.name + ", root " + std::to_string(one.root) + ", count " +
         std::to_string(one.count) + " of " + std::to_string(element_bytes) + " bytes" +
         (one.in_place ? ", in place" : "") + (one.commutative ? "" : ", non-commutative");
}

const Collective& Hierarchical() {
  static const param::Settings* const settings = new param::Settings;
  static const Collective* const made =
      (*hierarchical::Describe().make(Context{settings})).release();
  return *made;
}

class StagedPlans : public testing::TestWithParam<const Algorithm*> {
 protected:
  // Returns false if the algorithm does not fit.
  bool Try(const Case& one, const Layout& layout, const Hierarchy& hierarchy,
           std::int64_t element_bytes) {
    const bool fits = Try(one, layout, hierarchy, element_bytes, false);
    return fits && GetParam()->meets ? Try(one, layout, hierarchy, element_bytes, true) : fits;
  }

  bool Try(const Case& one, const Layout& layout, const Hierarchy& hierarchy,
           std::int64_t element_bytes, bool board) {
    const Algorithm& algorithm = *GetParam();
    Scenario scenario(one);
    std::vector<Schedule> schedules(static_cast<std::size_t>(one.ranks));
    for (Rank rank = 0; rank < one.ranks; ++rank) {
      Shape shape{one.ranks, rank};
      if (!hierarchy.levels.empty()) shape.hierarchy = &hierarchy;
      Call call = scenario.call(rank);
      call.bytes *= element_bytes;
      call.board = board;
      const bool fits = algorithm.fits(call, shape);
      if (!fits && rank == 0) return false;
      EXPECT_TRUE(fits) << CaseText(one, layout, element_bytes) << ": rank " << rank;
      EXPECT_GT(algorithm.cost_us(call, shape, hierarchy.outermost), 0);
      algorithm.plan(call, shape, &schedules[static_cast<std::size_t>(rank)]);
    }
    const Partition& outermost = hierarchy.levels.back().groups;
    Player player(schedules, &scenario.memory(), &outermost,
                  board ? &hierarchy.levels.front().groups : nullptr);
    EXPECT_EQ(player.Play(), "") << CaseText(one, layout, element_bytes);
    EXPECT_EQ(scenario.Compare(!one.commutative), "") << CaseText(one, layout, element_bytes);
    if (board && hierarchy.levels.size() == 1 && element_bytes == 1)
      EXPECT_EQ(player.traffic().messages, player.traffic().messages_across)
          << CaseText(one, layout, element_bytes);
    else if (element_bytes == 1 && !board && std::string(algorithm.name) == "hierarchical")
      CheckTraffic(one, outermost.groups(), player.traffic(), CaseText(one, layout, 1));
    if (std::string(algorithm.name) == "sliced")
      CheckSlices(one, outermost.groups(), player.traffic(), CaseText(one, layout, element_bytes));
    // A bcast in one piece has a round to receive it and one to pass it on.
    segmented_ = segmented_ || schedules[0].strand_ends.size() > 1 ||
                 (one.operation == Operation::kBcast && schedules[0].round_ends.size() > 2);
    return true;
  }

  // Checks the traffic of short data. Within groups there is one message for each rank that does
  // not lead, there and back; only what the leaders say to each other crosses.
  static void CheckTraffic(const Case& one, Rank groups, const Traffic& traffic,
                           const std::string& text) {
    const std::int64_t within = traffic.messages - traffic.messages_across;
    if (one.operation == Operation::kBcast) {
      EXPECT_EQ(within, one.ranks - groups) << text;
      EXPECT_EQ(traffic.elements_across, (groups - 1) * one.count) << text;
    } else if (one.operation == Operation::kGather || one.operation == Operation::kScatter) {
      EXPECT_GE(traffic.messages_across, groups - 1) << text;
      EXPECT_LE(traffic.messages_across, 2 * (groups - 1)) << text;
    } else if (one.operation == Operation::kReduce && one.commutative) {
      EXPECT_EQ(within, one.ranks - groups) << text;
      EXPECT_EQ(traffic.elements_across, (groups - 1) * one.count) << text;
    } else if (one.operation == Operation::kAllreduce || one.operation == Operation::kBarrier) {
      EXPECT_EQ(within, 2 * (one.ranks - groups)) << text;
    }
    if (one.operation == Operation::kAlltoall) {
      EXPECT_LE(traffic.messages_across, one.ranks * (groups - 1)) << text;
    }
    if (one.operation == Operation::kBarrier || one.operation == Operation::kAllreduce) {
      EXPECT_LE(traffic.messages_across, MessagesAmong(groups)) << text;
    }
  }

  // Checks that as many elements leave a group as if its leader spoke for it.
  static void CheckSlices(const Case& one, Rank groups, const Traffic& traffic,
                          const std::string& text) {
    EXPECT_LE(traffic.elements_across, MessagesAmong(groups) * one.count) << text;
    EXPECT_GE(traffic.elements_across, 2 * (groups - 1) * one.count) << text;
  }

  // How many messages an allreduce of short data sends at most.
  static std::int64_t MessagesAmong(Rank groups) {
    Rank rounds = 0;
    while ((1 << rounds) < groups) ++rounds;
    return groups * (rounds + 1);
  }

  int TryAllOf(Case one, const Layout& layout, const Hierarchy& hierarchy) {
    int tried = 0;
    const bool moves_all =
        one.operation == Operation::kBcast || one.operation == Operation::kBarrier;
    for (int variant = 0; variant < 8; ++variant) {
      one.in_place = (variant & 1) != 0;
      one.commutative = (variant & 2) == 0;
      if (!one.commutative && !Reduces(one.operation)) continue;
      if (one.in_place && moves_all) continue;
      if (Try(one, layout, hierarchy, (variant & 4) == 0 ? 1 : 1 << 16)) ++tried;
      if (HasFailure()) return tried;
    }
    return tried;
  }

  bool segmented_ = false;
};

TEST_P(StagedPlans, AllRanksRootsCountsAndLayouts) {
  const Operation operation = GetParam()->operation;
  for (const Layout& layout : kLayouts) {
    int tried = 0;
    for (Rank ranks = 2; ranks <= kRanksMax; ++ranks) {
      if (!Sampled(ranks)) continue;
      const Hierarchy hierarchy = Made(layout, ranks);
      if (hierarchy.levels.empty()) continue;
      for (Rank root = 0; root < (Rooted(operation) ? ranks : 1); ++root) {
        const bool edge = root <= 2 || root + 2 >= ranks || root == ranks / 2;
        const bool everything = ranks <= 12 || (edge && ranks % 5 == 0);
        std::vector<std::int64_t> counts = {3};
        if (everything) counts = {1, 3, ranks + 1};
        if (operation == Operation::kBarrier) counts = {0};
        for (const std::int64_t count : counts) {
          if (everything) {
            tried += TryAllOf({operation, ranks, root, count}, layout, hierarchy);
          } else {
            const bool in_place = root % 2 == 1 && operation != Operation::kBcast;
            tried += Try({operation, ranks, root, count, in_place, root % 4 < 2}, layout, hierarchy,
                         root % 3 == 0 ? 1 << 16 : 1)
                         ? 1
                         : 0;
          }
          if (HasFailure()) return;
        }
      }
    }
    const bool in_order = Made(layout, kRanksMax).levels.back().groups.in_order();
    // Algorithms that go by a rank's place in its group need groups of one size.
    const bool uneven =
        operation == Operation::kAlltoall && layout.name == std::string("unequal ranges");
    EXPECT_TRUE(tried > 0 || !in_order || uneven) << layout.name;
  }
  const bool cuts = std::string(GetParam()->name) == "hierarchical" &&
                    (operation == Operation::kBcast || operation == Operation::kReduce ||
                     operation == Operation::kAllreduce);
  EXPECT_EQ(segmented_, cuts);
}

TEST(Sliced, NoSliceOfASegmentIsLong) {
  const Hierarchy hierarchy = Made(kLayouts[0], 8);
  const Scenario scenario({Operation::kAllreduce, 8, 0, 24});
  Call call = scenario.call(0);
  call.bytes *= 1 << 16;
  Shape shape{8, 0};
  shape.hierarchy = &hierarchy;
  Schedule schedule;
  hierarchical::kAllreduceSliced.plan(call, shape, &schedule);
  for (const Step& step : schedule.steps) {
    EXPECT_TRUE(step.verb != Verb::kSend || step.from.count <= 4);  // half of a segment
  }
}

TEST_P(StagedPlans, FitsNothingWithoutLevels) {
  Case one{GetParam()->operation, 8, 0, 3};
  const Scenario scenario(one);
  EXPECT_FALSE(GetParam()->fits(scenario.call(0), {8, 0}));
}

std::vector<const Algorithm*> All() {
  const auto all = Hierarchical().Algorithms();
  return {all.begin(), all.end()};
}

INSTANTIATE_TEST_SUITE_P(Component, StagedPlans, testing::ValuesIn(All()), [](const auto& info) {
  return std::string(Name(info.param->operation)) + "_" + info.param->name;
});

}  // namespace
}  // namespace lamina::collective
