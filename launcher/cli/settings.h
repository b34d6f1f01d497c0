// SPDX-License-Identifier: BSD-3-Clause
// Gathers parameters from command line, environment and files, and checks them against every table
// there is, before anything is started.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/installation.h"
#include "launcher/cli/mpiexec.h"
#include "runtime/base/environment.h"
#include "runtime/base/param.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// The launcher's own choices.
struct LaunchParams {
  std::string spawner;
};

// kInvalid names a --param or a line of a file that is not name=value.
Result<param::Settings> ReadSettings(const std::vector<std::string>& command_line,
                                     const Environment& environment,
                                     const Installation& installation);

Result<LaunchParams> LoadLaunchParams(const param::Settings& settings);

// Returns the launcher's own tables.
std::vector<param::Row> LauncherOwnRows(const param::Settings& settings);

// Returns the tables of the launcher, of its spawners and of its checkpoint engines.
std::vector<param::Row> LauncherRows(const param::Settings& settings,
                                     const CommandContext& context);

struct SettingsReport {
  std::vector<std::string> problems;  // values that were refused: nothing may be started
  std::vector<std::string> warnings;  // names that nobody knows
};

// Opens the MPI library only if something is set that the launcher's own tables do not know.
SettingsReport CheckSettings(const param::Settings& settings, const CommandContext& context,
                             const Installation& installation);

}  // namespace lamina::launcher
