// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a reordered grid or graph has fewer edges between nodes than one in the old order, as few
//         as there can be where nodes hold bricks; what cannot be improved stays as it is.
// Method: count the edges that leave a node, for placements of ranks whose best is known.
#include "runtime/core/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace lamina::core {
namespace {

Topology Grid(std::vector<int> dims, bool periodic) {
  Topology topology;
  topology.kind = MPI_CART;
  topology.periodic.assign(dims.size(), periodic);
  topology.dims = std::move(dims);
  return topology;
}

std::vector<std::uint32_t> Filled(std::initializer_list<int> sizes) {
  std::vector<std::uint32_t> nodes;
  std::uint32_t node = 7;
  for (const int size : sizes) {
    nodes.insert(nodes.end(), static_cast<std::size_t>(size), node);
    node += 3;
  }
  return nodes;
}

std::int64_t Edges(const Topology& topology, const std::vector<std::uint32_t>& nodes,
                   const std::vector<Rank>& new_ranks) {
  std::vector<Rank> sorted = new_ranks;
  std::sort(sorted.begin(), sorted.end());
  std::vector<Rank> all(nodes.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all) << "no permutation";
  return EdgesBetweenNodes(topology, nodes, new_ranks);
}

TEST(Placement, AGridIsCutIntoBricks) {
  // Four nodes share a square plane: filling whole rows cuts more edges than filling squares.
  const Topology plane = Grid({4, 4}, false);
  const std::vector<std::uint32_t> nodes = Filled({4, 4, 4, 4});
  EXPECT_EQ(Edges(plane, nodes, PlaceOnGrid(plane, nodes)), 2 * 8);
  // Eight nodes share a cube: the best placement gives each node a smaller cube.
  const Topology cube = Grid({4, 4, 4}, false);
  const std::vector<std::uint32_t> eight = Filled({8, 8, 8, 8, 8, 8, 8, 8});
  EXPECT_EQ(Edges(cube, eight, PlaceOnGrid(cube, eight)), 2 * 3 * 16);
}

TEST(Placement, RanksDealtOutByNodeAreCollected) {
  const Topology line = Grid({8}, false);
  const std::vector<std::uint32_t> nodes = {0, 1, 0, 1, 0, 1, 0, 1};
  const std::vector<Rank> old = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(Edges(line, nodes, old), 14);
  EXPECT_EQ(Edges(line, nodes, PlaceOnGrid(line, nodes)), 2);
  const Topology ring = Grid({8}, true);
  EXPECT_EQ(Edges(ring, nodes, PlaceOnGrid(ring, nodes)), 4);
}

TEST(Placement, UnequalNodesAreNoWorseThanBefore) {
  const Topology plane = Grid({4, 3}, true);
  const std::vector<std::uint32_t> nodes = {0, 1, 2, 0, 1, 2, 0, 1, 0, 0, 1, 2};
  std::vector<Rank> old(nodes.size());
  std::iota(old.begin(), old.end(), 0);
  EXPECT_LT(Edges(plane, nodes, PlaceOnGrid(plane, nodes)), Edges(plane, nodes, old));
}

TEST(Placement, OneNodeAndNoDimensionsStayAsTheyAre) {
  const Topology plane = Grid({2, 2}, true);
  EXPECT_EQ(PlaceOnGrid(plane, Filled({4})), (std::vector<Rank>{0, 1, 2, 3}));
  EXPECT_EQ(PlaceOnGrid(Grid({}, false), Filled({1})), (std::vector<Rank>{0}));
}

TEST(Placement, CliquesOfAGraphShareANode) {
  // Three cliques stand in a chain, and their members are dealt out over the vertices.
  Topology graph;
  graph.kind = MPI_GRAPH;
  for (int vertex = 0; vertex < 9; ++vertex) {
    for (int peer = vertex % 3; peer < 9; peer += 3)
      if (peer != vertex) graph.edges.push_back(peer);
    if (vertex < 2) graph.edges.push_back(vertex + 1);
    graph.index.push_back(static_cast<int>(graph.edges.size()));
  }
  const std::vector<std::uint32_t> nodes = Filled({3, 3, 3});
  EXPECT_EQ(Edges(graph, nodes, PlaceOnGraph(graph, nodes)), 2);
}

}  // namespace
}  // namespace lamina::core
