// SPDX-License-Identifier: BSD-3-Clause
// Writes the variables that tell every process of a job, with MPI or without, where it stands, so
// that a script around a program can choose a GPU, a NUMA domain or a file by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/plan/plan.h"

namespace lamina::launcher {

// Is `name` one of these variables?
bool IsRankVariable(std::string_view name);

class RankVariables {
 public:
  // `plan` has all ranks of the job and is not kept. A host counts as a node if it has ranks, and
  // nodes are numbered in the order of the plan's hosts.
  explicit RankVariables(const Plan& plan);

  // Returns "NAME=value" of all these variables for one rank of the plan.
  std::vector<std::string> Of(const RankPlan& rank) const;

 private:
  std::size_t ranks_;
  std::size_t nodes_ = 0;
  std::vector<std::uint32_t> ranks_of_;  // by host
  std::vector<std::size_t> node_of_;     // by host
};

}  // namespace lamina::launcher
