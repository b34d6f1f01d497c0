// SPDX-License-Identifier: BSD-3-Clause
// Goal:   neighbourhood collectives bring every block along its edge: on grids of any shape, with
//         dimensions of one and two where both directions lead to the same rank, and on graphs with
//         edges that come twice and edges to oneself; blocks beyond the edge of a grid stay as they
//         are (MPI-5.0, section 8.6).
// Method: the schedules of all ranks are played without a network, and compared with a list of
//         edges that is made from the definition.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
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

std::vector<const Algorithm*> AmongNeighbours() {
  std::vector<const Algorithm*> all;
  for (const Algorithm* algorithm : Basic().Algorithms())
    if (Neighbourly(algorithm->operation)) all.push_back(algorithm);
  return all;
}

// The lists of all ranks, and where each block ends: (rank, index of destination) leads to (rank,
// index of source).
struct Network {
  std::vector<std::vector<Rank>> sources, destinations;
  std::map<std::pair<Rank, Rank>, std::pair<Rank, Rank>> edges;
  bool grid = false;
  Rank ranks() const { return static_cast<Rank>(sources.size()); }
};

// What goes one way along a dimension arrives from the other way.
Network Grid(const std::vector<int>& dims, const std::vector<bool>& periodic) {
  Network network;
  network.grid = true;
  Rank ranks = 1;
  for (const int size : dims) ranks *= size;
  for (Rank rank = 0; rank < ranks; ++rank) {
    std::vector<Rank> list;
    Rank stride = ranks;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      stride /= dims[d];
      const int at = rank / stride % dims[d];
      for (const int step : {-1, 1}) {
        const int there = at + step;
        const bool inside = there >= 0 && there < dims[d];
        const Rank peer = rank + ((there + dims[d]) % dims[d] - at) * stride;
        const auto slot = static_cast<Rank>(list.size());
        list.push_back(inside || periodic[d] ? peer : kNobody);
        if (list.back() != kNobody)
          network.edges[{rank, slot}] = {peer, step < 0 ? slot + 1 : slot - 1};
      }
    }
    network.sources.push_back(list);
    network.destinations.push_back(list);
  }
  return network;
}

// Edges made by a rule that gives rings, double edges and edges to oneself; one rank has none.
Network Graph(Rank ranks, int seed) {
  Network network;
  network.sources.resize(static_cast<std::size_t>(ranks));
  network.destinations.resize(static_cast<std::size_t>(ranks));
  unsigned state = static_cast<unsigned>(seed);
  const auto next = [&state](Rank below) {
    state = state * 1103515245u + 12345u;
    return static_cast<Rank>((state >> 16) % static_cast<unsigned>(below));
  };
  std::map<std::pair<Rank, Rank>, int> copies;
  for (int i = 0; i < 4 * ranks; ++i) {
    const Rank from = next(ranks), to = i % 5 == 0 ? from : next(ranks);
    if (from == ranks / 2 || to == ranks / 2) continue;
    auto& out = network.destinations[static_cast<std::size_t>(from)];
    auto& in = network.sources[static_cast<std::size_t>(to)];
    network.edges[{from, static_cast<Rank>(out.size())}] = {to, static_cast<Rank>(in.size())};
    out.push_back(to);
    in.push_back(from);
  }
  return network;
}

class Neighbours : public testing::TestWithParam<const Algorithm*> {
 protected:
  // How many elements go along an edge.
  static std::int64_t CountOf(Operation operation, Rank from, Rank slot) {
    if (operation == Operation::kNeighborAllgatherv) return (from * 7 + 1) % 4;
    if (operation == Operation::kNeighborAlltoallv || Typed(operation))
      return (from * 5 + slot * 3) % 4;
    return 3;
  }

