// SPDX-License-Identifier: BSD-3-Clause
// Finds how an algorithm's schedule grows with the number of ranks. Only the plans of a few ranks
// are made, never those of all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/select/library.h"

namespace lamina::collective {

// `ranks` on nodes of `ranks_per_node`, as the library places them.
class Machine {
 public:
  Machine(const Library& library, Rank ranks, Rank ranks_per_node);
  Shape ShapeOf(Rank rank) const;
  // The shape that rank 0 sees, with links that cost messages alone at every level.
  Shape CountingShape() const;
  const LinkModel& link() const { return placement_.link; }
  Rank NodeOf(Rank rank) const { return rank / ranks_per_node_; }

 private:
  Rank ranks_;
  Rank ranks_per_node_;
  Placement placement_;
  Hierarchy counting_;
};

// Each number is the largest one among the ranks asked.
struct Growth {
  // How many messages go one after another until the last rank is done, as the cost line says. Four
  // that one rank sends in a row count as one.
  std::int64_t path = 0;
  std::int64_t rounds = 0;
  std::int64_t rounds_between_nodes = 0;  // those with a message to or from another node
  std::int64_t messages = 0;              // sent
  std::int64_t bytes = 0;                 // sent
  std::int64_t plan_bytes = 0;            // memory of the schedule
  std::int64_t scratch_bytes = 0;
};

// Returns a call of `operation`, as any one rank makes it, with `bytes` in every block or vector.
class UniformCall {
 public:
  UniformCall(Operation operation, Rank ranks, std::int64_t bytes, bool in_place);
  const Call& call() const { return call_; }

 private:
  Call call_;
  std::vector<std::int64_t> counts_;  // v-forms
  std::vector<std::int64_t> displacements_;
};

// Asks the first rank, the last one and a few others. Returns nothing if the algorithm fits no such
// call.
std::optional<Growth> Measure(const Algorithm& algorithm, const Machine& machine, Rank ranks,
                              std::int64_t bytes);

// Says how `value` grows when the ranks grow from `few` to `many`: "1", "log P", "sqrt P", "P",
// "P log P" or "more".
std::string Law(std::int64_t at_few, std::int64_t at_many, Rank few, Rank many);

// Returns a library that lives as long as the process.
const Library& Shipped();

}  // namespace lamina::collective
