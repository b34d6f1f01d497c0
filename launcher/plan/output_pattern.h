// SPDX-License-Identifier: BSD-3-Clause
// Names of files for what ranks write. In a pattern %r is the rank, %h the name of its host, %p the
// number of the host among the job's, %g the number of the group of processes, which is 0, and %%
// a percent sign.
#pragma once

#include <string>
#include <string_view>

#include "launcher/plan/plan.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

struct PatternWords {
  std::string rank;
  std::string host;
  std::string host_number;
};

// kInvalid names what follows a % and is none of these letters.
Status CheckPattern(std::string_view pattern);

// `pattern` has passed the check.
std::string FillPattern(std::string_view pattern, const PatternWords& words);

// Returns the file for one rank of the plan.
std::string FileOf(std::string_view pattern, const Plan& plan, const RankPlan& rank);

// Returns `text` as a pattern that stands for itself.
std::string LiteralPattern(std::string_view text);

}  // namespace lamina::launcher
