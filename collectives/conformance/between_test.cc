// SPDX-License-Identifier: BSD-3-Clause
// Goal:   collectives between two groups are right for all sizes of both, roots in either, counts
//         that differ by direction and by rank, zero included; reductions keep rank order; none can
//         deadlock, and each moves as many messages as its cost statement says (MPI-5.0, 6.2.3).
// Method: the schedules of both groups are played together without a network or any buffering,
//         with texts as data and joining as the reduction, and compared with the naive result.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "collectives/basic/basic.h"
#include "collectives/conformance/player.h"
#include "runtime/base/text.h"

namespace lamina::collective {
namespace {

const Collective& Basic() {
  static const param::Settings* const settings = new param::Settings;
  static const Collective* const made = (*basic::Describe().make(Context{settings})).release();
  return *made;
}

std::vector<const Algorithm*> Between() {
  std::vector<const Algorithm*> all;
  for (const Algorithm* algorithm : Basic().Algorithms())
    if (algorithm->inter) all.push_back(algorithm);
  return all;
}

// Ranks of the first group are numbered from 0, those of the second behind them.
struct Case {
  Operation operation{};
  Rank sizes[2] = {1, 1};
  int root_group = 0;
  Rank root = 0;  // within its group
  std::int64_t count = 1;
};

constexpr std::int64_t kHole = 2;  // elements before each block of the v-forms that stay untouched

class Scenario {
 public:
  explicit Scenario(const Case& one)
      : case_(one),
        all_(one.sizes[0] + one.sizes[1]),
        calls_(static_cast<std::size_t>(all_)),
        arrays_(calls_.size()),
        memory_(calls_.size()),
        expected_(calls_.size()) {
    for (Rank rank = 0; rank < all_; ++rank) Build(rank);
  }

  Shape ShapeOf(Rank rank) const {
    Shape shape;
    shape.ranks = case_.sizes[GroupOf(rank)];
    shape.rank = rank - First(GroupOf(rank));
    shape.remote_ranks = case_.sizes[1 - GroupOf(rank)];
    return shape;
  }
  const Call& call(Rank rank) const { return calls_[static_cast<std::size_t>(rank)]; }
  std::vector<Memory>& memory() { return memory_; }
  Rank all() const { return all_; }

  // Returns the peer of `rank` as the player counts ranks.
  Rank Global(Rank rank, Rank peer) const {
    const int group = GroupOf(rank);
    const Rank own = case_.sizes[group];
    return peer < own ? First(group) + peer : First(1 - group) + peer - own;
  }

  std::string Compare() const {
    for (std::size_t rank = 0; rank < memory_.size(); ++rank)
      if (memory_[rank].output != expected_[rank]) {
        std::size_t i = 0;
        while (i < expected_[rank].size() && memory_[rank].output[i] == expected_[rank][i]) ++i;
        return Format("rank %zu, element %zu is wrong", rank, i);
      }
    return {};
  }

  // Counts the blocks with data that cross from one group to the other.
  std::int64_t Crossing() const {
    std::int64_t blocks = 0;
    for (Rank from = 0; from < all_; ++from)
      for (Rank to = 0; to < all_; ++to)
        if (GroupOf(from) != GroupOf(to) && CountOf(from, to) > 0) ++blocks;
    return blocks;
  }

 private:
  struct Arrays {
    std::vector<std::int64_t> input_counts, input_displacements;
    std::vector<std::int64_t> output_counts, output_displacements;
  };

  int GroupOf(Rank rank) const { return rank < case_.sizes[0] ? 0 : 1; }
  Rank First(int group) const { return group == 0 ? 0 : case_.sizes[0]; }
  Rank Root() const { return First(case_.root_group) + case_.root; }

  bool Vectored() const {
    const Operation it = case_.operation;
    return it == Operation::kGatherv || it == Operation::kScatterv ||
           it == Operation::kAllgatherv || it == Operation::kAlltoallv || Typed(it);
  }

  // Counts the elements that go from a rank to one of the other group.
  std::int64_t CountOf(Rank from, Rank to) const {
    const Operation it = case_.operation;
    const bool by_receiver = it == Operation::kScatter || it == Operation::kScatterv;
    if (Rooted(it) && (by_receiver ? from : to) != Root()) return 0;
    if (it == Operation::kAlltoallv || Typed(it)) return (from * 5 + to * 3) % (case_.count + 2);
    if (Vectored()) return ((by_receiver ? to : from) * 7 + 3) % (case_.count + 2);
    // Uniform blocks have another size in each direction if both carry data.
    if (Rooted(it)) return case_.count;
    return GroupOf(from) == 0 ? case_.count : case_.count - 1;
  }

