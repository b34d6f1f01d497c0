// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/topology.h"

#include <algorithm>
#include <numeric>
#include <utility>

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
bool Reaches(long long base, std::size_t exponent, long long limit) {
  long long power = 1;
  for (std::size_t i = 0; i < exponent && power < limit; ++i) power *= base;
  return power >= limit;
}

// Searches the factorings of a number, smallest factor first, for the least spread (the largest
// factor less the smallest) and among those for the least sum. A factoring that cannot be better
// than the best one so far is given up as soon as that shows, which leaves few: the smallest factor
// fixes the window in which all others must lie.
class Factoring {
 public:
  Factoring(int product, std::size_t factors)
      : divisors_(DivisorsOf(product)), best_(factors, 1), now_(factors, 1) {
    best_.back() = product;
    Extend(0, product);
  }
  const std::vector<int>& best() const { return best_; }  // ascending

 private:
  static long long Spread(const std::vector<int>& factors) {
    return static_cast<long long>(factors.back()) - factors.front();
  }
  static long long Sum(const std::vector<int>& factors) {
    return std::accumulate(factors.begin(), factors.end(), 0LL);
  }

  // Finds factors for the places from `at` on, none below the one before, whose product is `rest`.
  void Extend(std::size_t at, int rest) {
    const std::size_t left = now_.size() - at;
    if (left == 1) {
      now_[at] = rest;
      if (std::pair(Spread(now_), Sum(now_)) < std::pair(Spread(best_), Sum(best_))) best_ = now_;
      return;
    }
    const int least = at == 0 ? 1 : now_[at - 1];
    // The largest factor first: it is nearest to the root, so that a good factoring comes soon.
    auto divisor = std::upper_bound(divisors_.begin(), divisors_.end(), rest);
    while (divisor != divisors_.begin() && *--divisor >= least) {
      // No factor after this one is smaller, so this one is at most the root.
      if (rest % *divisor != 0 || Reaches(*divisor, left, rest + 1LL)) continue;
      now_[at] = *divisor;
      // The largest factor is at least the root of what is left.
      if (!Reaches(now_[0] + Spread(best_), left, rest)) return;
      Extend(at + 1, rest / *divisor);
    }
  }

  const std::vector<int> divisors_;
  std::vector<int> best_, now_;
};

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
  if (factors == 0) return {};
  std::vector<int> result = Factoring(product, static_cast<std::size_t>(factors)).best();
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace lamina::core
