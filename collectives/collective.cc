// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collective.h"

namespace lamina::collective {

namespace {

// In the order of Operation.
constexpr const char* kNames[kOperations] = {
    "barrier",
    "bcast",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
    "reduce",
    "allreduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
};

}  // namespace

const char* Name(Operation operation) {
  const auto index = static_cast<std::size_t>(operation);
  return index < kOperations ? kNames[index] : "unknown";
}

}  // namespace lamina::collective