  static std::string Datum(Rank from, Rank to, std::int64_t index) {
    return Format("%d>%d.%lld", from, to, static_cast<long long>(index));
  }

  void Build(Rank rank) {
    Call& call = calls_[static_cast<std::size_t>(rank)];
    const int group = GroupOf(rank);
    call.operation = case_.operation;
    call.bytes = 1;
    if (Rooted(case_.operation)) {
      const Rank own = case_.sizes[group];
      call.root = group != case_.root_group ? own + case_.root
                  : rank == Root()          ? case_.root
                                            : kNobody;
      if (call.root == kNobody) return;
    }
    if (case_.operation == Operation::kBarrier) return;
    if (Reduces(case_.operation)) return BuildReduction(rank);
    if (case_.operation == Operation::kBcast) {
      Memory& memory = memory_[static_cast<std::size_t>(rank)];
      Cells& expected = expected_[static_cast<std::size_t>(rank)];
      call.output_count = case_.count;
      for (std::int64_t i = 0; i < case_.count; ++i) {
        expected.push_back(Datum(Root(), 0, i));
        memory.output.push_back(rank == Root() ? expected.back() : kUnwritten);
      }
      return;
    }
    BuildBlocks(rank);
  }

  void BuildBlocks(Rank rank) {
    const auto at = static_cast<std::size_t>(rank);
    const Operation it = case_.operation;
    const int group = GroupOf(rank);
    const bool gathers = it == Operation::kGather || it == Operation::kGatherv;
    const bool scatters = it == Operation::kScatter || it == Operation::kScatterv;
    const bool same_to_all = gathers || it == Operation::kAllgather || it == Operation::kAllgatherv;
    const bool sends = !Rooted(it) || gathers != (rank == Root());
    const bool receives = !Rooted(it) || scatters != (rank == Root());
    Call& call = calls_[at];
    Memory& memory = memory_[at];
    Cells& expected = expected_[at];
    Arrays& arrays = arrays_[at];
    const Rank begin = First(1 - group), end = begin + case_.sizes[1 - group];
    const auto hole = [&](Cells* cells) {
      if (Vectored()) cells->insert(cells->end(), kHole, kUnwritten);
    };
    if (sends && same_to_all) {
      call.input_count = CountOf(rank, gathers ? Root() : begin);
      for (std::int64_t i = 0; i < call.input_count; ++i) memory.input.push_back(Datum(rank, 0, i));
    } else if (sends) {
      for (Rank peer = begin; peer < end; ++peer) {
        hole(&memory.input);
        const std::int64_t count = call.input_count = CountOf(rank, peer);
        arrays.input_counts.push_back(count);
        arrays.input_displacements.push_back(static_cast<std::int64_t>(memory.input.size()));
        for (std::int64_t i = 0; i < count; ++i) memory.input.push_back(Datum(rank, peer, i));
      }
    }
    if (Vectored() && sends && !same_to_all) {
      call.input_counts = arrays.input_counts;
      call.input_displacements = arrays.input_displacements;
    }
    if (!receives) return;
    const bool from_root = scatters && rank != Root();
    for (Rank peer = from_root ? Root() : begin; peer < (from_root ? Root() + 1 : end); ++peer) {
      if (!from_root) hole(&expected);
      const std::int64_t count = call.output_count = CountOf(peer, rank);
      arrays.output_counts.push_back(count);
      arrays.output_displacements.push_back(static_cast<std::int64_t>(expected.size()));
      for (std::int64_t i = 0; i < count; ++i)
        expected.push_back(Datum(peer, same_to_all ? 0 : rank, i));
    }
    memory.output.assign(expected.size(), kUnwritten);
    if (!Vectored() || from_root) return;
    call.output_counts = arrays.output_counts;
    call.output_displacements = arrays.output_displacements;
  }

  // The inputs of a group, joined in rank order.
  std::string Folded(int group, std::int64_t index) const {
    std::string all;
    for (Rank rank = First(group); rank < First(group) + case_.sizes[group]; ++rank)
      all += Format("%d.%lld ", rank, static_cast<long long>(index));
    return all;
  }

