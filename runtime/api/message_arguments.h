// SPDX-License-Identifier: BSD-3-Clause
// All functions that take (buffer, count, datatype, rank, tag, comm) share these checks.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "runtime/api/arguments.h"
#include "runtime/core/request.h"
#include "runtime/datatype/datatype.h"
#include "runtime/p2p/p2p.h"

namespace lamina::api {

inline constexpr int kTagMax = 0x7fffffff;

// These are a message's arguments as objects. `error` is the class already raised, if any.
struct MessageArguments {
  core::Comm* comm = nullptr;
  datatype::Buffer buffer;
  int error = MPI_SUCCESS;
};

// Finds out which argument is wrong and raises the error; it is only called when one is.
[[gnu::cold]] int RaiseBadMessage(const char* call, core::Comm* comm, const void* address,
                                  MPI_Count count, const datatype::Datatype* type, int rank,
                                  int tag, Side side);

inline bool RankIsGood(const core::Comm& comm, int rank, Side side) {
  return static_cast<unsigned>(rank) < static_cast<unsigned>(comm.destinations) ||
         rank == MPI_PROC_NULL || (side == Side::kReceive && rank == MPI_ANY_SOURCE);
}
inline bool TagIsGood(int tag, Side side) {
  return tag >= 0 || (side == Side::kReceive && tag == MPI_ANY_TAG);
}
// A null pointer may be MPI_BOTTOM; MPI_IN_PLACE, which is next to it, is for collectives.
[[gnu::always_inline]] inline bool BufferIsGood(const void* address, MPI_Count count,
                                                const datatype::Datatype* type) {
  return count >= 0 && type != nullptr && type->committed &&
         (reinterpret_cast<std::uintptr_t>(address) >
              reinterpret_cast<std::uintptr_t>(MPI_IN_PLACE) ||
          count == 0 || (address == nullptr && !type->predefined));
}
// What a bad buffer is, in words.
const char* BadBufferWords(const void* address);

// Finds the objects behind a message's arguments and checks them.
[[gnu::always_inline]] inline MessageArguments FindMessageArguments(
    const Entry& entry, const void* address, MPI_Count count, MPI_Datatype datatype, int rank,
    int tag, MPI_Comm comm_handle, Side side) {
  MessageArguments found;
  found.comm = core::FindComm(comm_handle);
  if (found.comm == nullptr) [[unlikely]] {
    found.error = BadComm(entry.name(), comm_handle);
    return found;
  }
  const datatype::Datatype* type = datatype::FindDatatype(datatype);
  if (Checking() && (!BufferIsGood(address, count, type) || !TagIsGood(tag, side) ||
                     !RankIsGood(*found.comm, rank, side))) [[unlikely]] {
    found.error = RaiseBadMessage(entry.name(), found.comm, address, count, type, rank, tag, side);
    return found;
  }
  found.buffer = {const_cast<void*>(address), count, type};
  return found;
}

// Raises the error of a finished transfer, in words.
[[gnu::cold]] int RaiseTransfer(const char* call, core::Comm* comm, int error_class, int peer,
                                int tag, std::int64_t received_bytes);
// Raises the error of a finished collective, in words.
[[gnu::cold]] int RaiseCollective(const char* call, core::Comm* comm, int error_class);

}  // namespace lamina::api
