// SPDX-License-Identifier: BSD-3-Clause
// These are graphs of which every process knows its own neighbours (MPI-5.0, sections 8.5.4 and
// 8.5.5).
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/api/topology.h"

using lamina::Call;
using lamina::api::Entry;
using lamina::api::FindTopology;
using lamina::api::GiveFirst;
using lamina::api::MakeAt;
using lamina::core::Comm;
using lamina::core::Topology;

namespace {

int CheckRanks(const Entry& entry, Comm* comm, const char* name, int n, const int* ranks) {
  REQUIRE(n >= 0, comm, MPI_ERR_ARG, "the number of %s is %d, must not be negative", name, n);
  REQUIRE(n == 0 || ranks != nullptr, comm, MPI_ERR_ARG, "%s is a null pointer", name);
  for (int i = 0; i < n; ++i)
    REQUIRE(ranks[i] >= 0 && ranks[i] < comm->size, comm, MPI_ERR_RANK,
            "%s[%d] is %d, must be 0..%d", name, i, ranks[i], comm->size - 1);
  return MPI_SUCCESS;
}

bool Given(const int* weights) { return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY; }

int CheckWeights(const Entry& entry, Comm* comm, int n, const int* weights) {
  if (weights == MPI_UNWEIGHTED) return MPI_SUCCESS;
  REQUIRE(n == 0 || (Given(weights) && weights != nullptr), comm, MPI_ERR_ARG, "%s",
          "the weights are null or MPI_WEIGHTS_EMPTY, but there are edges");
  for (int i = 0; i < n; ++i)
    REQUIRE(weights[i] >= 0, comm, MPI_ERR_ARG, "weight %d is %d, must not be negative", i,
            weights[i]);
  return MPI_SUCCESS;
}

std::vector<int> Weights(const int* weights, int n) {
  if (!Given(weights) || n == 0) return {};
  return {weights, weights + n};
}

// This is one edge as it travels to its two ends.
struct Edge {
  int source;
  int destination;
  int weight;
};

// Sends every edge to its source or its destination, and gives those that came here, by sender.
int Deliver(Comm* comm, const std::vector<Edge>& edges, bool to_source, std::vector<Edge>* here) {
  const auto target = [to_source](const Edge& edge) {
    return to_source ? edge.source : edge.destination;
  };
  std::vector<Edge> sorted = edges;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Edge& one, const Edge& two) { return target(one) < target(two); });
  const auto size = static_cast<std::size_t>(comm->size);
  constexpr int kInts = sizeof(Edge) / sizeof(int);
  std::vector<int> send(size), receive(size), send_at(size), receive_at(size);
  for (const Edge& edge : sorted) send[static_cast<std::size_t>(target(edge))] += kInts;
  int error = PMPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, comm->handle);
  if (error != MPI_SUCCESS) return error;
  for (std::size_t i = 1; i < size; ++i) {
    send_at[i] = send_at[i - 1] + send[i - 1];
    receive_at[i] = receive_at[i - 1] + receive[i - 1];
  }
  here->resize(static_cast<std::size_t>((receive_at.back() + receive.back()) / kInts));
  return PMPI_Alltoallv(sorted.data(), send.data(), send_at.data(), MPI_INT, here->data(),
                        receive.data(), receive_at.data(), MPI_INT, comm->handle);
}

}  // namespace

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int sourceweights[], int outdegree,
                                    const int destinations[], const int destweights[],
                                    MPI_Info info, int, MPI_Comm* comm_dist_graph) {
  Entry entry(Call::MPI_Dist_graph_create_adjacent);
  REQUIRE_INITIALIZED(entry);
  auto [found, error] = FindParent(entry, comm_old, comm_dist_graph);
  if (error != MPI_SUCCESS) return error;
  if (info != MPI_INFO_NULL && lamina::core::FindInfo(info) == nullptr)
    return BadInfo(entry, info, found);
  error = CheckRanks(entry, found, "sources", indegree, sources);
  if (error == MPI_SUCCESS) error = CheckWeights(entry, found, indegree, sourceweights);
  if (error == MPI_SUCCESS)
    error = CheckRanks(entry, found, "destinations", outdegree, destinations);
  if (error == MPI_SUCCESS) error = CheckWeights(entry, found, outdegree, destweights);
  if (error != MPI_SUCCESS) return error;
  Topology topology;
  topology.kind = MPI_DIST_GRAPH;
  if (indegree > 0) topology.sources.assign(sources, sources + indegree);
  if (outdegree > 0) topology.destinations.assign(destinations, destinations + outdegree);
  topology.source_weights = Weights(sourceweights, indegree);
  topology.destination_weights = Weights(destweights, outdegree);
  topology.weighted = sourceweights != MPI_UNWEIGHTED && destweights != MPI_UNWEIGHTED;
  return MakeAt(found, found->rank, std::move(topology), comm_dist_graph);
}
PROFILED(MPI_Dist_graph_create_adjacent);

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int weights[], MPI_Info info, int,
                           MPI_Comm* comm_dist_graph) {
  Entry entry(Call::MPI_Dist_graph_create);
  REQUIRE_INITIALIZED(entry);
  auto [found, error] = FindParent(entry, comm_old, comm_dist_graph);
  if (error != MPI_SUCCESS) return error;
  if (info != MPI_INFO_NULL && lamina::core::FindInfo(info) == nullptr)
    return BadInfo(entry, info, found);
  error = CheckRanks(entry, found, "sources", n, sources);
  if (error != MPI_SUCCESS) return error;
  REQUIRE(n == 0 || degrees != nullptr, found, MPI_ERR_ARG, "%s", "degrees is a null pointer");
  int total = 0;
  for (int i = 0; i < n; ++i) {
    REQUIRE(degrees[i] >= 0, found, MPI_ERR_ARG, "degrees[%d] is %d, must not be negative", i,
            degrees[i]);
    total += degrees[i];
  }
  error = CheckRanks(entry, found, "destinations", total, destinations);
  if (error == MPI_SUCCESS) error = CheckWeights(entry, found, total, weights);
  if (error != MPI_SUCCESS) return error;
  const bool weighted = weights != MPI_UNWEIGHTED;
  std::vector<Edge> edges, into, out_of;
  for (int i = 0, next = 0; i < n; ++i)
    for (int k = 0; k < degrees[i]; ++k, ++next)
      edges.push_back({sources[i], destinations[next], Given(weights) ? weights[next] : 1});
  if (error = Deliver(found, edges, false, &into); error != MPI_SUCCESS) return error;
  if (error = Deliver(found, edges, true, &out_of); error != MPI_SUCCESS) return error;
  Topology topology;
  topology.kind = MPI_DIST_GRAPH;
  topology.weighted = weighted;
  for (const Edge& edge : into) {
    topology.sources.push_back(edge.source);
    topology.source_weights.push_back(edge.weight);
  }
  for (const Edge& edge : out_of) {
    topology.destinations.push_back(edge.destination);
    topology.destination_weights.push_back(edge.weight);
  }
  return MakeAt(found, found->rank, std::move(topology), comm_dist_graph);
}
PROFILED(MPI_Dist_graph_create);

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  Entry entry(Call::MPI_Dist_graph_neighbors_count);
  REQUIRE_INITIALIZED(entry);
  const auto [found, graph, error] = FindTopology(entry, comm, MPI_DIST_GRAPH);
  if (error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(found, indegree);
  REQUIRE_POINTER(found, outdegree);
  REQUIRE_POINTER(found, weighted);
  *indegree = static_cast<int>(graph->sources.size());
  *outdegree = static_cast<int>(graph->destinations.size());
  *weighted = graph->weighted;
  return MPI_SUCCESS;
}
PROFILED(MPI_Dist_graph_neighbors_count);

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                              int maxoutdegree, int destinations[], int destweights[]) {
  Entry entry(Call::MPI_Dist_graph_neighbors);
  REQUIRE_INITIALIZED(entry);
  const auto [found, graph, error] = FindTopology(entry, comm, MPI_DIST_GRAPH);
  if (error != MPI_SUCCESS) return error;
  // Asking for fewer than there are is allowed: the first ones are given (section 8.5.5).
  REQUIRE(maxindegree >= 0 && maxoutdegree >= 0, found, MPI_ERR_ARG,
          "maxindegree is %d and maxoutdegree %d, neither must be negative", maxindegree,
          maxoutdegree);
  const auto null_for = [](int count_max, const std::vector<int>& there, const int* into) {
    return count_max > 0 && !there.empty() && into == nullptr;
  };
  REQUIRE(!null_for(maxindegree, graph->sources, sources) &&
              !null_for(maxoutdegree, graph->destinations, destinations),
          found, MPI_ERR_ARG, "%s", "sources or destinations is a null pointer");
  GiveFirst(graph->sources, maxindegree, sources);
  GiveFirst(graph->destinations, maxoutdegree, destinations);
  if (!graph->weighted) return MPI_SUCCESS;
  if (Given(sourceweights)) GiveFirst(graph->source_weights, maxindegree, sourceweights);
  if (Given(destweights)) GiveFirst(graph->destination_weights, maxoutdegree, destweights);
  return MPI_SUCCESS;
}
PROFILED(MPI_Dist_graph_neighbors);
