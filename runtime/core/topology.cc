// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/topology.h"

#include <algorithm>

namespace lamina::core {
namespace {

// Returns the divisors of `product` in ascending order.
std::vector<int> DivisorsOf(int product) {
  std::vector<int> small, large;
  for (int i = 1; i <= product / i; ++i) {
    if (product % i != 0) continue;
    small.push_back(i);
    if (i != product / i) large.push_back(product / i);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

// True if base to the power of `exponent` is at least `limit`.
bool Reaches(long long base, std::size_t exponent, int limit) {
  long long power = 1;
  for (std::size_t i = 0; i < exponent && power < limit; ++i) power *= base;
  return power >= limit;
}

// Fills factors[at...] with divisors of `product` that are at most `limit` and do not increase, so
// that the largest is as small as it can be, then the next. Returns false if there are none.
bool Factor(const std::vector<int>& divisors, std::vector<int>* factors, std::size_t at,
            int product, int limit) {
  const std::size_t left = factors->size() - at;
  if (left == 1) {
    (*factors)[at] = product;
    return product <= limit;
  }
  for (const int factor : divisors) {
    if (factor > limit) return false;
    // The largest of `left` factors cannot be below the root.
    if (product % factor != 0 || !Reaches(factor, left, product)) continue;
    (*factors)[at] = factor;
    if (Factor(divisors, factors, at + 1, product / factor, factor)) return true;
  }
  return false;
}

int Wrapped(int coordinate, int size) {
  const int rest = coordinate % size;
  return rest < 0 ? rest + size : rest;
}

}  // namespace

Rank RankAt(const Topology& cart, std::span<const int> coordinates) {
  Rank rank = 0;
  for (std::size_t i = 0; i < cart.dims.size(); ++i) {
    const int size = cart.dims[i];
    rank = rank * size + (cart.periodic[i] ? Wrapped(coordinates[i], size) : coordinates[i]);
  }
  return rank;
}

std::vector<int> CoordinatesOf(const Topology& cart, Rank rank) {
  std::vector<int> coordinates(cart.dims.size());
  for (std::size_t i = cart.dims.size(); i-- > 0;) {
    coordinates[i] = rank % cart.dims[i];
    rank /= cart.dims[i];
  }
  return coordinates;
}

Rank Shifted(const Topology& cart, Rank rank, int dimension, int displacement) {
  std::vector<int> coordinates = CoordinatesOf(cart, rank);
  const auto at = static_cast<std::size_t>(dimension);
  const int size = cart.dims[at];
  const long long moved = static_cast<long long>(coordinates[at]) + displacement;
  if (!cart.periodic[at] && (moved < 0 || moved >= size)) return MPI_PROC_NULL;
  coordinates[at] = Wrapped(static_cast<int>(moved % size), size);
  return RankAt(cart, coordinates);
}

std::span<const int> Neighbours(const Topology& graph, Rank rank) {
  const auto at = static_cast<std::size_t>(rank);
  const int first = rank == 0 ? 0 : graph.index[at - 1];
  return std::span(graph.edges)
      .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(graph.index[at] - first));
}

Neighbourhood NeighbourhoodOf(const Topology& topology, Rank rank) {
  if (topology.kind == MPI_DIST_GRAPH) return {topology.sources, topology.destinations};
  std::vector<Rank> both;
  if (topology.kind == MPI_GRAPH) {
    const std::span<const int> there = Neighbours(topology, rank);
    both.assign(there.begin(), there.end());
  }
  for (std::size_t i = 0; i < topology.dims.size(); ++i)
    for (const int direction : {-1, 1})
      both.push_back(Shifted(topology, rank, static_cast<int>(i), direction));
  return {both, both};
}

std::size_t SourcesOf(const Topology& topology, Rank rank) {
  if (topology.kind == MPI_DIST_GRAPH) return topology.sources.size();
  if (topology.kind == MPI_GRAPH) return Neighbours(topology, rank).size();
  return 2 * topology.dims.size();
}

std::size_t DestinationsOf(const Topology& topology, Rank rank) {
  if (topology.kind == MPI_DIST_GRAPH) return topology.destinations.size();
  return SourcesOf(topology, rank);
}

std::vector<int> BalancedFactors(int product, int factors) {
  std::vector<int> result(static_cast<std::size_t>(factors), 1);
  if (factors > 0) Factor(DivisorsOf(product), &result, 0, product, product);
  return result;
}

}  // namespace lamina::core
