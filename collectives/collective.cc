// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collective.h"

namespace lamina::collective {

const char* Name(Operation operation) {
  switch (operation) {
    case Operation::kBarrier:
      return "barrier";
    case Operation::kBcast:
      return "bcast";
    case Operation::kGather:
      return "gather";
    case Operation::kGatherv:
      return "gatherv";
    case Operation::kScatter:
      return "scatter";
    case Operation::kScatterv:
      return "scatterv";
    case Operation::kAllgather:
      return "allgather";
    case Operation::kAllgatherv:
      return "allgatherv";
    case Operation::kAlltoall:
      return "alltoall";
    case Operation::kAlltoallv:
      return "alltoallv";
    case Operation::kAlltoallw:
      return "alltoallw";
    case Operation::kNeighborAllgather:
      return "neighbor_allgather";
    case Operation::kNeighborAllgatherv:
      return "neighbor_allgatherv";
    case Operation::kNeighborAlltoall:
      return "neighbor_alltoall";
    case Operation::kNeighborAlltoallv:
      return "neighbor_alltoallv";
    case Operation::kNeighborAlltoallw:
      return "neighbor_alltoallw";
    case Operation::kReduce:
      return "reduce";
    case Operation::kAllreduce:
      return "allreduce";
    case Operation::kReduceScatter:
      return "reduce_scatter";
    case Operation::kReduceScatterBlock:
      return "reduce_scatter_block";
    case Operation::kScan:
      return "scan";
    case Operation::kExscan:
      return "exscan";
  }
  return "unknown";
}

}  // namespace lamina::collective
