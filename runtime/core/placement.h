// SPDX-License-Identifier: BSD-3-Clause
// Which process takes which place of a topology, so that neighbours share a node where they can.
//
// Pure arithmetic on `nodes`, the node of each process by its old rank, one for each place. The
// result is the new rank by old rank, a permutation; the old ranks themselves where nothing better
// was found, or where there is one node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/core/topology.h"

namespace lamina::core {

// A grid: cut into bricks, each filled by the processes of one node. Of all bricks that divide the
// grid and have as many cells as a node has processes, the one with the fewest edges between nodes.
std::vector<Rank> PlaceOnGrid(const Topology& cart, std::span<const std::uint32_t> nodes);

// A graph: nodes are filled one after the other, always with the vertex that has most edges to
// those that are there already.
std::vector<Rank> PlaceOnGraph(const Topology& graph, std::span<const std::uint32_t> nodes);

// Edges whose ends are on different nodes, each direction counted, if `new_ranks` is used.
std::int64_t EdgesBetweenNodes(const Topology& topology, std::span<const std::uint32_t> nodes,
                               std::span<const Rank> new_ranks);

}  // namespace lamina::core
