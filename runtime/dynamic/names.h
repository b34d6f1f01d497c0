// SPDX-License-Identifier: BSD-3-Clause
// Names of services. A name lives in the launcher of the process that has published it, and ends
// with that process. Whoever looks it up asks its own launcher, which asks all others of its user
// on the launcher's machine.
//
// Each returns an MPI error class; `why` tells more.
#pragma once

#include <string>

namespace lamina::dynamic {

int PublishName(const std::string& service, const std::string& port, std::string* why);
int UnpublishName(const std::string& service, std::string* why);
// Called in MPI_Finalize.
void UnpublishAllNames();
int LookupName(const std::string& service, std::string* port, std::string* why);

}  // namespace lamina::dynamic
