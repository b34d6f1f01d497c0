// SPDX-License-Identifier: BSD-3-Clause
// Parameters that say how shepherds are started, and how patient they and the launcher are with
// each other.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::launcher {

struct ShepherdParams {
  std::uint32_t silence_ms = 10'000;
  std::uint32_t start_ms = 30'000;
  std::uint32_t window = 32;
  std::uint32_t attempts = 6;
  std::string passing_signs;
  std::uint32_t width = 32;
  std::string program;
  std::string ports;
  std::uint32_t fence_ms = 600'000;
};
inline constexpr std::tuple kShepherdFields{
    param::Describe(
        "launcher.shepherd.silence_ms", &ShepherdParams::silence_ms, Unit::kMilliseconds, 0u,
        3'600'000u,
        "A node that has not been heard of for so long is lost, and the job with it. Raise it "
        "where nodes or networks pause; a real loss is then noticed later. 0: wait for ever."),
    param::Describe(
        "launcher.shepherd.start_ms", &ShepherdParams::start_ms, Unit::kMilliseconds, 100u,
        3'600'000u,
        "How long a host may take from the start of its agent to the greeting of its shepherd. "
        "Raise it where logging in is slow; a host that hangs is then noticed later."),
    param::Describe("launcher.shepherd.window", &ShepherdParams::window, Unit::kCount, 1u, 65536u,
                    "How many hosts are being reached at the same time. More start a large job "
                    "sooner, and take more processes and memory here."),
    param::Describe(
        "launcher.shepherd.attempts", &ShepherdParams::attempts, Unit::kCount, 1u, 100u,
        "How often a host is tried when the reason passes, such as an sshd with too many guests "
        "(MaxStartups). The pause between two attempts doubles up to a few seconds."),
    param::Describe("launcher.shepherd.passing_signs", &ShepherdParams::passing_signs, "",
                    "What else ssh or another agent says where the reason passes, such as hosts "
                    "that are still coming up: \"is not ready|Connection refused|not known\". More "
                    "attempts give such hosts more time."),
    param::Describe("launcher.shepherd.width", &ShepherdParams::width, Unit::kCount, 0u, 65536u,
                    "With more hosts than this the launcher starts so many shepherds, which start "
                    "as many each, and so on, where the agent works from those hosts as well. "
                    "0: all are started from here."),
    param::Describe("launcher.shepherd.program", &ShepherdParams::program, "",
                    "Where mpiexec is on other hosts; empty: where it is here, or what prefix= in "
                    "the host file says."),
    param::Describe("launcher.shepherd.ports", &ShepherdParams::ports, "",
                    "Where mpiexec listens when a manager starts shepherds that call it (srun, "
                    "PBS, BProc): \"40000-40100\" for a firewall that lets these through; empty: "
                    "any free port."),
    param::Describe("launcher.shepherd.fence_ms", &ShepherdParams::fence_ms, Unit::kMilliseconds,
                    0u, 86'400'000u,
                    "How long nodes may wait in MPI_Init, or for the address of a rank, for ranks "
                    "on other nodes that do not come; after a tenth of it a warning says who is "
                    "missing. 0: for ever."),
};

}  // namespace lamina::launcher
