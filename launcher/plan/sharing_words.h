// SPDX-License-Identifier: BSD-3-Clause
// How ranks are told whether they share CPUs.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/sharing.h"

namespace lamina::launcher {

// How a rank waits: it follows from the CPUs of its own host.
inline constexpr std::string_view kWaitVariable = "LAMINA_P2P_WAIT_MODE";
// What collective algorithms are chosen by: all ranks of a job are told the same, and one host
// where ranks share CPUs is enough.
inline constexpr std::string_view kCrowdVariable = "LAMINA_COLLECTIVE_SELECT_CROWD";

// "NAME=value" with these variables.
std::string WaitAssignment(Sharing on_host);
std::string CrowdAssignment(Sharing in_job);

// Does a wait mode that the user has set mean that the rank shares its CPUs?
bool MeansShared(std::string_view wait_mode);

}  // namespace lamina::launcher
