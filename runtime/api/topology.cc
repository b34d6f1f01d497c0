// SPDX-License-Identifier: BSD-3-Clause
// Process topologies (MPI-5.0, chapter 8). Making one is MPI_Comm_split and a description hung on
// the new communicator; processes are never reordered.
#include "runtime/core/topology.h"

#include <algorithm>
#include <vector>

#include "runtime/api/arguments.h"

using lamina::Call;
using lamina::Rank;
using lamina::api::Entry;
using lamina::core::Comm;
using lamina::core::FindComm;
using lamina::core::Topology;

namespace core = lamina::core;

namespace {

int BadTopology(const Entry& entry, Comm* comm, const char* wanted) {
  return core::Raise(comm, MPI_ERR_TOPOLOGY, entry.name(), "the communicator has no %s topology",
                     wanted);
}

const Topology* Find(const Comm& comm, int kind) {
  return comm.topology != nullptr && comm.topology->kind == kind ? comm.topology : nullptr;
}

// The first `members` processes of `comm` in the same order, with `topology`; the others get
// MPI_COMM_NULL.
int MakeOver(Comm* comm, Rank members, Topology topology, MPI_Comm* newcomm) {
  const int color = comm->rank < members ? 0 : static_cast<int>(MPI_UNDEFINED);
  const int error = PMPI_Comm_split(comm->handle, color, comm->rank, newcomm);
  if (error != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return error;
  FindComm(*newcomm)->topology = new Topology(std::move(topology));
  return MPI_SUCCESS;
}

// Checks the shape of a grid and gives the number of its processes.
int CheckGrid(const Entry& entry, Comm* comm, int ndims, const int* dims, Rank* members) {
  REQUIRE(ndims >= 0, comm, MPI_ERR_DIMS, "ndims is %d, must not be negative", ndims);
  std::int64_t product = 1;
  for (int i = 0; i < ndims; ++i) {
    REQUIRE(dims[i] > 0, comm, MPI_ERR_DIMS, "dims[%d] is %d, must be positive", i, dims[i]);
    product *= dims[i];
    REQUIRE(product <= comm->size, comm, MPI_ERR_DIMS,
            "the grid has more than the %d processes of the communicator", comm->size);
  }
  *members = static_cast<Rank>(product);
  return MPI_SUCCESS;
}

int CheckGraph(const Entry& entry, Comm* comm, int nnodes, const int* index, const int* edges) {
  REQUIRE(nnodes >= 0 && nnodes <= comm->size, comm, MPI_ERR_ARG, "nnodes is %d, must be 0..%d",
          nnodes, comm->size);
  for (int i = 0, last = 0; i < nnodes; last = index[i++])
    REQUIRE(index[i] >= last, comm, MPI_ERR_ARG, "index[%d] is %d, less than the one before", i,
            index[i]);
  for (int i = 0; nnodes > 0 && i < index[nnodes - 1]; ++i)
    REQUIRE(edges[i] >= 0 && edges[i] < nnodes, comm, MPI_ERR_ARG, "edges[%d] is %d, must be 0..%d",
            i, edges[i], nnodes - 1);
  return MPI_SUCCESS;
}

int CheckRanks(const Entry& entry, Comm* comm, const char* name, int n, const int* ranks) {
  REQUIRE(n >= 0, comm, MPI_ERR_ARG, "the number of %s is %d, must not be negative", name, n);
  for (int i = 0; i < n; ++i)
    REQUIRE(ranks[i] >= 0 && ranks[i] < comm->size, comm, MPI_ERR_RANK,
            "%s[%d] is %d, must be 0..%d", name, i, ranks[i], comm->size - 1);
  return MPI_SUCCESS;
}

std::vector<int> Weights(const int* weights, int n) {
  if (weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY || n == 0) return {};
  return {weights, weights + n};
}

// One edge as it travels to its two ends.
struct Edge {
  int source;
  int destination;
  int weight;
};

// Sends every edge to its source or its destination; gives those that came here, by sender.
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

void CopyUpTo(const std::vector<int>& from, int count_max, int* into) {
  const std::size_t count = std::min(from.size(), static_cast<std::size_t>(std::max(count_max, 0)));
  std::copy_n(from.begin(), count, into);
}

}  // namespace

int PMPI_Dims_create(int nnodes, int ndims, int dims[]) {
  Entry entry(Call::MPI_Dims_create);
  REQUIRE(nnodes > 0, nullptr, MPI_ERR_ARG, "nnodes is %d, must be positive", nnodes);
  REQUIRE(ndims >= 0, nullptr, MPI_ERR_DIMS, "ndims is %d, must not be negative", ndims);
  int rest = nnodes, free = 0;
  for (int i = 0; i < ndims; ++i) {
    REQUIRE(dims[i] >= 0, nullptr, MPI_ERR_DIMS, "dims[%d] is %d, must not be negative", i,
            dims[i]);
    if (dims[i] == 0) {
      ++free;
      continue;
    }
    REQUIRE(rest % dims[i] == 0, nullptr, MPI_ERR_DIMS,
            "%d processes cannot be a multiple of the fixed dims", nnodes);
    rest /= dims[i];
  }
  REQUIRE(free > 0 || rest == 1 || ndims == 0, nullptr, MPI_ERR_DIMS,
          "the product of dims is not %d, and none of them is free", nnodes);
  const std::vector<int> factors = core::BalancedFactors(rest, free);
  for (int i = 0, next = 0; i < ndims; ++i)
    if (dims[i] == 0) dims[i] = factors[static_cast<std::size_t>(next++)];
  return MPI_SUCCESS;
}
PROFILED(MPI_Dims_create);

int PMPI_Topo_test(MPI_Comm comm, int* status) {
  Entry entry(Call::MPI_Topo_test);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, status);
  *status = found->topology != nullptr ? found->topology->kind : static_cast<int>(MPI_UNDEFINED);
  return MPI_SUCCESS;
}
PROFILED(MPI_Topo_test);

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int,
                     MPI_Comm* comm_cart) {
  Entry entry(Call::MPI_Cart_create);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm_old);
  if (found == nullptr) return BadComm(entry, comm_old);
  REQUIRE_POINTER(found, comm_cart);
  Rank members = 0;
  const int error = CheckGrid(entry, found, ndims, dims, &members);
  if (error != MPI_SUCCESS) return error;
  Topology topology;
  topology.kind = MPI_CART;
  topology.dims.assign(dims, dims + ndims);
  for (int i = 0; i < ndims; ++i) topology.periodic.push_back(periods[i] != 0);
  return MakeOver(found, members, std::move(topology), comm_cart);
}
PROFILED(MPI_Cart_create);

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int[], int* newrank) {
  Entry entry(Call::MPI_Cart_map);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, newrank);
  Rank members = 0;
  const int error = CheckGrid(entry, found, ndims, dims, &members);
  if (error != MPI_SUCCESS) return error;
  *newrank = found->rank < members ? found->rank : static_cast<int>(MPI_UNDEFINED);
  return MPI_SUCCESS;
}
PROFILED(MPI_Cart_map);

