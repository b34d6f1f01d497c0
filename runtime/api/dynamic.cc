// SPDX-License-Identifier: BSD-3-Clause
// Process creation (MPI-5.0, chapter 11), as far as it is written.
#include "runtime/api/arguments.h"

using lamina::Call;
using lamina::api::Entry;

// Nobody is spawned yet, so nobody has a parent.
int PMPI_Comm_get_parent(MPI_Comm* parent) {
  Entry entry(Call::MPI_Comm_get_parent);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, parent);
  *parent = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_get_parent);
