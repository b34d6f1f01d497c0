// SPDX-License-Identifier: BSD-3-Clause
// Finds the hosts that mpiexec would use if it were given the same words, for tools that ask them.
#pragma once

#include <span>
#include <string>

#include "launcher/cli/mpiexec.h"
#include "launcher/cli/prepare.h"
#include "launcher/supervise/run.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

struct HostsAsked {
  const char* tool;  // for messages: "lamina check"
  const char* usage;
  std::span<const std::string> words;
};

struct HostsOf {
  Preparation preparation;
  std::string program;  // what stood where mpiexec has its program; "": nothing

  RunContext Run(const CommandContext& context) const {
    return {preparation.environment, preparation.settings, context.spawners, nullptr};
  }
};

// Every failure has been said on standard error. kCancelled means that it was a question for help,
// which has been answered.
Result<HostsOf> FindHosts(const HostsAsked& asked, const CommandContext& context);

}  // namespace lamina::launcher
