// SPDX-License-Identifier: BSD-3-Clause
// Writes a profile for people, as one HTML page that needs nothing else, and for programs, as JSON.
// Both have the same numbers. Pure.
#pragma once

#include <string>

#include "launcher/profile/profile.h"

namespace lamina::launcher {

std::string ProfilePage(const JobProfile& profile);
std::string ProfileJson(const JobProfile& profile);

}  // namespace lamina::launcher