  void BuildReduction(Rank rank) {
    const auto at = static_cast<std::size_t>(rank);
    const Operation it = case_.operation;
    const int group = GroupOf(rank);
    const Rank own = case_.sizes[group];
    Call& call = calls_[at];
    std::int64_t total = case_.count;
    std::int64_t first = 0;
    std::int64_t result = total;
    if (it == Operation::kReduceScatter || it == Operation::kReduceScatterBlock) {
      total = case_.count * case_.sizes[0] * case_.sizes[1];
      const std::int64_t block = total / own;
      for (Rank r = 0; r < own; ++r) {
        // The first rank has part of the last one's block as well.
        std::int64_t count = block;
        if (it == Operation::kReduceScatter && own > 1 && r == 0) count += (block + 1) / 2;
        if (it == Operation::kReduceScatter && own > 1 && r == own - 1) count -= (block + 1) / 2;
        if (r < rank - First(group)) first += count;
        if (r == rank - First(group)) result = count;
        if (it == Operation::kReduceScatter) arrays_[at].output_counts.push_back(count);
      }
      call.output_counts = arrays_[at].output_counts;
    }
    call.input_count = call.output_count = it == Operation::kReduceScatterBlock ? result : total;
    if (it != Operation::kReduce || rank != Root())
      for (std::int64_t i = 0; i < total; ++i)
        memory_[at].input.push_back(Format("%d.%lld ", rank, static_cast<long long>(i)));
    if (it == Operation::kReduce && rank != Root()) return;
    for (std::int64_t i = 0; i < result; ++i) expected_[at].push_back(Folded(1 - group, first + i));
    memory_[at].output.assign(expected_[at].size(), kUnwritten);
  }

  const Case case_;
  const Rank all_;
  std::vector<Call> calls_;
  std::vector<Arrays> arrays_;
  std::vector<Memory> memory_;
  std::vector<Cells> expected_;
};

// How many messages the cost statements promise, or -1 if that depends on which blocks of a leader
// are empty.
std::int64_t Messages(const Case& one, const Scenario& scenario) {
  const std::int64_t all = one.sizes[0] + one.sizes[1];
  switch (one.operation) {
    case Operation::kBarrier:
    case Operation::kAllreduce:
      return 2 * (all - 1);
    case Operation::kBcast:
    case Operation::kReduce:
      return one.sizes[1 - one.root_group];
    case Operation::kReduceScatter:
    case Operation::kReduceScatterBlock:
      return -1;
    default:
      return scenario.Crossing();
  }
}

class BetweenGroups : public testing::TestWithParam<const Algorithm*> {
 protected:
  void Try(const Case& one) {
    const Algorithm& algorithm = *GetParam();
    Scenario scenario(one);
    SCOPED_TRACE(Format("%d and %d ranks, root %d of group %d, count %lld", one.sizes[0],
                        one.sizes[1], one.root, one.root_group, static_cast<long long>(one.count)));
    std::vector<Schedule> schedules(static_cast<std::size_t>(scenario.all()));
    for (Rank rank = 0; rank < scenario.all(); ++rank) {
      Schedule& schedule = schedules[static_cast<std::size_t>(rank)];
      ASSERT_TRUE(algorithm.fits(scenario.call(rank), scenario.ShapeOf(rank)));
      algorithm.plan(scenario.call(rank), scenario.ShapeOf(rank), &schedule);
      for (Step& step : schedule.steps)
        if (step.peer >= 0) step.peer = scenario.Global(rank, step.peer);
    }
    Player player(schedules, &scenario.memory());
    ASSERT_EQ(player.Play(), "");
    ASSERT_EQ(scenario.Compare(), "");
    if (const std::int64_t messages = Messages(one, scenario); messages >= 0) {
      ASSERT_EQ(player.traffic().messages, messages);
    }
  }
};

TEST_P(BetweenGroups, AllSizesRootsAndCounts) {
  const Operation operation = GetParam()->operation;
  const auto try_sizes = [&](Rank first, Rank second) {
    for (const std::int64_t count : {1, 3})
      for (const int group : {0, 1}) {
        if (group == 1 && !Rooted(operation)) continue;
        const Rank roots = Rooted(operation) ? (group == 0 ? first : second) : 1;
        for (Rank root = 0; root < roots; ++root) {
          Try({operation, {first, second}, group, root, count});
          if (HasFatalFailure()) return;
        }
      }
  };
  for (Rank first = 1; first <= 9; ++first)
    for (Rank second = 1; second <= 9; ++second) {
      try_sizes(first, second);
      if (HasFatalFailure()) return;
    }
  for (const auto& [first, second] : {std::pair{1, 64}, {64, 3}, {17, 40}}) {
    try_sizes(first, second);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Basic, BetweenGroups, testing::ValuesIn(Between()), [](const auto& info) {
  return std::string(Name(info.param->operation)) + "_" + info.param->name;
});

// Goal: every operation that is defined on intercommunicators is there.
TEST(BetweenGroupsCoverage, EveryOperation) {
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    const std::vector<const Algorithm*> all = Between();
    const bool there = std::any_of(all.begin(), all.end(), [operation](const Algorithm* one) {
      return one->operation == operation;
    });
    const bool defined =
        !Neighbourly(operation) && operation != Operation::kScan && operation != Operation::kExscan;
    EXPECT_EQ(there, defined) << Name(operation);
  }
}

}  // namespace
}  // namespace lamina::collective
