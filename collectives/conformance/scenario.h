// SPDX-License-Identifier: BSD-3-Clause
// One collective call as all ranks make it, what they have before, and what they must have after.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/conformance/player.h"

namespace lamina::collective {

struct Case {
  Operation operation{};
  Rank ranks = 2;
  Rank root = 0;
  std::int64_t count = 1;  // elements of a block or vector; the v-forms vary it by rank
  bool in_place = false;   // on all ranks, or at the root if only the root may say so
  bool commutative = true;
  std::int64_t element_bytes = 1;  // as `Call::bytes` counts them; a cell stays one element
};

class Scenario {
 public:
  explicit Scenario(const Case& one);

  const Call& call(Rank rank) const { return calls_[static_cast<std::size_t>(rank)]; }
  std::vector<Memory>& memory() { return memory_; }
  // Returns the first difference from the naive result, or nothing. If `ordered` is false, the
  // operands of a reduction may stand in any order, but in the same one everywhere.
  std::string Compare(bool ordered) const;
  // How many elements rank r's block has in the v-forms. Some blocks have none.
  std::int64_t CountOf(Rank r) const;
  // How many elements `from` sends to `to` in alltoallv and alltoallw.
  std::int64_t CountOf(Rank from, Rank to) const;

 private:
  struct RankArrays {
    std::vector<std::int64_t> input_counts, input_displacements;
    std::vector<std::int64_t> output_counts, output_displacements;
  };

  void Build(Rank rank);
  void BuildMove(Rank rank);
  void BuildVector(Rank rank);
  void BuildReduction(Rank rank);
  bool AtRoot(Rank rank) const { return rank == case_.root; }
  std::string Folded(Rank first, Rank last, std::int64_t index) const;

  const Case case_;
  std::vector<Call> calls_;
  std::vector<RankArrays> arrays_;
  std::vector<Memory> memory_;
  std::vector<Cells> expected_;  // kUnwritten stands for whatever was there before
};

}  // namespace lamina::collective
