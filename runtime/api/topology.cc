// SPDX-License-Identifier: BSD-3-Clause
// Process topologies (MPI-5.0, chapter 8). Making one is: who takes which place, MPI_Comm_split
// with the places as keys, and a description hung on the new communicator.
#include "runtime/core/topology.h"

#include <algorithm>
#include <vector>

#include "runtime/api/arguments.h"
#include "runtime/core/placement.h"

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

// The node of each of the first `members` processes; empty: whatever started the job does not say.
std::vector<std::uint32_t> NodesOf(const Comm& comm, Rank members) {
  std::vector<std::uint32_t> nodes;
  for (Rank rank = 0; rank < members && core::process->bootstrap != nullptr; ++rank) {
    const lamina::Result<std::uint32_t> node =
        core::process->bootstrap->Node(Index(comm.group->peers[static_cast<std::size_t>(rank)]));
    if (!node.ok()) return {};
    nodes.push_back(*node);
  }
  return nodes;
}

// The rank of this process among the `members` places of a grid or graph, near its neighbours;
// MPI_UNDEFINED if it has none. Local (section 8.5.8).
int PlaceOf(const Comm& comm, Rank members, const Topology& topology) {
  if (comm.rank >= members) return MPI_UNDEFINED;
  const std::vector<std::uint32_t> nodes = NodesOf(comm, members);
  if (nodes.empty()) return comm.rank;
  const std::vector<Rank> new_ranks = topology.kind == MPI_CART
                                          ? core::PlaceOnGrid(topology, nodes)
                                          : core::PlaceOnGraph(topology, nodes);
  return new_ranks[static_cast<std::size_t>(comm.rank)];
}

