// SPDX-License-Identifier: BSD-3-Clause
// These are the collective operations that move data (MPI-5.0, sections 6.3 to 6.8, 6.12 and 6.13).
//
// Each operation is written once; collective_forms.h makes six functions of it.
#include "runtime/api/collective_forms.h"

// clang-format off
#define NOTHING(Count, Displacement)
#define BUFFER(Count, Displacement) \
  void *buffer, Count count, MPI_Datatype datatype, int root,
#define ROOTED_BLOCK(Count, Displacement) \
  BLOCK(Count, Displacement) int root,
#define ROOTED_COLLECTED(Count, Displacement) \
  COLLECTED(Count, Displacement) int root,
#define DEALT(Count, Displacement) \
  const void *sendbuf, const Count sendcounts[], const Displacement displs[], \
  MPI_Datatype sendtype, void *recvbuf, Count recvcount, MPI_Datatype recvtype, int root,
#define TYPED(Count, Displacement) \
  const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], \
  const MPI_Datatype sendtypes[], void *recvbuf, const Count recvcounts[], \
  const Displacement rdispls[], const MPI_Datatype recvtypes[],
// clang-format on

// A barrier has no counts, so it has only half the functions.
COLLECTIVE_WITH(int, int, MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, kBarrier,
                CollectiveArguments, NOTHING, static_cast<void>(0))
PROFILED(MPI_Barrier);
PROFILED(MPI_Ibarrier);
PROFILED(MPI_Barrier_init);

COLLECTIVE(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, kBcast, CollectiveArguments, BUFFER,
           it.Root(root), it.Buffer(buffer, count, datatype))
PROFILED(MPI_Bcast);
PROFILED(MPI_Bcast_c);
PROFILED(MPI_Ibcast);
PROFILED(MPI_Ibcast_c);
PROFILED(MPI_Bcast_init);
PROFILED(MPI_Bcast_init_c);

COLLECTIVE(MPI_Gather, MPI_Igather, MPI_Gather_init, kGather, CollectiveArguments, ROOTED_BLOCK,
           it.Root(root), it.Send(sendbuf, sendcount, sendtype),
           it.Receive(recvbuf, recvcount, recvtype))
PROFILED(MPI_Gather);
PROFILED(MPI_Gather_c);
PROFILED(MPI_Igather);
PROFILED(MPI_Igather_c);
PROFILED(MPI_Gather_init);
PROFILED(MPI_Gather_init_c);

COLLECTIVE(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, kGatherv, BlockArguments, ROOTED_COLLECTED,
           it.Root(root), it.Send(sendbuf, sendcount, sendtype),
           it.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype))
PROFILED(MPI_Gatherv);
PROFILED(MPI_Gatherv_c);
PROFILED(MPI_Igatherv);
PROFILED(MPI_Igatherv_c);
PROFILED(MPI_Gatherv_init);
PROFILED(MPI_Gatherv_init_c);

COLLECTIVE(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, kScatter, CollectiveArguments, ROOTED_BLOCK,
           it.Root(root), it.Send(sendbuf, sendcount, sendtype),
           it.Receive(recvbuf, recvcount, recvtype))
PROFILED(MPI_Scatter);
PROFILED(MPI_Scatter_c);
PROFILED(MPI_Iscatter);
PROFILED(MPI_Iscatter_c);
PROFILED(MPI_Scatter_init);
PROFILED(MPI_Scatter_init_c);

COLLECTIVE(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, kScatterv, BlockArguments, DEALT,
           it.Root(root), it.SendBlocks(sendbuf, sendcounts, displs, sendtype),
           it.Receive(recvbuf, recvcount, recvtype))
PROFILED(MPI_Scatterv);
PROFILED(MPI_Scatterv_c);
PROFILED(MPI_Iscatterv);
PROFILED(MPI_Iscatterv_c);
PROFILED(MPI_Scatterv_init);
PROFILED(MPI_Scatterv_init_c);

COLLECTIVE(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, kAllgather, CollectiveArguments,
           BLOCK, it.Send(sendbuf, sendcount, sendtype), it.Receive(recvbuf, recvcount, recvtype))
PROFILED(MPI_Allgather);
PROFILED(MPI_Allgather_c);
PROFILED(MPI_Iallgather);
PROFILED(MPI_Iallgather_c);
PROFILED(MPI_Allgather_init);
PROFILED(MPI_Allgather_init_c);

COLLECTIVE(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, kAllgatherv, BlockArguments,
           COLLECTED, it.Send(sendbuf, sendcount, sendtype),
           it.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype))
PROFILED(MPI_Allgatherv);
PROFILED(MPI_Allgatherv_c);
PROFILED(MPI_Iallgatherv);
PROFILED(MPI_Iallgatherv_c);
PROFILED(MPI_Allgatherv_init);
PROFILED(MPI_Allgatherv_init_c);

COLLECTIVE(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, kAlltoall, CollectiveArguments, BLOCK,
           it.Send(sendbuf, sendcount, sendtype), it.Receive(recvbuf, recvcount, recvtype))
PROFILED(MPI_Alltoall);
PROFILED(MPI_Alltoall_c);
PROFILED(MPI_Ialltoall);
PROFILED(MPI_Ialltoall_c);
PROFILED(MPI_Alltoall_init);
PROFILED(MPI_Alltoall_init_c);

COLLECTIVE(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, kAlltoallv, BlockArguments, EXCHANGED,
           it.SendBlocks(sendbuf, sendcounts, sdispls, sendtype),
           it.ReceiveBlocks(recvbuf, recvcounts, rdispls, recvtype))
PROFILED(MPI_Alltoallv);
PROFILED(MPI_Alltoallv_c);
PROFILED(MPI_Ialltoallv);
PROFILED(MPI_Ialltoallv_c);
PROFILED(MPI_Alltoallv_init);
PROFILED(MPI_Alltoallv_init_c);

COLLECTIVE(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, kAlltoallw, BlockArguments, TYPED,
           it.SendBlocks(sendbuf, sendcounts, sdispls, sendtypes),
           it.ReceiveBlocks(recvbuf, recvcounts, rdispls, recvtypes))
PROFILED(MPI_Alltoallw);
PROFILED(MPI_Alltoallw_c);
PROFILED(MPI_Ialltoallw);
PROFILED(MPI_Ialltoallw_c);
PROFILED(MPI_Alltoallw_init);
PROFILED(MPI_Alltoallw_init_c);
