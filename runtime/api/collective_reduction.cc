// SPDX-License-Identifier: BSD-3-Clause
// These are the collective operations that combine data (MPI-5.0, sections 6.9 to 6.13), and
// MPI_Reduce_local.
//
// Each operation is written once; collective_forms.h makes six functions of it.
#include "runtime/api/collective_forms.h"

namespace datatype = lamina::datatype;

// clang-format off
#define REDUCED(Count, Displacement) \
  const void *sendbuf, void *recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,
#define ROOTED_REDUCED(Count, Displacement) \
  REDUCED(Count, Displacement) int root,
#define SCATTERED(Count, Displacement) \
  const void *sendbuf, void *recvbuf, const Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
// clang-format on

COLLECTIVE(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, kReduce, CollectiveArguments, ROOTED_REDUCED,
           it.Root(root), it.Reduction(sendbuf, recvbuf, count, datatype, op))
PROFILED(MPI_Reduce);
PROFILED(MPI_Reduce_c);
PROFILED(MPI_Ireduce);
PROFILED(MPI_Ireduce_c);
PROFILED(MPI_Reduce_init);
PROFILED(MPI_Reduce_init_c);

COLLECTIVE(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, kAllreduce, CollectiveArguments,
           REDUCED, it.Reduction(sendbuf, recvbuf, count, datatype, op))
PROFILED(MPI_Allreduce);
PROFILED(MPI_Allreduce_c);
PROFILED(MPI_Iallreduce);
PROFILED(MPI_Iallreduce_c);
PROFILED(MPI_Allreduce_init);
PROFILED(MPI_Allreduce_init_c);

COLLECTIVE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init,
           kReduceScatterBlock, CollectiveArguments, REDUCED,
           it.Reduction(sendbuf, recvbuf, count, datatype, op))
PROFILED(MPI_Reduce_scatter_block);
PROFILED(MPI_Reduce_scatter_block_c);
PROFILED(MPI_Ireduce_scatter_block);
PROFILED(MPI_Ireduce_scatter_block_c);
PROFILED(MPI_Reduce_scatter_block_init);
PROFILED(MPI_Reduce_scatter_block_init_c);

COLLECTIVE(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, kReduceScatter,
           BlockArguments, SCATTERED,
           it.ScatteredReduction(sendbuf, recvbuf, recvcounts, datatype, op))
PROFILED(MPI_Reduce_scatter);
PROFILED(MPI_Reduce_scatter_c);
PROFILED(MPI_Ireduce_scatter);
PROFILED(MPI_Ireduce_scatter_c);
PROFILED(MPI_Reduce_scatter_init);
PROFILED(MPI_Reduce_scatter_init_c);

COLLECTIVE(MPI_Scan, MPI_Iscan, MPI_Scan_init, kScan, CollectiveArguments, REDUCED,
           it.Reduction(sendbuf, recvbuf, count, datatype, op))
PROFILED(MPI_Scan);
PROFILED(MPI_Scan_c);
PROFILED(MPI_Iscan);
PROFILED(MPI_Iscan_c);
PROFILED(MPI_Scan_init);
PROFILED(MPI_Scan_init_c);

COLLECTIVE(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, kExscan, CollectiveArguments, REDUCED,
           it.Reduction(sendbuf, recvbuf, count, datatype, op))
PROFILED(MPI_Exscan);
PROFILED(MPI_Exscan_c);
PROFILED(MPI_Iexscan);
PROFILED(MPI_Iexscan_c);
PROFILED(MPI_Exscan_init);
PROFILED(MPI_Exscan_init_c);

namespace {

int ReduceLocal(const lamina::api::Entry& entry, const void* inbuf, void* inoutbuf, MPI_Count count,
                MPI_Datatype datatype, MPI_Op op) {
  const datatype::Datatype* type = datatype::FindDatatype(datatype);
  const datatype::Op* operation = datatype::FindOp(op);
  if (type == nullptr) return BadDatatype(entry, datatype);
  if (operation == nullptr) return BadOp(entry, op);
  REQUIRE(count >= 0, nullptr, MPI_ERR_COUNT, "count is %lld, must not be negative",
          static_cast<long long>(count));
  REQUIRE(datatype::Fits(*operation, *type), nullptr, MPI_ERR_OP,
          "op %s cannot be used with this datatype", operation->name);
  REQUIRE(count == 0 || !type->predefined || (inbuf != nullptr && inoutbuf != nullptr), nullptr,
          MPI_ERR_BUFFER, "a buffer is null, but count is %lld", static_cast<long long>(count));
  REQUIRE(inbuf != MPI_IN_PLACE && inoutbuf != MPI_IN_PLACE, nullptr, MPI_ERR_BUFFER,
          "MPI_IN_PLACE is not allowed here");
  if (count > 0) datatype::Reduce(*operation, inbuf, inoutbuf, count, *type);
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Reduce_local(const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype,
                      MPI_Op op) {
  lamina::api::Entry entry(lamina::Call::MPI_Reduce_local);
  REQUIRE_INITIALIZED(entry);
  return ReduceLocal(entry, inbuf, inoutbuf, count, datatype, op);
}
PROFILED(MPI_Reduce_local);

int PMPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op) {
  lamina::api::Entry entry(lamina::Call::MPI_Reduce_local_c);
  REQUIRE_INITIALIZED(entry);
  return ReduceLocal(entry, inbuf, inoutbuf, count, datatype, op);
}
PROFILED(MPI_Reduce_local_c);
