// SPDX-License-Identifier: BSD-3-Clause
// These functions tell about the Application Binary Interface itself (MPI-5.0, chapter 21). What
// they tell about Fortran is said once by the Fortran binding and kept here.
#include <cstring>

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

namespace {

constexpr int kLogicalBytesMax = 16;
struct Booleans {
  int bytes = 0;  // 0: not said yet
  unsigned char yes[kLogicalBytesMax] = {};
  unsigned char no[kLogicalBytesMax] = {};
};
constinit Booleans booleans;

int CheckLogicalSize(const Entry& entry, int bytes) {
  REQUIRE(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16, nullptr, MPI_ERR_ARG,
          "logical_size is %d, must be 1, 2, 4, 8 or 16", bytes);
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Abi_set_fortran_info(MPI_Info info) {
  Entry entry(Call::MPI_Abi_set_fortran_info);
  const lamina::core::Info* given = lamina::core::FindInfo(info);
  if (given == nullptr) return BadInfo(entry, info);
  REQUIRE(lamina::core::fortran_info == nullptr, nullptr, MPI_ERR_ABI,
          "the properties of Fortran have been set before");
  lamina::core::fortran_info = new lamina::core::Info;
  lamina::core::fortran_info->entries = given->entries;
  return MPI_SUCCESS;
}
PROFILED(MPI_Abi_set_fortran_info);

int PMPI_Abi_get_fortran_info(MPI_Info* info) {
  Entry entry(Call::MPI_Abi_get_fortran_info);
  REQUIRE_POINTER(nullptr, info);
  *info = MPI_INFO_NULL;
  if (lamina::core::fortran_info == nullptr) return MPI_SUCCESS;
  lamina::core::Info* copy = new lamina::core::Info;
  copy->entries = lamina::core::fortran_info->entries;
  *info = lamina::core::ToHandle<MPI_Info>(copy);
  return MPI_SUCCESS;
}
PROFILED(MPI_Abi_get_fortran_info);

int PMPI_Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  Entry entry(Call::MPI_Abi_set_fortran_booleans);
  if (const int error = CheckLogicalSize(entry, logical_size); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(nullptr, logical_true);
  REQUIRE_POINTER(nullptr, logical_false);
  REQUIRE(booleans.bytes == 0, nullptr, MPI_ERR_ABI,
          "the values of Fortran's LOGICAL have been set before");
  booleans.bytes = logical_size;
  std::memcpy(booleans.yes, logical_true, static_cast<std::size_t>(logical_size));
  std::memcpy(booleans.no, logical_false, static_cast<std::size_t>(logical_size));
  return MPI_SUCCESS;
}
PROFILED(MPI_Abi_set_fortran_booleans);

int PMPI_Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false,
                                  int* is_set) {
  Entry entry(Call::MPI_Abi_get_fortran_booleans);
  REQUIRE_POINTER(nullptr, is_set);
  REQUIRE_POINTER(nullptr, logical_true);
  REQUIRE_POINTER(nullptr, logical_false);
  *is_set = booleans.bytes != 0;
  if (booleans.bytes == 0) return MPI_SUCCESS;
  REQUIRE(logical_size == booleans.bytes, nullptr, MPI_ERR_ARG,
          "logical_size is %d, but Fortran's LOGICAL has %d bytes", logical_size, booleans.bytes);
  std::memcpy(logical_true, booleans.yes, static_cast<std::size_t>(logical_size));
  std::memcpy(logical_false, booleans.no, static_cast<std::size_t>(logical_size));
  return MPI_SUCCESS;
}
PROFILED(MPI_Abi_get_fortran_booleans);
