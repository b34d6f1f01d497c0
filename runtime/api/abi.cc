// SPDX-License-Identifier: BSD-3-Clause
// The Application Binary Interface about itself (MPI-5.0, chapter 21). The Fortran part comes with
// the Fortran binding.
#include "runtime/api/arguments.h"

using lamina::Call;
using lamina::api::Entry;

int PMPI_Abi_get_version(int* abi_major, int* abi_minor) {
  Entry entry(Call::MPI_Abi_get_version);
  REQUIRE_POINTER(nullptr, abi_major);
  REQUIRE_POINTER(nullptr, abi_minor);
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}
PROFILED(MPI_Abi_get_version);

int PMPI_Abi_get_info(MPI_Info* info) {
  Entry entry(Call::MPI_Abi_get_info);
  REQUIRE_POINTER(nullptr, info);
  lamina::core::Info* made = new lamina::core::Info;
  made->Set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
  made->Set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
  made->Set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
  *info = lamina::core::ToHandle<MPI_Info>(made);
  return MPI_SUCCESS;
}
PROFILED(MPI_Abi_get_info);
