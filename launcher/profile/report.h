// SPDX-License-Identifier: BSD-3-Clause
// Writes a profile for people, as one HTML page that needs nothing else, and for programs, as JSON.
// Both have the same numbers. The matrix is a table of its own as well. Pure.
#pragma once

#include <string>

#include "launcher/profile/profile.h"

namespace lamina::launcher {

std::string ProfilePage(const JobProfile& profile);
std::string ProfileJson(const JobProfile& profile);
// Returns who sends how much to whom, a line for each pair of ranks that has sent something.
std::string MatrixCsv(const JobProfile& profile);

}  // namespace lamina::launcher
