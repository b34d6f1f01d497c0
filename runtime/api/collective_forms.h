// SPDX-License-Identifier: BSD-3-Clause
// This makes the functions of one collective operation from one list of parameters and one list of
// checks: blocking, non-blocking and persistent, each with int and with MPI_Count.
//
//   #define REDUCED(Count, Displacement) const void *sendbuf, void *recvbuf, Count count, ...
//
//   COLLECTIVE(MPI_Scan, MPI_Iscan, MPI_Scan_init, kScan, CollectiveArguments, REDUCED,
//              it.Reduction(sendbuf, recvbuf, count, datatype, op))
//
// defines PMPI_Scan, PMPI_Scan_c, PMPI_Iscan, PMPI_Iscan_c, PMPI_Scan_init and PMPI_Scan_init_c.
// The calls behind the parameters go to a CollectiveArguments or BlockArguments called `it`, from
// left to right. A list of parameters ends with a comma, because the communicator follows.
#pragma once

#include "runtime/api/collective_arguments.h"

#define COLLECTIVE_BEGIN(name, operation, Arguments, ...)                           \
  lamina::api::Entry entry(lamina::Call::name);                                     \
  REQUIRE_INITIALIZED(entry);                                                       \
  lamina::api::Arguments it(entry, lamina::collective::Operation::operation, comm); \
  __VA_ARGS__

#define COLLECTIVE_WITH(Count, Displacement, blocking, nonblocking, persistent, operation,  \
                        Arguments, parameters, ...)                                         \
  int P##blocking(parameters(Count, Displacement) MPI_Comm comm) {                          \
    COLLECTIVE_BEGIN(blocking, operation, Arguments, __VA_ARGS__);                          \
    return it.Run();                                                                        \
  }                                                                                         \
  int P##nonblocking(parameters(Count, Displacement) MPI_Comm comm, MPI_Request* request) { \
    COLLECTIVE_BEGIN(nonblocking, operation, Arguments, __VA_ARGS__);                       \
    return it.Start(request);                                                               \
  }                                                                                         \
  int P##persistent(parameters(Count, Displacement) MPI_Comm comm, MPI_Info info,           \
                    MPI_Request* request) {                                                 \
    COLLECTIVE_BEGIN(persistent, operation, Arguments, __VA_ARGS__);                        \
    return it.Init(info, request);                                                          \
  }

#define COLLECTIVE(blocking, nonblocking, persistent, operation, Arguments, parameters, ...)     \
  COLLECTIVE_WITH(int, int, blocking, nonblocking, persistent, operation, Arguments, parameters, \
                  __VA_ARGS__)                                                                   \
  COLLECTIVE_WITH(MPI_Count, MPI_Aint, blocking##_c, nonblocking##_c, persistent##_c, operation, \
                  Arguments, parameters, __VA_ARGS__)

// Several operations have these lists.
// clang-format off
#define BLOCK(Count, Displacement) \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, \
  void *recvbuf, Count recvcount, MPI_Datatype recvtype,
#define COLLECTED(Count, Displacement) \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, \
  void *recvbuf, const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype,
#define EXCHANGED(Count, Displacement) \
  const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], \
  MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], const Displacement rdispls[], \
  MPI_Datatype recvtype,
// clang-format on
