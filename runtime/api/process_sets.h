// SPDX-License-Identifier: BSD-3-Clause
// Process sets are mpi://WORLD, mpi://SELF, and those that whoever started the job has named
// (MPI-5.0, section 11.3.2).
#pragma once

#include <string>
#include <vector>

#include "runtime/base/ids.h"

namespace lamina::api {

struct ProcessSet {
  std::string name;
  std::vector<PeerId> peers;
};

// Returns the sets in the order in which MPI_Session_get_nth_pset counts them. MPI must be up.
std::vector<ProcessSet> ProcessSets();
// Returns the members of a set; this is empty if there is no such set.
std::vector<PeerId> PeersInSet(const char* name);

}  // namespace lamina::api
