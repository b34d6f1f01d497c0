// SPDX-License-Identifier: BSD-3-Clause
// Names of services. A name lives in the launcher of the process that has published it, and ends
// with that process; whoever looks it up asks all launchers of its user on this machine.
//
// Each returns an MPI error class; `why` tells more.
#pragma once

#include <string>

namespace lamina::dynamic {

int PublishName(const std::string& service, const std::string& port, std::string* why);
int UnpublishName(const std::string& service, std::string* why);
int LookupName(const std::string& service, std::string* port, std::string* why);

}  // namespace lamina::dynamic
