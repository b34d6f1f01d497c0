// SPDX-License-Identifier: BSD-3-Clause
// Blocking collective operations (MPI-5.0, sections 6.3 to 6.11).
//
// Each function says which arguments there are; CollectiveArguments checks them and calls
// collectives/exec.
#include "runtime/api/collective_arguments.h"

using lamina::Call;
using lamina::api::BlockArguments;
using lamina::api::CollectiveArguments;
using lamina::api::Entry;
using lamina::collective::Operation;

int PMPI_Barrier(MPI_Comm comm) {
  Entry entry(Call::MPI_Barrier);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kBarrier, comm);
  return arguments.Run();
}
PROFILED(MPI_Barrier);

int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Bcast);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kBcast, comm);
  arguments.Root(root);
  arguments.Buffer(buffer, count, datatype);
  return arguments.Run();
}
PROFILED(MPI_Bcast);

int PMPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Bcast_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kBcast, comm);
  arguments.Root(root);
  arguments.Buffer(buffer, count, datatype);
  return arguments.Run();
}
PROFILED(MPI_Bcast_c);

int PMPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Gather);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kGather, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Gather);

int PMPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Gather_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kGather, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Gather_c);

int PMPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm) {
  Entry entry(Call::MPI_Gatherv);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kGatherv, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Gatherv);

int PMPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Gatherv_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kGatherv, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Gatherv_c);

int PMPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Scatter);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kScatter, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Scatter);

int PMPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Scatter_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kScatter, comm);
  arguments.Root(root);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Scatter_c);

int PMPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Scatterv);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kScatterv, comm);
  arguments.Root(root);
  arguments.SendBlocks(sendbuf, sendcounts, displs, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Scatterv);

int PMPI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Scatterv_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kScatterv, comm);
  arguments.Root(root);
  arguments.SendBlocks(sendbuf, sendcounts, displs, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Scatterv_c);

int PMPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Entry entry(Call::MPI_Allgather);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAllgather, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Allgather);

int PMPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Entry entry(Call::MPI_Allgather_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAllgather, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Allgather_c);

int PMPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    MPI_Comm comm) {
  Entry entry(Call::MPI_Allgatherv);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAllgatherv, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Allgatherv);

int PMPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm) {
  Entry entry(Call::MPI_Allgatherv_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAllgatherv, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, displs, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Allgatherv_c);

int PMPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Entry entry(Call::MPI_Alltoall);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAlltoall, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Alltoall);

int PMPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Entry entry(Call::MPI_Alltoall_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAlltoall, comm);
  arguments.Send(sendbuf, sendcount, sendtype);
  arguments.Receive(recvbuf, recvcount, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Alltoall_c);

int PMPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  Entry entry(Call::MPI_Alltoallv);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAlltoallv, comm);
  arguments.SendBlocks(sendbuf, sendcounts, sdispls, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, rdispls, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Alltoallv);

int PMPI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  Entry entry(Call::MPI_Alltoallv_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAlltoallv, comm);
  arguments.SendBlocks(sendbuf, sendcounts, sdispls, sendtype);
  arguments.ReceiveBlocks(recvbuf, recvcounts, rdispls, recvtype);
  return arguments.Run();
}
PROFILED(MPI_Alltoallv_c);

int PMPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  Entry entry(Call::MPI_Alltoallw);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAlltoallw, comm);
  arguments.SendTyped(sendbuf, sendcounts, sdispls, sendtypes);
  arguments.ReceiveTyped(recvbuf, recvcounts, rdispls, recvtypes);
  return arguments.Run();
}
PROFILED(MPI_Alltoallw);

int PMPI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  Entry entry(Call::MPI_Alltoallw_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kAlltoallw, comm);
  arguments.SendTyped(sendbuf, sendcounts, sdispls, sendtypes);
  arguments.ReceiveTyped(recvbuf, recvcounts, rdispls, recvtypes);
  return arguments.Run();
}
PROFILED(MPI_Alltoallw_c);

int PMPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Reduce);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kReduce, comm);
  arguments.Root(root);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Reduce);

int PMPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm) {
  Entry entry(Call::MPI_Reduce_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kReduce, comm);
  arguments.Root(root);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Reduce_c);

int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm) {
  Entry entry(Call::MPI_Allreduce);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAllreduce, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Allreduce);

int PMPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm) {
  Entry entry(Call::MPI_Allreduce_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kAllreduce, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Allreduce_c);

int PMPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Entry entry(Call::MPI_Reduce_scatter_block);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kReduceScatterBlock, comm);
  arguments.Reduction(sendbuf, recvbuf, recvcount, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Reduce_scatter_block);

int PMPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Entry entry(Call::MPI_Reduce_scatter_block_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kReduceScatterBlock, comm);
  arguments.Reduction(sendbuf, recvbuf, recvcount, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Reduce_scatter_block_c);

int PMPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Entry entry(Call::MPI_Reduce_scatter);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kReduceScatter, comm);
  arguments.ScatteredReduction(sendbuf, recvbuf, recvcounts, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Reduce_scatter);

int PMPI_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Entry entry(Call::MPI_Reduce_scatter_c);
  REQUIRE_INITIALIZED(entry);
  BlockArguments arguments(entry, Operation::kReduceScatter, comm);
  arguments.ScatteredReduction(sendbuf, recvbuf, recvcounts, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Reduce_scatter_c);

int PMPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  Entry entry(Call::MPI_Scan);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kScan, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Scan);

int PMPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm) {
  Entry entry(Call::MPI_Scan_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kScan, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Scan_c);

int PMPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm) {
  Entry entry(Call::MPI_Exscan);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kExscan, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Exscan);

int PMPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm) {
  Entry entry(Call::MPI_Exscan_c);
  REQUIRE_INITIALIZED(entry);
  CollectiveArguments arguments(entry, Operation::kExscan, comm);
  arguments.Reduction(sendbuf, recvbuf, count, datatype, op);
  return arguments.Run();
}
PROFILED(MPI_Exscan_c);

namespace {

int ReduceLocal(const Entry& entry, const void* inbuf, void* inoutbuf, MPI_Count count,
                MPI_Datatype datatype, MPI_Op op) {
  const lamina::datatype::Datatype* type = lamina::datatype::FindDatatype(datatype);
  const lamina::datatype::Op* operation = lamina::datatype::FindOp(op);
  if (type == nullptr) return BadDatatype(entry, datatype);
  if (operation == nullptr) return BadOp(entry, op);
  REQUIRE(count >= 0, nullptr, MPI_ERR_COUNT, "count is %lld, must not be negative",
          static_cast<long long>(count));
  REQUIRE(lamina::datatype::Fits(*operation, *type), nullptr, MPI_ERR_OP,
          "op %s cannot be used with this datatype", operation->name);
  REQUIRE(count == 0 || !type->predefined || (inbuf != nullptr && inoutbuf != nullptr), nullptr,
          MPI_ERR_BUFFER, "a buffer is null, but count is %lld", static_cast<long long>(count));
  REQUIRE(inbuf != MPI_IN_PLACE && inoutbuf != MPI_IN_PLACE, nullptr, MPI_ERR_BUFFER,
          "MPI_IN_PLACE is not allowed here");
  if (count > 0) lamina::datatype::Reduce(*operation, inbuf, inoutbuf, count, *type);
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Reduce_local(const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype,
                      MPI_Op op) {
  Entry entry(Call::MPI_Reduce_local);
  REQUIRE_INITIALIZED(entry);
  return ReduceLocal(entry, inbuf, inoutbuf, count, datatype, op);
}
PROFILED(MPI_Reduce_local);

int PMPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op) {
  Entry entry(Call::MPI_Reduce_local_c);
  REQUIRE_INITIALIZED(entry);
  return ReduceLocal(entry, inbuf, inoutbuf, count, datatype, op);
}
PROFILED(MPI_Reduce_local_c);
