// SPDX-License-Identifier: BSD-3-Clause
// Parameters of the library as a whole.
#pragma once

#include <string>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::assembly {

struct Params {
  bool check_arguments = true;
  std::string log_level = "warn";
  std::string transports = "";
  std::string report = "";
};
inline constexpr std::tuple kFields{
    param::Describe("api.check_arguments", &Params::check_arguments,
                    "Check the arguments of every MPI call. Off saves a few ns a call and turns "
                    "mistakes into crashes."),
    param::Describe("base.log.level", &Params::log_level, "error|warn|info|debug",
                    "How much is printed on standard error."),
    param::Describe("transport.include", &Params::transports, "",
                    "Comma-separated transports that may be used; empty: all that can run here."),
    param::Describe("transport.report", &Params::report, "",
                    "Comma-separated names of the nodes: the first rank of each says at its start "
                    "by which transports it reaches them; mpiexec --report transports sets it."),
};

}  // namespace lamina::assembly
