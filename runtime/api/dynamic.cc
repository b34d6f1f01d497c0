// SPDX-License-Identifier: BSD-3-Clause
// This is process creation (MPI-5.0, chapter 11), as far as it is written.
#include "runtime/api/arguments.h"
#include "runtime/api/collective_arguments.h"

using lamina::Call;
using lamina::api::CollectiveArguments;
using lamina::api::Entry;
using lamina::core::Comm;
using lamina::core::FindComm;

namespace core = lamina::core;

// Nobody is spawned yet, so nobody has a parent.
int PMPI_Comm_get_parent(MPI_Comm* parent) {
  Entry entry(Call::MPI_Comm_get_parent);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, parent);
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_get_parent);

// A process can be connected only with processes of its own job, so there is nothing to give up
// except the communicator. Programs may rely on the call being collective.
int PMPI_Comm_disconnect(MPI_Comm* comm) {
  {
    Entry entry(Call::MPI_Comm_disconnect);
    REQUIRE_INITIALIZED(entry);
    REQUIRE_POINTER(nullptr, comm);
    Comm* found = FindComm(*comm);
    if (found == nullptr) return BadComm(entry, *comm);
    REQUIRE(found != core::world && found != core::self_comm, found, MPI_ERR_COMM,
            "the communicator is %s, which cannot be disconnected", found->name.c_str());
    CollectiveArguments everybody(entry, lamina::collective::Operation::kBarrier, *comm);
    if (const int error = everybody.Run(); error != MPI_SUCCESS) return error;
  }
  return PMPI_Comm_free(comm);
}
PROFILED(MPI_Comm_disconnect);
