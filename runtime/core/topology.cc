// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/topology.h"

namespace lamina::core {
namespace {

// Fills factors[at...] with divisors of `product`, none above `limit`, none increasing; the largest
// is as small as can be, then the next. False if there are none.
bool Factor(std::vector<int>* factors, std::size_t at, int product, int limit) {
  const std::size_t left = factors->size() - at;
  if (left == 1) {
    (*factors)[at] = product;
    return product <= limit;
  }
  for (int factor = 1; factor <= limit && factor <= product; ++factor) {
    if (product % factor != 0) continue;
    // The largest of `left` factors cannot be below the root.
    long long power = 1;
    for (std::size_t i = 0; i < left && power < product; ++i) power *= factor;
    if (power < product) continue;
    (*factors)[at] = factor;
    if (Factor(factors, at + 1, product / factor, factor)) return true;
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

std::vector<int> BalancedFactors(int product, int factors) {
  std::vector<int> result(static_cast<std::size_t>(factors), 1);
  if (factors > 0) Factor(&result, 0, product, product);
  return result;
}

}  // namespace lamina::core
