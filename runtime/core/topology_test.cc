// SPDX-License-Identifier: BSD-3-Clause
// Goal:   ranks and coordinates are each other's inverse, shifts stop at edges and go around where
//         periodic, and balanced factors are as balanced as can be.
// Method: all ranks of small grids; all numbers up to 300 against a search of all factorings.
#include "runtime/core/topology.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lamina::core {
namespace {

TEST(Topology, RanksAndCoordinatesAreInverse) {
  Topology cart;
  cart.kind = MPI_CART;
  cart.dims = {3, 4, 2};
  cart.periodic = {0, 1, 0};
  for (Rank rank = 0; rank < 24; ++rank) EXPECT_EQ(RankAt(cart, CoordinatesOf(cart, rank)), rank);
  EXPECT_EQ(CoordinatesOf(cart, 23), (std::vector<int>{2, 3, 1}));
  EXPECT_EQ(RankAt(cart, std::vector<int>{0, -1, 0}), RankAt(cart, std::vector<int>{0, 3, 0}));
}

TEST(Topology, ShiftsStopAtEdgesAndGoAround) {
  Topology cart;
  cart.kind = MPI_CART;
  cart.dims = {3, 4};
  cart.periodic = {0, 1};
  EXPECT_EQ(Shifted(cart, 0, 0, 1), 4);
  EXPECT_EQ(Shifted(cart, 0, 0, -1), MPI_PROC_NULL);
  EXPECT_EQ(Shifted(cart, 8, 0, 1), MPI_PROC_NULL);
  EXPECT_EQ(Shifted(cart, 0, 1, -1), 3);
  EXPECT_EQ(Shifted(cart, 5, 1, -9), 4);
}

TEST(Topology, NeighboursOfAGraph) {
  Topology graph;
  graph.kind = MPI_GRAPH;
  graph.index = {2, 3, 4, 6};
  graph.edges = {1, 3, 0, 3, 0, 2};
  EXPECT_EQ(Neighbours(graph, 0).size(), 2u);
  EXPECT_EQ(Neighbours(graph, 1)[0], 0);
  EXPECT_EQ(Neighbours(graph, 3)[1], 2);
}

TEST(BalancedFactors, MultiplyToTheProductAndDoNotIncrease) {
  for (int product = 1; product <= 300; ++product)
    for (int count = 1; count <= 4; ++count) {
      const std::vector<int> factors = BalancedFactors(product, count);
      int all = 1;
      for (const int factor : factors) all *= factor;
      ASSERT_EQ(all, product);
      ASSERT_TRUE(std::is_sorted(factors.rbegin(), factors.rend()));
    }
}

TEST(BalancedFactors, HaveTheLeastSpreadThenTheLeastSum) {
  for (int product = 1; product <= 300; ++product) {
    std::pair<int, int> best{product, 3 * product};
    for (int a = 1; a <= product; ++a)
      for (int b = 1; b <= product / a; ++b) {
        const int c = product / a / b;
        if (a * b * c == product)
          best = std::min(best, {std::max({a, b, c}) - std::min({a, b, c}), a + b + c});
      }
    const std::vector<int> factors = BalancedFactors(product, 3);
    ASSERT_EQ(factors[0] - factors[2], best.first) << product;
    ASSERT_EQ(factors[0] + factors[1] + factors[2], best.second) << product;
  }
  EXPECT_EQ(BalancedFactors(72, 2), (std::vector<int>{9, 8}));
  EXPECT_EQ(BalancedFactors(7, 2), (std::vector<int>{7, 1}));
}

}  // namespace
}  // namespace lamina::core
