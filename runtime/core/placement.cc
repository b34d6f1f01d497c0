// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/placement.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace lamina::core {
namespace {

using Nodes = std::span<const std::uint32_t>;
using Ranks = std::vector<Rank>;

Ranks OldRanks(Nodes nodes) {
  Ranks ranks(nodes.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// Lists the old ranks by node; nodes come in the order in which they appear.
std::vector<Ranks> ByNode(Nodes nodes) {
  std::vector<Ranks> groups;
  std::vector<std::pair<std::uint32_t, std::size_t>> known;  // node, index of its group
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const auto at = std::lower_bound(known.begin(), known.end(), std::pair{nodes[rank], 0ul});
    std::size_t group = groups.size();
    if (at != known.end() && at->first == nodes[rank]) {
      group = at->second;
    } else {
      known.insert(at, {nodes[rank], group});
      groups.emplace_back();
    }
    groups[group].push_back(static_cast<Rank>(rank));
  }
  return groups;
}

// Gives the places in `order` to the processes of one node after the other.
Ranks Assign(const std::vector<Ranks>& groups, const Ranks& order) {
  Ranks new_ranks(order.size());
  std::size_t next = 0;
  for (const Ranks& group : groups)
    for (const Rank old_rank : group) new_ranks[static_cast<std::size_t>(old_rank)] = order[next++];
  return new_ranks;
}

// Lists the cells of the grid brick by brick, both in row-major order.
Ranks BrickOrder(const std::vector<int>& dims, const std::vector<int>& brick) {
  std::vector<int> bricks(dims.size());
  int count = 1, volume = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    bricks[d] = dims[d] / brick[d];
    count *= bricks[d];
    volume *= brick[d];
  }
  Ranks order;
  order.reserve(static_cast<std::size_t>(count) * static_cast<std::size_t>(volume));
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < volume; ++k) {
      int rest_brick = i, rest_cell = k, stride = 1;
      Rank cell = 0;
      for (std::size_t d = dims.size(); d-- > 0;) {
        cell += (rest_brick % bricks[d] * brick[d] + rest_cell % brick[d]) * stride;
        rest_brick /= bricks[d];
        rest_cell /= brick[d];
        stride *= dims[d];
      }
      order.push_back(cell);
    }
  return order;
}

// Calls `visit` with every brick of `volume` cells that divides the grid.
template <class Visit>
void EachBrick(const std::vector<int>& dims, int volume, std::vector<int>* brick,
               const Visit& visit) {
  const std::size_t at = brick->size();
  if (at == dims.size()) {
    if (volume == 1) visit(*brick);
    return;
  }
  for (int side = 1; side <= dims[at] && side <= volume; ++side) {
    if (dims[at] % side != 0 || volume % side != 0) continue;
    brick->push_back(side);
    EachBrick(dims, volume / side, brick, visit);
    brick->pop_back();
  }
}

// Returns the sizes that bricks may have: the number of processes of a node where that is the same
// for all, else the divisors of all those numbers and the numbers themselves.
std::set<int> Volumes(const std::vector<Ranks>& groups) {
  std::set<int> volumes;
  int divisor = 0;
  for (const Ranks& group : groups) {
    const int size = static_cast<int>(group.size());
    divisor = std::gcd(divisor, size);
    volumes.insert(size);
  }
  volumes.insert(divisor);
  return volumes;
}

// Lists both directions of each edge, so that a vertex knows which others count on it.
std::vector<Ranks> Undirected(const Topology& graph) {
  std::vector<Ranks> beside(graph.index.size());
  for (Rank from = 0; from < static_cast<Rank>(beside.size()); ++from)
    for (const Rank to : Neighbours(graph, from)) {
      beside[static_cast<std::size_t>(from)].push_back(to);
      beside[static_cast<std::size_t>(to)].push_back(from);
    }
  return beside;
}

}  // namespace

std::int64_t EdgesBetweenNodes(const Topology& topology, Nodes nodes,
                               std::span<const Rank> new_ranks) {
  std::vector<std::uint32_t> node_at(nodes.size());
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    node_at[static_cast<std::size_t>(new_ranks[rank])] = nodes[rank];
  std::int64_t edges = 0;
  for (Rank rank = 0; rank < static_cast<Rank>(nodes.size()); ++rank)
    for (const Rank peer : NeighbourhoodOf(topology, rank).destinations)
      if (peer >= 0 &&
          node_at[static_cast<std::size_t>(peer)] != node_at[static_cast<std::size_t>(rank)])
        ++edges;
  return edges;
}

std::vector<Rank> PlaceOnGrid(const Topology& cart, Nodes nodes) {
  Ranks best = OldRanks(nodes);
  const std::vector<Ranks> groups = ByNode(nodes);
  if (groups.size() <= 1) return best;
  std::int64_t fewest = EdgesBetweenNodes(cart, nodes, best);
  for (const int volume : Volumes(groups)) {
    std::vector<int> brick;
    EachBrick(cart.dims, volume, &brick, [&](const std::vector<int>& sides) {
      Ranks tried = Assign(groups, BrickOrder(cart.dims, sides));
      const std::int64_t edges = EdgesBetweenNodes(cart, nodes, tried);
      if (edges >= fewest) return;
      fewest = edges;
      best = std::move(tried);
    });
  }
  return best;
}

std::vector<Rank> PlaceOnGraph(const Topology& graph, Nodes nodes) {
  Ranks best = OldRanks(nodes);
  const std::vector<Ranks> groups = ByNode(nodes);
  if (groups.size() <= 1) return best;
  const std::vector<Ranks> beside = Undirected(graph);
  // This orders vertices without a place by their edges to the node being filled, most first, then
  // by number.
  std::vector<int> edges(beside.size());
  std::set<std::pair<int, Rank>> free;
  for (Rank vertex = 0; vertex < static_cast<Rank>(beside.size()); ++vertex)
    free.emplace(0, vertex);
  Ranks order;
  for (const Ranks& group : groups) {
    Ranks touched;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Rank vertex = free.begin()->second;
      free.erase(free.begin());
      order.push_back(vertex);
      for (const Rank peer : beside[static_cast<std::size_t>(vertex)]) {
        int& known = edges[static_cast<std::size_t>(peer)];
        if (free.erase({-known, peer}) == 0) continue;  // it has a place
        free.emplace(-++known, peer);
        touched.push_back(peer);
      }
    }
    for (const Rank vertex : touched) {
      int& known = edges[static_cast<std::size_t>(vertex)];
      if (free.erase({-known, vertex}) > 0) free.emplace(0, vertex);
      known = 0;
    }
  }
  Ranks tried = Assign(groups, order);
  if (EdgesBetweenNodes(graph, nodes, tried) < EdgesBetweenNodes(graph, nodes, best))
    best = std::move(tried);
  return best;
}

}  // namespace lamina::core