// A communicator of the processes with a place, in the order of these, with `topology`; the others
// get MPI_COMM_NULL.
int MakeOver(Comm* comm, int place, Topology topology, MPI_Comm* newcomm) {
  const int color = place != MPI_UNDEFINED ? 0 : static_cast<int>(MPI_UNDEFINED);
  const int error = PMPI_Comm_split(comm->handle, color, place, newcomm);
  if (error != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return error;
  FindComm(*newcomm)->topology = new Topology(std::move(topology));
  return MPI_SUCCESS;
}

// The rank of this process if nobody changes places.
int OwnPlace(const Comm& comm, Rank members) {
  return comm.rank < members ? comm.rank : static_cast<int>(MPI_UNDEFINED);
}

int RequireIntra(const Entry& entry, Comm* comm) {
  REQUIRE(!comm->is_inter(), comm, MPI_ERR_COMM,
          "the communicator is an intercommunicator, which can have no topology");
  return MPI_SUCCESS;
}

// Room for `count` values, given as `count_max`.
int RequireRoom(const Entry& entry, Comm* comm, const char* name, int count_max, std::size_t count,
                const int* values) {
  REQUIRE(count_max >= 0 && static_cast<std::size_t>(count_max) >= count, comm, MPI_ERR_ARG,
          "there is room for %d %s, but there are %zu", count_max, name, count);
  REQUIRE(values != nullptr || count == 0, comm, MPI_ERR_ARG, "%s is a null pointer", name);
  return MPI_SUCCESS;
}

// Checks the shape of a grid and gives it and the number of its processes.
int CheckGrid(const Entry& entry, Comm* comm, int ndims, const int* dims, const int* periods,
              Topology* cart, Rank* members) {
  if (const int error = RequireIntra(entry, comm); error != MPI_SUCCESS) return error;
  REQUIRE(ndims >= 0, comm, MPI_ERR_DIMS, "ndims is %d, must not be negative", ndims);
  REQUIRE(ndims == 0 || (dims != nullptr && periods != nullptr), comm, MPI_ERR_ARG, "%s",
          "dims or periods is a null pointer");
  std::int64_t product = 1;
  for (int i = 0; i < ndims; ++i) {
    REQUIRE(dims[i] > 0, comm, MPI_ERR_DIMS, "dims[%d] is %d, must be positive", i, dims[i]);
    product *= dims[i];
    REQUIRE(product <= comm->size, comm, MPI_ERR_DIMS,
            "the grid has more than the %d processes of the communicator", comm->size);
  }
  *members = static_cast<Rank>(product);
  cart->kind = MPI_CART;
  cart->dims.assign(dims, dims + ndims);
  for (int i = 0; i < ndims; ++i) cart->periodic.push_back(periods[i] != 0);
  return MPI_SUCCESS;
}

// Checks a graph and gives it.
int CheckGraph(const Entry& entry, Comm* comm, int nnodes, const int* index, const int* edges,
               Topology* graph) {
  if (const int error = RequireIntra(entry, comm); error != MPI_SUCCESS) return error;
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
  graph->kind = MPI_GRAPH;
  graph->index.assign(index, index + nnodes);
  if (nnodes > 0) graph->edges.assign(edges, edges + index[nnodes - 1]);
  return MPI_SUCCESS;
}

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
  REQUIRE_INITIALIZED(entry);
  REQUIRE(nnodes > 0, nullptr, MPI_ERR_ARG, "nnodes is %d, must be positive", nnodes);
  REQUIRE(ndims >= 0, nullptr, MPI_ERR_DIMS, "ndims is %d, must not be negative", ndims);
  REQUIRE(ndims == 0 || dims != nullptr, nullptr, MPI_ERR_ARG, "%s", "dims is a null pointer");
  int rest = nnodes, free = 0;
  for (int i = 0; i < ndims; ++i) {
    REQUIRE(dims[i] >= 0, nullptr, MPI_ERR_DIMS, "dims[%d] is %d, must not be negative", i,
            dims[i]);
    if (dims[i] == 0) {
      ++free;
      continue;
    }
    REQUIRE(rest % dims[i] == 0, nullptr, MPI_ERR_DIMS,
            "nnodes is %d, which is no multiple of the dims that are given", nnodes);
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

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm* comm_cart) {
  Entry entry(Call::MPI_Cart_create);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm_old);
  if (found == nullptr) return BadComm(entry, comm_old);
  REQUIRE_POINTER(found, comm_cart);
  Topology cart;
  Rank members = 0;
  const int error = CheckGrid(entry, found, ndims, dims, periods, &cart, &members);
  if (error != MPI_SUCCESS) return error;
  const int place = reorder != 0 ? PlaceOf(*found, members, cart) : OwnPlace(*found, members);
  return MakeOver(found, place, std::move(cart), comm_cart);
}
PROFILED(MPI_Cart_create);

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
  Entry entry(Call::MPI_Cart_map);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, newrank);
  Topology cart;
  Rank members = 0;
  const int error = CheckGrid(entry, found, ndims, dims, periods, &cart, &members);
  if (error != MPI_SUCCESS) return error;
  *newrank = PlaceOf(*found, members, cart);
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
  for (const int* values : {dims, periods, coords})
    if (const int error =
            RequireRoom(entry, found, "dimensions", maxdims, cart->dims.size(), values);
        error != MPI_SUCCESS)
      return error;
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
  REQUIRE(coords != nullptr || cart->dims.empty(), found, MPI_ERR_ARG, "%s",
          "coords is a null pointer");
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
  if (const int error = RequireRoom(entry, found, "dimensions", maxdims, cart->dims.size(), coords);
      error != MPI_SUCCESS)
    return error;
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
  REQUIRE_POINTER(found, rank_source);
  REQUIRE_POINTER(found, rank_dest);
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
  REQUIRE(remain_dims != nullptr || cart->dims.empty(), found, MPI_ERR_ARG, "%s",
          "remain_dims is a null pointer");
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

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[],
                      int reorder, MPI_Comm* comm_graph) {
  Entry entry(Call::MPI_Graph_create);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm_old);
  if (found == nullptr) return BadComm(entry, comm_old);
  REQUIRE_POINTER(found, comm_graph);
  Topology graph;
  const int error = CheckGraph(entry, found, nnodes, index, edges, &graph);
  if (error != MPI_SUCCESS) return error;
  const int place = reorder != 0 ? PlaceOf(*found, nnodes, graph) : OwnPlace(*found, nnodes);
  return MakeOver(found, place, std::move(graph), comm_graph);
}
PROFILED(MPI_Graph_create);

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int* newrank) {
  Entry entry(Call::MPI_Graph_map);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, newrank);
  Topology graph;
  const int error = CheckGraph(entry, found, nnodes, index, edges, &graph);
  if (error != MPI_SUCCESS) return error;
  *newrank = PlaceOf(*found, nnodes, graph);
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
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* graph = Find(*found, MPI_GRAPH);
  if (graph == nullptr) return BadTopology(entry, found, "graph");
  int error = RequireRoom(entry, found, "indices", maxindex, graph->index.size(), index);
  if (error == MPI_SUCCESS)
    error = RequireRoom(entry, found, "edges", maxedges, graph->edges.size(), edges);
  if (error != MPI_SUCCESS) return error;
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
  REQUIRE_POINTER(found, nneighbors);
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
  if (const int error =
          RequireRoom(entry, found, "neighbors", maxneighbors, there.size(), neighbors);
      error != MPI_SUCCESS)
    return error;
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
  int error = RequireIntra(entry, found);
  if (error == MPI_SUCCESS) error = CheckRanks(entry, found, "sources", indegree, sources);
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
  return MakeOver(found, found->rank, std::move(topology), comm_dist_graph);
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
  int error = RequireIntra(entry, found);
  if (error == MPI_SUCCESS) error = CheckRanks(entry, found, "sources", n, sources);
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
  return MakeOver(found, found->rank, std::move(topology), comm_dist_graph);
}
PROFILED(MPI_Dist_graph_create);

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  Entry entry(Call::MPI_Dist_graph_neighbors_count);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* graph = Find(*found, MPI_DIST_GRAPH);
  if (graph == nullptr) return BadTopology(entry, found, "distributed graph");
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
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Topology* graph = Find(*found, MPI_DIST_GRAPH);
  if (graph == nullptr) return BadTopology(entry, found, "distributed graph");
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
  CopyUpTo(graph->sources, maxindegree, sources);
  CopyUpTo(graph->destinations, maxoutdegree, destinations);
  if (!graph->weighted) return MPI_SUCCESS;
  if (Given(sourceweights)) CopyUpTo(graph->source_weights, maxindegree, sourceweights);
  if (Given(destweights)) CopyUpTo(graph->destination_weights, maxoutdegree, destweights);
  return MPI_SUCCESS;
}
PROFILED(MPI_Dist_graph_neighbors);
