// SPDX-License-Identifier: BSD-3-Clause
// The parts that the page is made of. Pure.
#pragma once

#include <string>
#include <vector>

#include "launcher/profile/profile.h"

namespace lamina::launcher {

// Cells of a table, which are HTML already.
using Cells = std::vector<std::string>;
std::string Row(const Cells& cells, const char* tag = "td");
std::string Table(const char* id, const Cells& head, const std::string& rows);
std::string Section(const char* title, const std::string& content);

// " at solver.c:214"; "" if the place is not known.
std::string AtPlace(const CodePlace& place, const JobProfile& profile);

std::string SitesTable(const JobProfile& profile);
std::string WaitingTable(const JobProfile& profile);
std::string CollectivesTable(const JobProfile& profile);
std::string RegionsTable(const JobProfile& profile);
std::string MatrixTable(const JobProfile& profile);
std::string SizesTable(const JobProfile& profile);

}  // namespace lamina::launcher
