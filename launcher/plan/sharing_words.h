// SPDX-License-Identifier: BSD-3-Clause
// Writes the variables that tell ranks whether they share CPUs.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/sharing.h"

namespace lamina::launcher {

// This one says how a rank waits, which follows from the CPUs of its own host.
inline constexpr std::string_view kWaitVariable = "LAMINA_P2P_WAIT_MODE";
// Collective algorithms are chosen by this one, so all ranks of a job are told the same; one host
// where ranks share CPUs decides for all.
inline constexpr std::string_view kCrowdVariable = "LAMINA_COLLECTIVE_SELECT_CROWD";

// These return "NAME=value" with the variables above.
std::string WaitAssignment(Sharing on_host);
std::string CrowdAssignment(Sharing in_job);

// Does a wait mode that the user has set mean that the rank shares its CPUs?
bool MeansShared(std::string_view wait_mode);

}  // namespace lamina::launcher
