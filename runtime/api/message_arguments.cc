// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/api/message_arguments.h"

#include "collectives/exec/failure.h"

namespace lamina::api {

const char* BadBufferWords(const void* address) {
  return address == MPI_IN_PLACE ? "MPI_IN_PLACE, which only collectives take" : "a null pointer";
}

int RaiseBadMessage(const char* call, core::Comm* comm, const void* address, MPI_Count count,
                    const datatype::Datatype* type, int rank, int tag, Side side) {
  if (count < 0)
    return core::Raise(comm, MPI_ERR_COUNT, call, "count is %lld, must not be negative",
                       static_cast<long long>(count));
  if (type == nullptr)
    return core::Raise(comm, MPI_ERR_TYPE, call,
                       "datatype is MPI_DATATYPE_NULL, has been freed, or is not a datatype");
  if (!type->committed)
    return core::Raise(comm, MPI_ERR_TYPE, call,
                       "datatype is not committed; call MPI_Type_commit first");
  if (!RankIsGood(*comm, rank, side))
    return core::Raise(comm, MPI_ERR_RANK, call, "%s is %d, must be 0..%d%s or MPI_PROC_NULL",
                       side == Side::kSend ? "dest" : "source", rank, comm->destinations - 1,
                       side == Side::kSend ? "" : ", MPI_ANY_SOURCE");
  if (!TagIsGood(tag, side))
    return core::Raise(comm, MPI_ERR_TAG, call, "tag is %d, must be 0..%d%s", tag, kTagMax,
                       side == Side::kSend ? "" : " or MPI_ANY_TAG");
  return core::Raise(comm, MPI_ERR_BUFFER, call, "the buffer is %s, but count is %lld",
                     BadBufferWords(address), static_cast<long long>(count));
}

int RaiseTransfer(const char* call, core::Comm* comm, int error_class, int peer, int tag,
                  std::int64_t received_bytes) {
  switch (error_class) {
    case MPI_ERR_TRUNCATE:
      return core::Raise(comm, error_class, call,
                         "the message from rank %d with tag %d is longer than the receive buffer, "
                         "which took %lld bytes",
                         peer, tag, static_cast<long long>(received_bytes));
    case MPI_ERR_PROC_ABORTED:
      if (peer == MPI_ANY_SOURCE)
        return core::Raise(comm, error_class, call,
                           "the connections to all ranks of the remote group are lost");
      return core::Raise(comm, error_class, call, "the connection to rank %d is lost", peer);
    case MPI_ERR_BUFFER:
      return core::Raise(comm, error_class, call,
                         "the attached buffer has no room for the message to rank %d with tag %d; "
                         "attach a larger one with MPI_Buffer_attach",
                         peer, tag);
    case MPI_ERR_NO_MEM:
      return core::Raise(comm, error_class, call, "there is no memory for the message to rank %d",
                         peer);
    default:
      // Only functions of the application make such errors.
      if (comm == nullptr || error_class > MPI_ERR_LASTCODE)
        return core::Raise(comm, error_class, call, "a function of a generalized request failed");
      return core::Raise(comm, error_class, call, "the transfer with rank %d (tag %d) failed", peer,
                         tag);
  }
}

int RaiseCollective(const char* call, core::Comm* comm, int error_class) {
  return collective::RaiseFailure(call, comm, error_class);
}

}  // namespace lamina::api
