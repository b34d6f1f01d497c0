// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/api/process_sets.h"

#include <mpi.h>
#include <strings.h>

#include <utility>

#include "runtime/core/process.h"

namespace lamina::api {
namespace {

// The scheme mpi and the names that come with it are the same in capitals.
bool IsNamed(const ProcessSet& set, const char* name) {
  return set.name == name ||
         (set.name.starts_with("mpi://") && strcasecmp(set.name.c_str(), name) == 0);
}

}  // namespace

std::vector<ProcessSet> ProcessSets() {
  std::vector<ProcessSet> sets{{"mpi://WORLD", core::everybody->group->peers},
                               {"mpi://SELF", {core::process->self}}};
  if (core::process->bootstrap == nullptr) return sets;
  for (const auto& [name, ranks] : core::process->bootstrap->ProcessSets()) {
    ProcessSet& set = sets.emplace_back();
    set.name = name.substr(0, MPI_MAX_PSET_NAME_LEN - 1);
    for (const std::uint32_t rank : ranks) set.peers.push_back(PeerId{rank});
  }
  return sets;
}

std::vector<PeerId> PeersInSet(const char* name) {
  for (ProcessSet& set : ProcessSets())
    if (IsNamed(set, name)) return std::move(set.peers);
  return {};
}

}  // namespace lamina::api
