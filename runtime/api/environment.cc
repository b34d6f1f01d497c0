// SPDX-License-Identifier: BSD-3-Clause
// These functions are about the environment: versions, names, clocks, memory and error codes
// (MPI-5.0, chapter 9 and sections 2.6.4, 20.3).
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "runtime/api/arguments.h"
#include "runtime/base/clock.h"
#include "runtime/trace/profile.h"

using lamina::Call;
using lamina::api::CopyText;
using lamina::api::Entry;

namespace core = lamina::core;
namespace trace = lamina::trace;

int PMPI_Get_version(int* version, int* subversion) {
  Entry entry(Call::MPI_Get_version);
  REQUIRE_POINTER(nullptr, version);
  REQUIRE_POINTER(nullptr, subversion);
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}
PROFILED(MPI_Get_version);

int PMPI_Get_library_version(char* version, int* resultlen) {
  Entry entry(Call::MPI_Get_library_version);
  REQUIRE_POINTER(nullptr, version);
  REQUIRE_POINTER(nullptr, resultlen);
  CopyText("Lamina 0.1.0, MPI 5.0, standard ABI 1.0", version, MPI_MAX_LIBRARY_VERSION_STRING,
           resultlen);
  return MPI_SUCCESS;
}
PROFILED(MPI_Get_library_version);

int PMPI_Get_processor_name(char* name, int* resultlen) {
  Entry entry(Call::MPI_Get_processor_name);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, name);
  REQUIRE_POINTER(nullptr, resultlen);
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  CopyText(host, name, MPI_MAX_PROCESSOR_NAME, resultlen);
  return MPI_SUCCESS;
}
PROFILED(MPI_Get_processor_name);

// All processes of a node share the node's clock: see MPI_WTIME_IS_GLOBAL.
double PMPI_Wtime(void) { return static_cast<double>(lamina::MonotonicNs()) * 1e-9; }
PROFILED(MPI_Wtime);

double PMPI_Wtick(void) {
  timespec resolution;
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + static_cast<double>(resolution.tv_nsec) * 1e-9;
}
PROFILED(MPI_Wtick);

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  Entry entry(Call::MPI_Alloc_mem);
  REQUIRE_INITIALIZED(entry);
  REQUIRE(size >= 0, nullptr, MPI_ERR_ARG, "size is %lld, must not be negative",
          static_cast<long long>(size));
  REQUIRE_POINTER(nullptr, baseptr);
  std::size_t alignment = 64;  // a cache line, and more than any basic element needs
  if (const core::Info* hints = core::FindInfo(info); hints != nullptr) {
    const std::string* asked = hints->Find("mpi_minimum_memory_alignment");
    const unsigned long bytes = asked != nullptr ? std::strtoul(asked->c_str(), nullptr, 10) : 0;
    if (std::has_single_bit(bytes) && bytes > alignment) alignment = bytes;
  } else if (info != MPI_INFO_NULL) {
    return BadInfo(entry, info);
  }
  void* memory = nullptr;
  const int error =
      posix_memalign(&memory, alignment, size > 0 ? static_cast<std::size_t>(size) : 1);
  REQUIRE(error == 0, nullptr, MPI_ERR_NO_MEM, "%lld bytes could not be allocated: %s",
          static_cast<long long>(size), strerror(error));
  std::memcpy(baseptr, &memory, sizeof memory);
  return MPI_SUCCESS;
}
PROFILED(MPI_Alloc_mem);

int PMPI_Free_mem(void* base) {
  Entry entry(Call::MPI_Free_mem);
  REQUIRE_INITIALIZED(entry);
  std::free(base);
  return MPI_SUCCESS;
}
PROFILED(MPI_Free_mem);

// No profiling of our own depends on it: the level is for tools that replace this function.
int PMPI_Pcontrol(const int level, ...) {
  if (trace::profile != nullptr) {
    const core::Guard guard;
    trace::SetProfileLevel(level);
  }
  return MPI_SUCCESS;
}
PROFILED(MPI_Pcontrol);

