// SPDX-License-Identifier: BSD-3-Clause
// These are graphs that every process knows whole (MPI-5.0, sections 8.5.3, 8.5.5 and 8.5.8).
#include <utility>

#include "runtime/api/topology.h"

using lamina::Call;
using lamina::api::Entry;
using lamina::api::FindTopology;
using lamina::api::GiveAll;
using lamina::api::NewTopology;
using lamina::core::Comm;

namespace {

// Checks a graph and gives it.
int PlanGraph(const Entry& entry, Comm* comm, int nnodes, const int* index, const int* edges,
              NewTopology* wanted) {
  REQUIRE(nnodes >= 0 && nnodes <= comm->size, comm, MPI_ERR_ARG, "nnodes is %d, must be 0..%d",
          nnodes, comm->size);
  REQUIRE(nnodes == 0 || index != nullptr, comm, MPI_ERR_ARG, "%s", "index is a null pointer");
  for (int i = 0, last = 0; i < nnodes; last = index[i++])
    REQUIRE(index[i] >= last, comm, MPI_ERR_ARG, "index[%d] is %d, less than the one before", i,
            index[i]);
  const int count = nnodes > 0 ? index[nnodes - 1] : 0;
  REQUIRE(count == 0 || edges != nullptr, comm, MPI_ERR_ARG, "%s", "edges is a null pointer");
  for (int i = 0; i < count; ++i)
    REQUIRE(edges[i] >= 0 && edges[i] < nnodes, comm, MPI_ERR_ARG, "edges[%d] is %d, must be 0..%d",
            i, edges[i], nnodes - 1);
  wanted->members = nnodes;
  wanted->topology.kind = MPI_GRAPH;
  wanted->topology.index.assign(index, index + nnodes);
  wanted->topology.edges.assign(edges, edges + count);
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[],
                      int reorder, MPI_Comm* comm_graph) {
  Entry entry(Call::MPI_Graph_create);
  REQUIRE_INITIALIZED(entry);
  auto [found, error] = FindParent(entry, comm_old, comm_graph);
  NewTopology wanted;
  if (error == MPI_SUCCESS) error = PlanGraph(entry, found, nnodes, index, edges, &wanted);
  if (error != MPI_SUCCESS) return error;
  return MakeOver(found, std::move(wanted), reorder != 0, comm_graph);
}
PROFILED(MPI_Graph_create);

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int* newrank) {
  Entry entry(Call::MPI_Graph_map);
  REQUIRE_INITIALIZED(entry);
  auto [found, error] = FindParent(entry, comm, newrank);
  NewTopology wanted;
  if (error == MPI_SUCCESS) error = PlanGraph(entry, found, nnodes, index, edges, &wanted);
  if (error != MPI_SUCCESS) return error;
  *newrank = PlaceIn(*found, wanted);
  return MPI_SUCCESS;
}
PROFILED(MPI_Graph_map);

int PMPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  Entry entry(Call::MPI_Graphdims_get);
  REQUIRE_INITIALIZED(entry);
  const auto [found, graph, error] = FindTopology(entry, comm, MPI_GRAPH);
  if (error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(found, nnodes);
  REQUIRE_POINTER(found, nedges);
  *nnodes = static_cast<int>(graph->index.size());
  *nedges = static_cast<int>(graph->edges.size());
  return MPI_SUCCESS;
}
PROFILED(MPI_Graphdims_get);

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]) {
  Entry entry(Call::MPI_Graph_get);
  REQUIRE_INITIALIZED(entry);
  auto [found, graph, error] = FindTopology(entry, comm, MPI_GRAPH);
  if (error != MPI_SUCCESS) return error;
  error = GiveAll(entry, found, "index", graph->index, maxindex, index);
  if (error == MPI_SUCCESS) error = GiveAll(entry, found, "edges", graph->edges, maxedges, edges);
  return error;
}
PROFILED(MPI_Graph_get);

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  Entry entry(Call::MPI_Graph_neighbors_count);
  REQUIRE_INITIALIZED(entry);
  auto [found, graph, error] = FindTopology(entry, comm, MPI_GRAPH);
  if (error == MPI_SUCCESS) error = CheckRank(entry, found, rank);
  if (error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(found, nneighbors);
  *nneighbors = static_cast<int>(Neighbours(*graph, rank).size());
  return MPI_SUCCESS;
}
PROFILED(MPI_Graph_neighbors_count);

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  Entry entry(Call::MPI_Graph_neighbors);
  REQUIRE_INITIALIZED(entry);
  auto [found, graph, error] = FindTopology(entry, comm, MPI_GRAPH);
  if (error == MPI_SUCCESS) error = CheckRank(entry, found, rank);
  if (error != MPI_SUCCESS) return error;
  const auto there = Neighbours(*graph, rank);
  return GiveAll(entry, found, "neighbors", {there.begin(), there.end()}, maxneighbors, neighbors);
}
PROFILED(MPI_Graph_neighbors);
