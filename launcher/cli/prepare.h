// SPDX-License-Identifier: BSD-3-Clause
// Makes a Plan from words: it gathers and checks parameters, reads host and rank files, asks for an
// allocation, and places ranks. Ranks are not bound yet and nothing is started. mpiexec runs the
// result, and the tools that look at the same hosts begin with it.
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

// Reads the whole of a file, for ParseCommandLine. kNotFound and kDenied say why it cannot.
Result<std::string> ReadWholeFile(const std::string& path);

// `line` is of an Invocation with action kRun. Appends to `warnings` what the user should be told
// whatever comes of it. The message of an error is for the user as it is.
Result<Preparation> Prepare(Invocation line, const CommandContext& outer,
                            std::vector<std::string>* warnings);

}  // namespace lamina::launcher
