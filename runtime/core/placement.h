// SPDX-License-Identifier: BSD-3-Clause
// This chooses which process takes which place of a topology, so that neighbours share a node where
// they can.
//
// It is pure arithmetic on `nodes`, the node of each process by its old rank, with one entry for
// each place. The result is a permutation, the new rank by old rank; it is the identity where
// nothing better was found or where there is one node only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/core/topology.h"

namespace lamina::core {

// Cuts a grid into bricks, each filled by the processes of one node. Of all bricks that divide the
// grid and have as many cells as a node has processes, it takes the one with the fewest edges
// between nodes.
std::vector<Rank> PlaceOnGrid(const Topology& cart, std::span<const std::uint32_t> nodes);

// Fills the nodes with a graph's vertices one node after the other, always taking the vertex that
// has most edges to those that are there already.
std::vector<Rank> PlaceOnGraph(const Topology& graph, std::span<const std::uint32_t> nodes);

// Counts the edges, in each direction, whose ends are on different nodes if `new_ranks` is used.
std::int64_t EdgesBetweenNodes(const Topology& topology, std::span<const std::uint32_t> nodes,
                               std::span<const Rank> new_ranks);

}  // namespace lamina::core
