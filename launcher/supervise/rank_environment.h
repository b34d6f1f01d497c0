// SPDX-License-Identifier: BSD-3-Clause
// What every rank is started with as far as the plan decides it. Pure.
#pragma once

#include <string>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/spawn/spawner.h"

namespace lamina::launcher {

class RankEnvironments {
 public:
  // `plan` must outlive it.
  explicit RankEnvironments(const Plan& plan);

  // One start for each rank, in the order of the plan: program, directory, CPUs, environment, and
  // in its own environment where it stands in the job and whether ranks share CPUs. Descriptors and
  // the PMIx server's variables are left to the caller. The starts borrow from the plan and from
  // this object.
  std::vector<RankStart> Starts() const;

 private:
  const Plan& plan_;
  std::vector<std::vector<std::string>> by_app_;
};

}  // namespace lamina::launcher
