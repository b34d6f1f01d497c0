// SPDX-License-Identifier: BSD-3-Clause
// This is partitioned communication (MPI-5.0, chapter 4).
#include "runtime/p2p/partitioned.h"

#include "runtime/api/arguments.h"
#include "runtime/api/message_arguments.h"

namespace lamina::api {
namespace {

int Make(Call call, Side side, const void* buffer, int partitions, MPI_Count count,
         MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, MPI_Info info,
         MPI_Request* request) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const MessageArguments found =
      FindMessageArguments(entry, buffer, count, datatype, peer, tag, comm, side);
  if (found.error != MPI_SUCCESS) return found.error;
  if (Checking()) {
    REQUIRE(partitions >= 0, found.comm, MPI_ERR_ARG, "partitions is %d, must not be negative",
            partitions);
    REQUIRE(peer != MPI_ANY_SOURCE, found.comm, MPI_ERR_RANK,
            "source is MPI_ANY_SOURCE, must be one rank");
    REQUIRE(tag != MPI_ANY_TAG, found.comm, MPI_ERR_TAG, "tag is MPI_ANY_TAG, must be one tag");
    if (info != MPI_INFO_NULL && core::FindInfo(info) == nullptr)
      return BadInfo(entry, info, found.comm);
    REQUIRE_POINTER(found.comm, request);
  }
  const p2p::Partitioned arguments{{found.comm, found.comm->PartitionedContext(), peer, tag},
                                   found.buffer.address,
                                   partitions,
                                   count,
                                   found.buffer.type};
  *request =
      core::ToHandle<MPI_Request>(side == Side::kSend ? p2p::MakePartitionedSend(arguments)
                                                      : p2p::MakePartitionedReceive(arguments));
  return MPI_SUCCESS;
}

// Finds the active partitioned send behind a handle. Returns null if there is none; then `error`
// has been raised.
core::Request* FindSend(const Entry& entry, MPI_Request handle, int* error) {
  core::Request* request = core::FromHandle<core::Request>(handle);
  if (request == nullptr || p2p::SendPartitions(*request) < 0) {
    *error = core::Raise(nullptr, MPI_ERR_REQUEST, entry.name(),
                         "request is null, has been freed, or is not a partitioned send");
    return nullptr;
  }
  if (!request->active) {
    *error = core::Raise(request->comm, MPI_ERR_REQUEST, entry.name(),
                         "request is not active; start it first");
    return nullptr;
  }
  return request;
}

// Checks whether this partition may be marked as ready.
int CheckReady(const Entry& entry, const core::Request& request, int partition) {
  const int partitions = p2p::SendPartitions(request);
  REQUIRE(partition >= 0 && partition < partitions, request.comm, MPI_ERR_ARG,
          "partition is %d, must be 0..%d", partition, partitions - 1);
  REQUIRE(!p2p::IsReady(request, partition), request.comm, MPI_ERR_ARG,
          "partition %d is marked as ready already", partition);
  return MPI_SUCCESS;
}

// Marks `count` partitions, the i-th of which is `partition(i)`: all or none.
template <class Partition>
int Ready(const Entry& entry, MPI_Request handle, int count, Partition partition) {
  int error = MPI_SUCCESS;
  core::Request* request = FindSend(entry, handle, &error);
  if (request == nullptr) return error;
  for (int i = 0; i < count; ++i)
    if (error = CheckReady(entry, *request, partition(i)); error != MPI_SUCCESS) return error;
  for (int i = 0; i < count; ++i) {
    REQUIRE(!p2p::IsReady(*request, partition(i)), request->comm, MPI_ERR_ARG,
            "partition %d is named twice", partition(i));
    p2p::MarkReady(request, partition(i));
  }
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace lamina::api

namespace api = lamina::api;
namespace core = lamina::core;
namespace p2p = lamina::p2p;
using api::Entry;
using api::Side;
using lamina::Call;

int PMPI_Psend_init(const void* buf, int partitions, int count, MPI_Datatype datatype, int dest,
                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return api::Make(Call::MPI_Psend_init, Side::kSend, buf, partitions, count, datatype, dest, tag,
                   comm, info, request);
}
PROFILED(MPI_Psend_init);

int PMPI_Psend_init_c(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                      int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return api::Make(Call::MPI_Psend_init_c, Side::kSend, buf, partitions, count, datatype, dest, tag,
                   comm, info, request);
}
PROFILED(MPI_Psend_init_c);

int PMPI_Precv_init(void* buf, int partitions, int count, MPI_Datatype datatype, int source,
                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return api::Make(Call::MPI_Precv_init, Side::kReceive, buf, partitions, count, datatype, source,
                   tag, comm, info, request);
}
PROFILED(MPI_Precv_init);

int PMPI_Precv_init_c(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
                      int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return api::Make(Call::MPI_Precv_init_c, Side::kReceive, buf, partitions, count, datatype, source,
                   tag, comm, info, request);
}
PROFILED(MPI_Precv_init_c);

int PMPI_Pready(int partition, MPI_Request request) {
  Entry entry(Call::MPI_Pready);
  REQUIRE_INITIALIZED(entry);
  return api::Ready(entry, request, 1, [partition](int) { return partition; });
}
PROFILED(MPI_Pready);

int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request) {
  Entry entry(Call::MPI_Pready_range);
  REQUIRE_INITIALIZED(entry);
  REQUIRE(partition_low >= 0 && partition_low <= partition_high, nullptr, MPI_ERR_ARG,
          "the range is %d..%d, but it must begin at 0 or above and must not end before it begins",
          partition_low, partition_high);
  // The first partition out of range stops the loop, so this does not overflow.
  const int count = partition_high - partition_low + (partition_high < 0x7fffffff ? 1 : 0);
  return api::Ready(entry, request, count, [partition_low](int i) { return partition_low + i; });
}
PROFILED(MPI_Pready_range);

int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  Entry entry(Call::MPI_Pready_list);
  REQUIRE_INITIALIZED(entry);
  REQUIRE(length >= 0, nullptr, MPI_ERR_ARG, "length is %d, must not be negative", length);
  if (length > 0) REQUIRE_POINTER(nullptr, array_of_partitions);
  return api::Ready(entry, request, length,
                    [array_of_partitions](int i) { return array_of_partitions[i]; });
}
PROFILED(MPI_Pready_list);

int PMPI_Parrived(MPI_Request handle, int partition, int* flag) {
  Entry entry(Call::MPI_Parrived);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, flag);
  // A null or inactive request has nothing left to wait for.
  if (handle == MPI_REQUEST_NULL) {
    *flag = 1;
    return MPI_SUCCESS;
  }
  core::Request* request = core::FromHandle<core::Request>(handle);
  const int partitions = request == nullptr ? -1 : p2p::ReceivePartitions(*request);
  REQUIRE(partitions >= 0, nullptr, MPI_ERR_REQUEST,
          "request has been freed or is not a partitioned receive");
  REQUIRE(partition >= 0 && partition < partitions, request->comm, MPI_ERR_ARG,
          "partition is %d, must be 0..%d", partition, partitions - 1);
  *flag = !request->active || p2p::HasArrived(request, partition) ? 1 : 0;
  return MPI_SUCCESS;
}
PROFILED(MPI_Parrived);
