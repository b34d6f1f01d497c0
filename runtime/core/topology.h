// SPDX-License-Identifier: BSD-3-Clause
// Process topologies (MPI-5.0, chapter 8) say who is whose neighbour. This is pure arithmetic;
// ranks are those of the communicator that carries the topology.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "runtime/base/ids.h"

namespace lamina::core {

struct Topology {
  int kind = MPI_UNDEFINED;  // MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH

  // MPI_CART uses these, by dimension, slowest first.
  std::vector<int> dims;
  std::vector<int> periodic;

  // MPI_GRAPH uses these: the neighbours of rank r are edges[index[r - 1]] up to edges[index[r] -
  // 1].
  std::vector<int> index;
  std::vector<int> edges;

  // MPI_DIST_GRAPH uses these, which are this process's own.
  std::vector<int> sources, source_weights;
  std::vector<int> destinations, destination_weights;
  bool weighted = false;
};

// The grid is row-major. `coordinates` must lie within dims where the dimension is not periodic.
Rank RankAt(const Topology& cart, std::span<const int> coordinates);
std::vector<int> CoordinatesOf(const Topology& cart, Rank rank);
// Returns the rank `displacement` further along `dimension`, or MPI_PROC_NULL beyond an edge.
Rank Shifted(const Topology& cart, Rank rank, int dimension, int displacement);
// Returns the neighbours of `rank` in a graph.
std::span<const int> Neighbours(const Topology& graph, Rank rank);

// These are the ranks that the neighbourhood collectives of a rank receive from and send to, in
// order (section 8.6): on a grid both directions of each dimension, the negative one first, with
// MPI_PROC_NULL beyond an edge. A rank may appear more than once.
struct Neighbourhood {
  std::vector<Rank> sources;
  std::vector<Rank> destinations;
};
Neighbourhood NeighbourhoodOf(const Topology& topology, Rank rank);
// These are the sizes of those lists.
std::size_t SourcesOf(const Topology& topology, Rank rank);
std::size_t DestinationsOf(const Topology& topology, Rank rank);

// Returns `factors` numbers that do not increase, whose product is `product`, as close together as
// they can be: the largest less the smallest is least, and then their sum.
std::vector<int> BalancedFactors(int product, int factors);

}  // namespace lamina::core
