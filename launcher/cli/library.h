// SPDX-License-Identifier: BSD-3-Clause
// Asks the MPI library of this installation about its components and parameters. The launcher is
// not linked with it: it is opened when somebody asks, and not at all for an ordinary job.
//
// The library exports   const char* lamina_describe(const char* filter);
// The answer is text in static storage, or null for a filter it does not know:
//   "[params] [FRAMEWORK [COMPONENT]]"  for people: components with version, priority and why, of
//                everything or of what is named; with "params" their parameter tables too
//   "collectives RANKS PER-NODE"  which algorithms would serve the collectives of such a job
//   "network"    the devices that lead to other hosts, and the transports
//   "names"      the names of all parameters, one a line
//   "versions"   "framework component version", one a line
//   "problems"   what is wrong with values that were set, one a line; "" if nothing is
// It finds values where every rank does: in the environment, which this call prepares.
#pragma once

#include <string>
#include <string_view>

#include "launcher/cli/installation.h"
#include "runtime/base/param.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// kNotFound means that there is no library or that it cannot be asked, kInvalid that it does not
// know the filter. Writes LAMINA_* variables of `settings` into this process's environment.
Result<std::string> DescribeLibrary(const Installation& installation,
                                    const param::Settings& settings, std::string_view filter);

}  // namespace lamina::launcher
