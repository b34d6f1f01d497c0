// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collective operations (MPI-5.0, section 6.12).
//
// Each function says which arguments there are; CollectiveArguments checks them and calls
// collectives/exec.
#include "runtime/api/collective_arguments.h"

using lamina::Call;
using lamina::api::BlockArguments;
using lamina::api::CollectiveArguments;
using lamina::api::Entry;
using lamina::collective::Operation;

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Ibarrier);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kBarrier, comm);
  return arguments.Start(request);
}
PROFILED(MPI_Ibarrier);

int PMPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                MPI_Request* request) {
  Entry entry(Call::MPI_Ibcast);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kBcast, comm);
  arguments.Root(root);
  arguments.Buffer(buffer, count, datatype);
  return arguments.Start(request);
}
PROFILED(MPI_Ibcast);

int PMPI_Ibcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request* request) {
  Entry entry(Call::MPI_Ibcast_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kBcast, comm);
  arguments.Root(root);
  arguments.Buffer(buffer, count, datatype);
  return arguments.Start(request);
}
PROFILED(MPI_Ibcast_c);

int PMPI_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Request* request) {
  Entry entry(Call::MPI_Igather);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kGather, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Igather);

int PMPI_Igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request* request) {
  Entry entry(Call::MPI_Igather_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kGather, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Igather_c);

int PMPI_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Igatherv);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kGatherv, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Igatherv);

int PMPI_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Igatherv_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kGatherv, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Igatherv_c);

int PMPI_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request* request) {
  Entry entry(Call::MPI_Iscatter);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kScatter, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Iscatter);

int PMPI_Iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request* request) {
  Entry entry(Call::MPI_Iscatter_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kScatter, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Iscatter_c);

int PMPI_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iscatterv);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kScatterv, comm);
  arguments.Root(root);
  arguments.SendBlocks(sendbuf, sendcounts, displs, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Iscatterv);

int PMPI_Iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iscatterv_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kScatterv, comm);
  arguments.Root(root);
  arguments.SendBlocks(sendbuf, sendcounts, displs, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Iscatterv_c);

int PMPI_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iallgather);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAllgather, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Iallgather);

int PMPI_Iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request* request) {
  Entry entry(Call::MPI_Iallgather_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAllgather, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Iallgather_c);

int PMPI_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iallgatherv);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAllgatherv, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Iallgatherv);

int PMPI_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iallgatherv_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAllgatherv, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Iallgatherv_c);

int PMPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Ialltoall);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAlltoall, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Ialltoall);

int PMPI_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request* request) {
  Entry entry(Call::MPI_Ialltoall_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAlltoall, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Ialltoall_c);

int PMPI_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Request* request) {
  Entry entry(Call::MPI_Ialltoallv);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAlltoallv, comm);
  arguments.SendBlocks(sendbuf, sendcounts, sdispls, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, rdispls, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Ialltoallv);

int PMPI_Ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request* request) {
  Entry entry(Call::MPI_Ialltoallv_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAlltoallv, comm);
  arguments.SendBlocks(sendbuf, sendcounts, sdispls, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, rdispls, recvtype);
  return arguments.Start(request);
}
PROFILED(MPI_Ialltoallv_c);

int PMPI_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request* request) {
  Entry entry(Call::MPI_Ialltoallw);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAlltoallw, comm);
  arguments.SendTyped(sendbuf, sendcounts, sdispls, sendtypes);
  arguments.ReceiveTyped(recvbuf, recvcounts, rdispls, recvtypes);
  return arguments.Start(request);
}
PROFILED(MPI_Ialltoallw);

int PMPI_Ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request* request) {
  Entry entry(Call::MPI_Ialltoallw_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAlltoallw, comm);
  arguments.SendTyped(sendbuf, sendcounts, sdispls, sendtypes);
  arguments.ReceiveTyped(recvbuf, recvcounts, rdispls, recvtypes);
  return arguments.Start(request);
}
PROFILED(MPI_Ialltoallw_c);

int PMPI_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Ireduce);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kReduce, comm);
  arguments.Root(root);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Ireduce);

int PMPI_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Ireduce_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kReduce, comm);
  arguments.Root(root);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Ireduce_c);

int PMPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iallreduce);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAllreduce, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Iallreduce);

int PMPI_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iallreduce_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAllreduce, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Iallreduce_c);

int PMPI_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                               MPI_Request* request) {
  Entry entry(Call::MPI_Ireduce_scatter_block);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kReduceScatterBlock, comm);
  arguments.Reduction(sendbuf, recvbuf, recvcount, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Ireduce_scatter_block);

int PMPI_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request* request) {
  Entry entry(Call::MPI_Ireduce_scatter_block_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kReduceScatterBlock, comm);
  arguments.Reduction(sendbuf, recvbuf, recvcount, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Ireduce_scatter_block_c);

int PMPI_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Ireduce_scatter);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kReduceScatter, comm);
  arguments.ScatteredReduction(sendbuf, recvbuf, recvcounts, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Ireduce_scatter);

int PMPI_Ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Ireduce_scatter_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kReduceScatter, comm);
  arguments.ScatteredReduction(sendbuf, recvbuf, recvcounts, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Ireduce_scatter_c);

int PMPI_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iscan);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kScan, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Iscan);

int PMPI_Iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iscan_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kScan, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Iscan_c);

int PMPI_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iexscan);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kExscan, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Iexscan);

int PMPI_Iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  Entry entry(Call::MPI_Iexscan_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kExscan, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Start(request);
}
PROFILED(MPI_Iexscan_c);
