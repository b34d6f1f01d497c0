// SPDX-License-Identifier: BSD-3-Clause
// From words to a Plan: parameters gathered and checked, host and rank files read, an allocation
// asked for, ranks placed. Not yet bound, nothing started. What mpiexec runs, and what the tools
// that look at the same hosts begin with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "launcher/cli/command_line.h"
#include "launcher/cli/installation.h"
#include "launcher/cli/mpiexec.h"
#include "launcher/plan/machine.h"
#include "launcher/plan/plan.h"
#include "runtime/base/environment.h"
#include "runtime/base/param.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

struct Preparation {
  Invocation line;
  Environment environment;  // the launcher's, without what an outer job has put there
  Installation installation;
  param::Settings settings;
  Machine machine;
  Plan plan;
};

// `line` is of an Invocation with action kRun. Appends to `warnings` what the user should be told
// whatever comes of it. An error is for the user as it is.
Result<Preparation> Prepare(Invocation line, const CommandContext& outer,
                            std::vector<std::string>* warnings);

}  // namespace lamina::launcher
