// SPDX-License-Identifier: BSD-3-Clause
// Makes the command by which ssh starts a shepherd. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "launcher/shepherd/shepherded_job.h"
#include "runtime/base/param.h"

namespace lamina::launcher::ssh {

struct Params {
  std::string command = "ssh";
  std::string options;
  std::uint32_t connect_s = 10;
};
inline constexpr std::tuple kFields{
    param::Describe("spawner.ssh.command", &Params::command, "",
                    "The remote shell: ssh, or a program that takes the same arguments. Words "
                    "after the first are passed to it first."),
    param::Describe("spawner.ssh.options", &Params::options, "",
                    "More words for it, in front of the host: \"-F other_config -o User=ada\"."),
    param::Describe("spawner.ssh.connect_s", &Params::connect_s, Unit::kSeconds, 1u, 3600u,
                    "How long ssh tries to connect to a host that does not answer."),
};

Pipes PipesBy(Params params);

// Makes one word for a POSIX shell, quoted only if it has to be.
std::string QuotedForShell(std::string_view word);

}  // namespace lamina::launcher::ssh
