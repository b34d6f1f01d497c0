// SPDX-License-Identifier: BSD-3-Clause
// These are the neighbourhood collective operations (MPI-5.0, sections 8.6 to 8.8).
//
// Each operation is written once; collective_forms.h makes six functions of it.
#include "runtime/api/collective_forms.h"

// clang-format off
// Displacements are addresses in both widths.
#define TYPED(Count, Displacement) \
  const void *sendbuf, const Count sendcounts[], const MPI_Aint sdispls[], \
  const MPI_Datatype sendtypes[], void *recvbuf, const Count recvcounts[], \
  const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
// clang-format on

COLLECTIVE(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init,
           kNeighborAllgather, CollectiveArguments, BLOCK, it.Send(sendbuf, sendcount, sendtype),
           it.Receive(recvbuf, recvcount, recvtype))
PROFILED(MPI_Neighbor_allgather);
PROFILED(MPI_Neighbor_allgather_c);
PROFILED(MPI_Ineighbor_allgather);
PROFILED(MPI_Ineighbor_allgather_c);
PROFILED(MPI_Neighbor_allgather_init);
PROFILED(MPI_Neighbor_allgather_init_c);

COLLECTIVE(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init,
           kNeighborAllgatherv, BlockArguments, COLLECTED, it.Send(sendbuf, sendcount, sendtype),
           it.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype))
PROFILED(MPI_Neighbor_allgatherv);
PROFILED(MPI_Neighbor_allgatherv_c);
PROFILED(MPI_Ineighbor_allgatherv);
PROFILED(MPI_Ineighbor_allgatherv_c);
PROFILED(MPI_Neighbor_allgatherv_init);
PROFILED(MPI_Neighbor_allgatherv_init_c);

COLLECTIVE(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init,
           kNeighborAlltoall, CollectiveArguments, BLOCK, it.Send(sendbuf, sendcount, sendtype),
           it.Receive(recvbuf, recvcount, recvtype))
PROFILED(MPI_Neighbor_alltoall);
PROFILED(MPI_Neighbor_alltoall_c);
PROFILED(MPI_Ineighbor_alltoall);
PROFILED(MPI_Ineighbor_alltoall_c);
PROFILED(MPI_Neighbor_alltoall_init);
PROFILED(MPI_Neighbor_alltoall_init_c);

COLLECTIVE(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init,
           kNeighborAlltoallv, BlockArguments, EXCHANGED,
           it.SendBlocks(sendbuf, sendcounts, sdispls, sendtype),
           it.ReceiveBlocks(recvbuf, recvcounts, rdispls, recvtype))
PROFILED(MPI_Neighbor_alltoallv);
PROFILED(MPI_Neighbor_alltoallv_c);
PROFILED(MPI_Ineighbor_alltoallv);
PROFILED(MPI_Ineighbor_alltoallv_c);
PROFILED(MPI_Neighbor_alltoallv_init);
PROFILED(MPI_Neighbor_alltoallv_init_c);

COLLECTIVE(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init,
           kNeighborAlltoallw, BlockArguments, TYPED,
           it.SendBlocks(sendbuf, sendcounts, sdispls, sendtypes),
           it.ReceiveBlocks(recvbuf, recvcounts, rdispls, recvtypes))
PROFILED(MPI_Neighbor_alltoallw);
PROFILED(MPI_Neighbor_alltoallw_c);
PROFILED(MPI_Ineighbor_alltoallw);
PROFILED(MPI_Ineighbor_alltoallw_c);
PROFILED(MPI_Neighbor_alltoallw_init);
PROFILED(MPI_Neighbor_alltoallw_init_c);
