// SPDX-License-Identifier: BSD-3-Clause
// Names of services. A name lives in the launcher of the process that has published it, or in that
// of the run's first job if that was spawned, and ends with that process. Whoever looks it up asks
// its own launcher, which asks all others of its user on the launcher's machine.
//
// Each returns an MPI error class; `why` tells more.
#pragma once

#include <string>

namespace lamina::dynamic {

// This says who finds a name: every job of this user that can, or the jobs of this run alone. A run
// has each name once.
enum class NameScope { kUser, kRun };

int PublishName(const std::string& service, const std::string& port, NameScope scope,
                std::string* why);
int UnpublishName(const std::string& service, std::string* why);
// Called in MPI_Finalize.
void UnpublishAllNames();
// kRun: names of other runs are not looked for.
int LookupName(const std::string& service, NameScope scope, std::string* port, std::string* why);

}  // namespace lamina::dynamic