  void Try(const Network& network) {
    const Algorithm& algorithm = *GetParam();
    const Operation operation = algorithm.operation;
    const bool gathers =
        operation == Operation::kNeighborAllgather || operation == Operation::kNeighborAllgatherv;
    const bool uniform =
        operation == Operation::kNeighborAllgather || operation == Operation::kNeighborAlltoall;
    std::map<std::pair<Rank, Rank>, std::pair<Rank, Rank>> origin;
    for (const auto& [from, to] : network.edges) origin[to] = from;

    const auto ranks = static_cast<std::size_t>(network.ranks());
    std::vector<Schedule> schedules(ranks);
    std::vector<Memory> memory(ranks);
    std::vector<Cells> expected(ranks);
    for (Rank rank = 0; rank < network.ranks(); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      const auto datum = [&](Rank from, Rank slot, std::int64_t i) {
        return Format("%d.%d.%lld", from, gathers ? 0 : slot, static_cast<long long>(i));
      };
      Call call;
      call.operation = operation;
      std::vector<std::int64_t> input_counts, input_displacements, output_counts,
          output_displacements;
      const auto slots = gathers ? 1 : static_cast<Rank>(network.destinations[at].size());
      for (Rank slot = 0; slot < slots; ++slot) {
        const std::int64_t count = CountOf(operation, rank, slot);
        call.input_count = count;
        input_counts.push_back(count);
        input_displacements.push_back(static_cast<std::int64_t>(memory[at].input.size()));
        for (std::int64_t i = 0; i < count; ++i) memory[at].input.push_back(datum(rank, slot, i));
      }
      for (Rank slot = 0; slot < static_cast<Rank>(network.sources[at].size()); ++slot) {
        const auto found = origin.find({rank, slot});
        const bool there = found != origin.end();
        const std::int64_t count =
            there ? CountOf(operation, found->second.first, found->second.second) : 3;
        if (!uniform) expected[at].push_back(kUnwritten);  // a hole before each block
        call.output_count = count;
        output_counts.push_back(count);
        output_displacements.push_back(static_cast<std::int64_t>(expected[at].size()));
        for (std::int64_t i = 0; i < count; ++i)
          expected[at].push_back(there ? datum(found->second.first, found->second.second, i)
                                       : kUnwritten);
      }
      memory[at].output.assign(expected[at].size(), kUnwritten);
      if (!uniform) {
        call.output_counts = output_counts;
        call.output_displacements = output_displacements;
        if (!gathers) call.input_counts = input_counts;
        if (!gathers) call.input_displacements = input_displacements;
      }
      Shape shape;
      shape.ranks = network.ranks();
      shape.rank = rank;
      shape.sources = network.sources[at];
      shape.destinations = network.destinations[at];
      shape.grid = network.grid;
      ASSERT_TRUE(algorithm.fits(call, shape));
      algorithm.plan(call, shape, &schedules[at]);
    }
    ASSERT_EQ(Player(schedules, &memory).Play(), "");
    for (std::size_t rank = 0; rank < ranks; ++rank)
      ASSERT_EQ(memory[rank].output, expected[rank]) << "rank " << rank;
  }
};

TEST_P(Neighbours, Grids) {
  const std::vector<std::vector<int>> shapes = {{},     {1},       {2},       {3},       {7},
                                                {1, 1}, {2, 2},    {1, 4},    {4, 2},    {5, 3},
                                                {8, 8}, {2, 2, 2}, {1, 2, 3}, {3, 3, 2}, {4, 4, 4}};
  for (const std::vector<int>& dims : shapes)
    for (unsigned around = 0; around < 1u << dims.size(); ++around) {
      std::vector<bool> periodic;
      for (std::size_t d = 0; d < dims.size(); ++d) periodic.push_back((around >> d) & 1u);
      SCOPED_TRACE(Format("%zu dimensions, shape %td, periodic %x", dims.size(),
                          &dims - shapes.data(), around));
      Try(Grid(dims, periodic));
      if (HasFatalFailure()) return;
    }
}

TEST_P(Neighbours, Graphs) {
  for (Rank ranks = 1; ranks <= 40; ++ranks)
    for (int seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(Format("%d ranks, seed %d", ranks, seed));
      Try(Graph(ranks, seed));
      if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Basic, Neighbours, testing::ValuesIn(AmongNeighbours()),
                         [](const auto& info) { return std::string(Name(info.param->operation)); });

}  // namespace
}  // namespace lamina::collective
