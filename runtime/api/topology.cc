// SPDX-License-Identifier: BSD-3-Clause
// This is what grids and graphs have in common (MPI-5.0, chapter 8).
#include "runtime/api/topology.h"

#include <algorithm>
#include <utility>

#include "runtime/core/placement.h"
#include "runtime/p2p/other_jobs.h"

namespace lamina::api {
namespace {

using core::Comm;
using core::Topology;

// Returns the node of each of the first `members` processes; it is empty if whatever started the
// job does not tell, and if there are processes of other jobs, which number nodes in their own way.
std::vector<std::uint32_t> NodesOf(const Comm& comm, Rank members) {
  std::vector<std::uint32_t> nodes;
  for (Rank rank = 0; rank < members && core::process->bootstrap != nullptr; ++rank) {
    if (p2p::IsOfOtherJob(comm.group->peers[static_cast<std::size_t>(rank)])) return {};
    const Result<std::uint32_t> node =
        core::process->bootstrap->Node(Index(comm.group->peers[static_cast<std::size_t>(rank)]));
    if (!node.ok()) return {};
    nodes.push_back(*node);
  }
  return nodes;
}

const char* NameOf(int kind) {
  if (kind == MPI_CART) return "Cartesian";
  return kind == MPI_GRAPH ? "graph" : "distributed graph";
}

}  // namespace

WithTopology FindTopology(const Entry& entry, MPI_Comm handle, int kind) {
  Comm* comm = core::FindComm(handle);
  if (comm == nullptr) return {nullptr, nullptr, BadComm(entry, handle)};
  if (comm->topology != nullptr && comm->topology->kind == kind)
    return {comm, comm->topology, MPI_SUCCESS};
  return {comm, nullptr,
          core::Raise(comm, MPI_ERR_TOPOLOGY, entry.name(), "the communicator has no %s topology",
                      NameOf(kind))};
}

Parent FindParent(const Entry& entry, MPI_Comm handle, const void* answer) {
  Comm* comm = core::FindComm(handle);
  if (comm == nullptr) return {nullptr, BadComm(entry, handle)};
  if (answer == nullptr)
    return {comm,
            core::Raise(comm, MPI_ERR_ARG, entry.name(), "the output argument is a null pointer")};
  if (comm->is_inter())
    return {comm, core::Raise(comm, MPI_ERR_COMM, entry.name(),
                              "the communicator is an intercommunicator, which can have no "
                              "topology")};
  return {comm, MPI_SUCCESS};
}

int PlaceIn(const Comm& comm, const NewTopology& wanted) {
  if (comm.rank >= wanted.members) return MPI_UNDEFINED;
  const std::vector<std::uint32_t> nodes = NodesOf(comm, wanted.members);
  if (nodes.empty()) return comm.rank;
  const std::vector<Rank> new_ranks = wanted.topology.kind == MPI_CART
                                          ? core::PlaceOnGrid(wanted.topology, nodes)
                                          : core::PlaceOnGraph(wanted.topology, nodes);
  return new_ranks[static_cast<std::size_t>(comm.rank)];
}

int MakeAt(Comm* comm, int place, Topology topology, MPI_Comm* newcomm) {
  const int color = place != MPI_UNDEFINED ? 0 : static_cast<int>(MPI_UNDEFINED);
  const int error = PMPI_Comm_split(comm->handle, color, place, newcomm);
  if (error != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return error;
  core::FindComm(*newcomm)->topology = new Topology(std::move(topology));
  return MPI_SUCCESS;
}

int MakeOver(Comm* comm, NewTopology wanted, bool reorder, MPI_Comm* newcomm) {
  int place = comm->rank < wanted.members ? comm->rank : static_cast<int>(MPI_UNDEFINED);
  if (reorder) place = PlaceIn(*comm, wanted);
  return MakeAt(comm, place, std::move(wanted.topology), newcomm);
}

int CheckRank(const Entry& entry, Comm* comm, int rank) {
  REQUIRE(rank >= 0 && rank < comm->size, comm, MPI_ERR_RANK, "rank is %d, must be 0..%d", rank,
          comm->size - 1);
  return MPI_SUCCESS;
}

int GiveAll(const Entry& entry, Comm* comm, const char* name, const std::vector<int>& from,
            int count_max, int* into) {
  REQUIRE(count_max >= 0 && static_cast<std::size_t>(count_max) >= from.size(), comm, MPI_ERR_ARG,
          "there is room for %d %s, but there are %zu", count_max, name, from.size());
  REQUIRE(into != nullptr || from.empty(), comm, MPI_ERR_ARG, "%s is a null pointer", name);
  std::copy(from.begin(), from.end(), into);
  return MPI_SUCCESS;
}

void GiveFirst(const std::vector<int>& from, int count_max, int* into) {
  const std::size_t count = std::min(from.size(), static_cast<std::size_t>(std::max(count_max, 0)));
  std::copy_n(from.begin(), count, into);
}

}  // namespace lamina::api

using lamina::Call;
using lamina::api::Entry;

int PMPI_Topo_test(MPI_Comm comm, int* status) {
  Entry entry(Call::MPI_Topo_test);
  REQUIRE_INITIALIZED(entry);
  lamina::core::Comm* found = lamina::core::FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, status);
  *status = found->topology != nullptr ? found->topology->kind : static_cast<int>(MPI_UNDEFINED);
  return MPI_SUCCESS;
}
PROFILED(MPI_Topo_test);