int PMPI_Error_class(int errorcode, int* errorclass) {
  Entry entry(Call::MPI_Error_class);
  REQUIRE_POINTER(nullptr, errorclass);
  const int found = core::ClassOfErrorCode(errorcode);
  REQUIRE(found >= 0, nullptr, MPI_ERR_ARG, "errorcode is %d, which is not an error code",
          errorcode);
  *errorclass = found;
  return MPI_SUCCESS;
}
PROFILED(MPI_Error_class);

// The text includes what went wrong the last time in this thread, if that was an error of this
// class and the class is predefined.
int PMPI_Error_string(int errorcode, char* string, int* resultlen) {
  Entry entry(Call::MPI_Error_string);
  REQUIRE_POINTER(nullptr, string);
  REQUIRE_POINTER(nullptr, resultlen);
  const char* text = core::ErrorText(errorcode);
  REQUIRE(text != nullptr, nullptr, MPI_ERR_ARG, "errorcode is %d, which is not an error code",
          errorcode);
  std::string whole = text;
  if (const char* last = core::LastErrorText(errorcode); *last != '\0')
    whole.append(" (").append(last).append(")");
  CopyText(whole.c_str(), string, MPI_MAX_ERROR_STRING, resultlen);
  return MPI_SUCCESS;
}
PROFILED(MPI_Error_string);

int PMPI_Add_error_class(int* errorclass) {
  Entry entry(Call::MPI_Add_error_class);
  REQUIRE_POINTER(nullptr, errorclass);
  return core::AddErrorClass(errorclass);
}
PROFILED(MPI_Add_error_class);

int PMPI_Add_error_code(int errorclass, int* errorcode) {
  Entry entry(Call::MPI_Add_error_code);
  REQUIRE_POINTER(nullptr, errorcode);
  const int error = core::AddErrorCode(errorclass, errorcode);
  REQUIRE(error == MPI_SUCCESS, nullptr, error, "errorclass is %d, which is not an error class",
          errorclass);
  return MPI_SUCCESS;
}
PROFILED(MPI_Add_error_code);

int PMPI_Add_error_string(int errorcode, const char* string) {
  Entry entry(Call::MPI_Add_error_string);
  REQUIRE_POINTER(nullptr, string);
  const int error = core::AddErrorString(errorcode, string);
  REQUIRE(error == MPI_SUCCESS, nullptr, error,
          "errorcode is %d, which was not added by the application", errorcode);
  return MPI_SUCCESS;
}
PROFILED(MPI_Add_error_string);

int PMPI_Remove_error_class(int errorclass) {
  Entry entry(Call::MPI_Remove_error_class);
  const int error = core::RemoveErrorClass(errorclass);
  REQUIRE(
      error == MPI_SUCCESS, nullptr, error,
      "errorclass is %d, which the application has not added or which still has codes or a text",
      errorclass);
  return MPI_SUCCESS;
}
PROFILED(MPI_Remove_error_class);

int PMPI_Remove_error_code(int errorcode) {
  Entry entry(Call::MPI_Remove_error_code);
  const int error = core::RemoveErrorCode(errorcode);
  REQUIRE(error == MPI_SUCCESS, nullptr, error,
          "errorcode is %d, which the application has not added or which still has a text",
          errorcode);
  return MPI_SUCCESS;
}
PROFILED(MPI_Remove_error_code);

int PMPI_Remove_error_string(int errorcode) {
  Entry entry(Call::MPI_Remove_error_string);
  const int error = core::RemoveErrorString(errorcode);
  REQUIRE(error == MPI_SUCCESS, nullptr, error,
          "errorcode is %d, which has no text added by the application", errorcode);
  return MPI_SUCCESS;
}
PROFILED(MPI_Remove_error_string);
