// SPDX-License-Identifier: BSD-3-Clause
// These are grids of processes (MPI-5.0, sections 8.5.1, 8.5.2 and 8.5.5 to 8.5.8).
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/api/topology.h"

using lamina::Call;
using lamina::Rank;
using lamina::api::Entry;
using lamina::api::FindTopology;
using lamina::api::GiveAll;
using lamina::api::NewTopology;
using lamina::core::Comm;
using lamina::core::Topology;

namespace {

// Checks the shape of a grid and gives it.
int PlanGrid(const Entry& entry, Comm* comm, int ndims, const int* dims, const int* periods,
             NewTopology* wanted) {
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
  wanted->members = static_cast<Rank>(product);
  wanted->topology.kind = MPI_CART;
  wanted->topology.dims.assign(dims, dims + ndims);
  for (int i = 0; i < ndims; ++i) wanted->topology.periodic.push_back(periods[i] != 0);
  return MPI_SUCCESS;
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
            "nnodes is %d, which is not a multiple of the dims that are given", nnodes);
    rest /= dims[i];
  }
  REQUIRE(free > 0 || rest == 1 || ndims == 0, nullptr, MPI_ERR_DIMS,
          "the product of dims is not %d, and none of them is 0", nnodes);
  const std::vector<int> factors = lamina::core::BalancedFactors(rest, free);
  for (int i = 0, next = 0; i < ndims; ++i)
    if (dims[i] == 0) dims[i] = factors[static_cast<std::size_t>(next++)];
  return MPI_SUCCESS;
}
PROFILED(MPI_Dims_create);

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm* comm_cart) {
  Entry entry(Call::MPI_Cart_create);
  REQUIRE_INITIALIZED(entry);
  auto [found, error] = FindParent(entry, comm_old, comm_cart);
  NewTopology wanted;
  if (error == MPI_SUCCESS) error = PlanGrid(entry, found, ndims, dims, periods, &wanted);
  if (error != MPI_SUCCESS) return error;
  return MakeOver(found, std::move(wanted), reorder != 0, comm_cart);
}
PROFILED(MPI_Cart_create);

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
  Entry entry(Call::MPI_Cart_map);
  REQUIRE_INITIALIZED(entry);
  auto [found, error] = FindParent(entry, comm, newrank);
  NewTopology wanted;
  if (error == MPI_SUCCESS) error = PlanGrid(entry, found, ndims, dims, periods, &wanted);
  if (error != MPI_SUCCESS) return error;
  *newrank = PlaceIn(*found, wanted);
  return MPI_SUCCESS;
}
PROFILED(MPI_Cart_map);

int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) {
  Entry entry(Call::MPI_Cartdim_get);
  REQUIRE_INITIALIZED(entry);
  const auto [found, cart, error] = FindTopology(entry, comm, MPI_CART);
  if (error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(found, ndims);
  *ndims = static_cast<int>(cart->dims.size());
  return MPI_SUCCESS;
}
PROFILED(MPI_Cartdim_get);

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  Entry entry(Call::MPI_Cart_get);
  REQUIRE_INITIALIZED(entry);
  auto [found, cart, error] = FindTopology(entry, comm, MPI_CART);
  if (error != MPI_SUCCESS) return error;
  error = GiveAll(entry, found, "dims", cart->dims, maxdims, dims);
  if (error == MPI_SUCCESS)
    error = GiveAll(entry, found, "periods", cart->periodic, maxdims, periods);
  if (error == MPI_SUCCESS)
    error = GiveAll(entry, found, "coords", CoordinatesOf(*cart, found->rank), maxdims, coords);
  return error;
}
PROFILED(MPI_Cart_get);

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  Entry entry(Call::MPI_Cart_rank);
  REQUIRE_INITIALIZED(entry);
  const auto [found, cart, error] = FindTopology(entry, comm, MPI_CART);
  if (error != MPI_SUCCESS) return error;
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
  auto [found, cart, error] = FindTopology(entry, comm, MPI_CART);
  if (error == MPI_SUCCESS) error = CheckRank(entry, found, rank);
  if (error != MPI_SUCCESS) return error;
  return GiveAll(entry, found, "coords", CoordinatesOf(*cart, rank), maxdims, coords);
}
PROFILED(MPI_Cart_coords);

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  Entry entry(Call::MPI_Cart_shift);
  REQUIRE_INITIALIZED(entry);
  const auto [found, cart, error] = FindTopology(entry, comm, MPI_CART);
  if (error != MPI_SUCCESS) return error;
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
  auto [found, cart, error] = FindTopology(entry, comm, MPI_CART);
  if (error != MPI_SUCCESS) return error;
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
  error = PMPI_Comm_split(comm, color, found->rank, newcomm);
  if (error != MPI_SUCCESS) return error;
  lamina::core::FindComm(*newcomm)->topology = new Topology(std::move(topology));
  return MPI_SUCCESS;
}
PROFILED(MPI_Cart_sub);