int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) {
  Entry entry(Call::MPI_Cartdim_get);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* cart = Find(*found, MPI_CART);
  if (cart == nullptr) return BadTopology(entry, found, "Cartesian");
  REQUIRE_POINTER(found, ndims);
  *ndims = static_cast<int>(cart->dims.size());
  return MPI_SUCCESS;
}
PROFILED(MPI_Cartdim_get);

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  Entry entry(Call::MPI_Cart_get);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* cart = Find(*found, MPI_CART);
  if (cart == nullptr) return BadTopology(entry, found, "Cartesian");
  CopyUpTo(cart->dims, maxdims, dims);
  CopyUpTo(cart->periodic, maxdims, periods);
  CopyUpTo(CoordinatesOf(*cart, found->rank), maxdims, coords);
  return MPI_SUCCESS;
}
PROFILED(MPI_Cart_get);

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  Entry entry(Call::MPI_Cart_rank);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* cart = Find(*found, MPI_CART);
  if (cart == nullptr) return BadTopology(entry, found, "Cartesian");
  REQUIRE_POINTER(found, rank);
  for (std::size_t i = 0; i < cart->dims.size(); ++i)
    REQUIRE(cart->periodic[i] || (coords[i] >= 0 && coords[i] < cart->dims[i]), found, MPI_ERR_ARG,
            "coords[%zu] is %d, must be 0..%d", i, coords[i], cart->dims[i] - 1);
  *rank = RankAt(*cart, {coords, cart->dims.size()});
  return MPI_SUCCESS;
}
PROFILED(MPI_Cart_rank);

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  Entry entry(Call::MPI_Cart_coords);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* cart = Find(*found, MPI_CART);
  if (cart == nullptr) return BadTopology(entry, found, "Cartesian");
  REQUIRE(rank >= 0 && rank < found->size, found, MPI_ERR_RANK, "rank is %d, must be 0..%d", rank,
          found->size - 1);
  CopyUpTo(CoordinatesOf(*cart, rank), maxdims, coords);
  return MPI_SUCCESS;
}
PROFILED(MPI_Cart_coords);

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  Entry entry(Call::MPI_Cart_shift);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* cart = Find(*found, MPI_CART);
  if (cart == nullptr) return BadTopology(entry, found, "Cartesian");
  const int ndims = static_cast<int>(cart->dims.size());
  REQUIRE(direction >= 0 && direction < ndims, found, MPI_ERR_ARG, "direction is %d, must be 0..%d",
          direction, ndims - 1);
  *rank_source = Shifted(*cart, found->rank, direction, -disp);
  *rank_dest = Shifted(*cart, found->rank, direction, disp);
  return MPI_SUCCESS;
}
PROFILED(MPI_Cart_shift);

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Cart_sub);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* cart = Find(*found, MPI_CART);
  if (cart == nullptr) return BadTopology(entry, found, "Cartesian");
  REQUIRE_POINTER(found, newcomm);
  // Processes with the same coordinates in the dropped dimensions stay together.
  const std::vector<int> coordinates = CoordinatesOf(*cart, found->rank);
  Topology topology;
  topology.kind = MPI_CART;
  int color = 0;
  for (std::size_t i = 0; i < cart->dims.size(); ++i) {
    if (remain_dims[i] != 0) {
      topology.dims.push_back(cart->dims[i]);
      topology.periodic.push_back(cart->periodic[i]);
    } else {
      color = color * cart->dims[i] + coordinates[i];
    }
  }
  const int error = PMPI_Comm_split(comm, color, found->rank, newcomm);
  if (error != MPI_SUCCESS) return error;
  FindComm(*newcomm)->topology = new Topology(std::move(topology));
  return MPI_SUCCESS;
}
PROFILED(MPI_Cart_sub);

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int,
                      MPI_Comm* comm_graph) {
  Entry entry(Call::MPI_Graph_create);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm_old);
  if (found == nullptr) return BadComm(entry, comm_old);
  REQUIRE_POINTER(found, comm_graph);
  const int error = CheckGraph(entry, found, nnodes, index, edges);
  if (error != MPI_SUCCESS) return error;
  Topology topology;
  topology.kind = MPI_GRAPH;
  topology.index.assign(index, index + nnodes);
  if (nnodes > 0) topology.edges.assign(edges, edges + index[nnodes - 1]);
  return MakeOver(found, nnodes, std::move(topology), comm_graph);
}
PROFILED(MPI_Graph_create);

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int* newrank) {
  Entry entry(Call::MPI_Graph_map);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, newrank);
  const int error = CheckGraph(entry, found, nnodes, index, edges);
  if (error != MPI_SUCCESS) return error;
  *newrank = found->rank < nnodes ? found->rank : static_cast<int>(MPI_UNDEFINED);
  return MPI_SUCCESS;
}
PROFILED(MPI_Graph_map);

int PMPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  Entry entry(Call::MPI_Graphdims_get);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* graph = Find(*found, MPI_GRAPH);
  if (graph == nullptr) return BadTopology(entry, found, "graph");
  *nnodes = static_cast<int>(graph->index.size());
  *nedges = static_cast<int>(graph->edges.size());
  return MPI_SUCCESS;
}
PROFILED(MPI_Graphdims_get);

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]) {
  Entry entry(Call::MPI_Graph_get);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* graph = Find(*found, MPI_GRAPH);
  if (graph == nullptr) return BadTopology(entry, found, "graph");
  CopyUpTo(graph->index, maxindex, index);
  CopyUpTo(graph->edges, maxedges, edges);
  return MPI_SUCCESS;
}
PROFILED(MPI_Graph_get);

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  Entry entry(Call::MPI_Graph_neighbors_count);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* graph = Find(*found, MPI_GRAPH);
  if (graph == nullptr) return BadTopology(entry, found, "graph");
  REQUIRE(rank >= 0 && rank < found->size, found, MPI_ERR_RANK, "rank is %d, must be 0..%d", rank,
          found->size - 1);
  *nneighbors = static_cast<int>(Neighbours(*graph, rank).size());
  return MPI_SUCCESS;
}
PROFILED(MPI_Graph_neighbors_count);

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  Entry entry(Call::MPI_Graph_neighbors);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* graph = Find(*found, MPI_GRAPH);
  if (graph == nullptr) return BadTopology(entry, found, "graph");
  REQUIRE(rank >= 0 && rank < found->size, found, MPI_ERR_RANK, "rank is %d, must be 0..%d", rank,
          found->size - 1);
  const auto there = Neighbours(*graph, rank);
  CopyUpTo({there.begin(), there.end()}, maxneighbors, neighbors);
  return MPI_SUCCESS;
}
PROFILED(MPI_Graph_neighbors);

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int sourceweights[], int outdegree,
                                    const int destinations[], const int destweights[],
                                    MPI_Info info, int, MPI_Comm* comm_dist_graph) {
  Entry entry(Call::MPI_Dist_graph_create_adjacent);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm_old);
  if (found == nullptr) return BadComm(entry, comm_old);
  if (info != MPI_INFO_NULL && core::FindInfo(info) == nullptr) return BadInfo(entry, info);
  REQUIRE_POINTER(found, comm_dist_graph);
  int error = CheckRanks(entry, found, "sources", indegree, sources);
  if (error == MPI_SUCCESS)
    error = CheckRanks(entry, found, "destinations", outdegree, destinations);
  if (error != MPI_SUCCESS) return error;
  Topology topology;
  topology.kind = MPI_DIST_GRAPH;
  topology.sources.assign(sources, sources + indegree);
  topology.destinations.assign(destinations, destinations + outdegree);
  topology.source_weights = Weights(sourceweights, indegree);
  topology.destination_weights = Weights(destweights, outdegree);
  topology.weighted = sourceweights != MPI_UNWEIGHTED && destweights != MPI_UNWEIGHTED;
  return MakeOver(found, found->size, std::move(topology), comm_dist_graph);
}
PROFILED(MPI_Dist_graph_create_adjacent);

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int weights[], MPI_Info info, int,
                           MPI_Comm* comm_dist_graph) {
  Entry entry(Call::MPI_Dist_graph_create);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm_old);
  if (found == nullptr) return BadComm(entry, comm_old);
  if (info != MPI_INFO_NULL && core::FindInfo(info) == nullptr) return BadInfo(entry, info);
  REQUIRE_POINTER(found, comm_dist_graph);
  int error = CheckRanks(entry, found, "sources", n, sources);
  if (error != MPI_SUCCESS) return error;
  const bool weighted = weights != MPI_UNWEIGHTED;
  std::vector<Edge> edges, into, out_of;
  for (int i = 0, next = 0; i < n; ++i)
    for (int k = 0; k < degrees[i]; ++k, ++next) {
      error = CheckRanks(entry, found, "destinations", 1, &destinations[next]);
      if (error != MPI_SUCCESS) return error;
      const bool has_weight = weighted && weights != MPI_WEIGHTS_EMPTY;
      edges.push_back({sources[i], destinations[next], has_weight ? weights[next] : 1});
    }
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
  return MakeOver(found, found->size, std::move(topology), comm_dist_graph);
}
PROFILED(MPI_Dist_graph_create);

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  Entry entry(Call::MPI_Dist_graph_neighbors_count);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* graph = Find(*found, MPI_DIST_GRAPH);
  if (graph == nullptr) return BadTopology(entry, found, "distributed graph");
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
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* graph = Find(*found, MPI_DIST_GRAPH);
  if (graph == nullptr) return BadTopology(entry, found, "distributed graph");
  CopyUpTo(graph->sources, maxindegree, sources);
  CopyUpTo(graph->destinations, maxoutdegree, destinations);
  if (!graph->weighted) return MPI_SUCCESS;
  if (sourceweights != MPI_UNWEIGHTED) CopyUpTo(graph->source_weights, maxindegree, sourceweights);
  if (destweights != MPI_UNWEIGHTED)
    CopyUpTo(graph->destination_weights, maxoutdegree, destweights);
  return MPI_SUCCESS;
}
PROFILED(MPI_Dist_graph_neighbors);
