// SPDX-License-Identifier: BSD-3-Clause
// These functions say what a status tells about the data received (MPI-5.0, sections 3.2.5, 5.1.11
// and 13.3).
#include <limits>

#include "runtime/api/arguments.h"
#include "runtime/core/request.h"
#include "runtime/datatype/definition.h"

using lamina::Call;
using lamina::api::Entry;
using lamina::core::SetStatusBytes;
using lamina::core::StatusBytes;
using lamina::datatype::Datatype;
using lamina::datatype::FindDatatype;

namespace {

constexpr std::int64_t kUndefined = MPI_UNDEFINED;

// Returns the whole elements of `type` in `bytes`, or MPI_UNDEFINED if there is a rest.
std::int64_t CountOf(std::int64_t bytes, const Datatype& type) {
  if (type.size == 0) return bytes == 0 ? 0 : kUndefined;
  return bytes % type.size == 0 ? bytes / type.size : kUndefined;
}

std::int64_t ElementsOf(std::int64_t bytes, const Datatype& type) {
  const std::int64_t elements = ElementsIn(type, bytes);
  return elements >= 0 ? elements : kUndefined;
}

// The status functions count in one way and differ in the type of the result.
template <class Count>
int Answer(const Entry& entry, const MPI_Status* status, MPI_Datatype datatype, Count* count,
           std::int64_t (*count_of)(std::int64_t bytes, const Datatype& type)) {
  REQUIRE(status != MPI_STATUS_IGNORE, nullptr, MPI_ERR_ARG, "status is MPI_STATUS_IGNORE");
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  REQUIRE_POINTER(nullptr, count);
  const std::int64_t result = count_of(StatusBytes(*status), *type);
  // MPI_UNDEFINED also stands for "does not fit".
  *count = result > static_cast<std::int64_t>(std::numeric_limits<Count>::max())
               ? static_cast<Count>(kUndefined)
               : static_cast<Count>(result);
  return MPI_SUCCESS;
}

int SetElements(const Entry& entry, MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  REQUIRE(status != MPI_STATUS_IGNORE, nullptr, MPI_ERR_ARG, "status is MPI_STATUS_IGNORE");
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  REQUIRE(count >= 0, nullptr, MPI_ERR_COUNT, "count is %lld, must not be negative",
          static_cast<long long>(count));
  SetStatusBytes(status, BytesOf(*type, count));
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  Entry entry(Call::MPI_Get_count);
  return Answer(entry, status, datatype, count, CountOf);
}
PROFILED(MPI_Get_count);

int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  Entry entry(Call::MPI_Get_count_c);
  return Answer(entry, status, datatype, count, CountOf);
}
PROFILED(MPI_Get_count_c);

int PMPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  Entry entry(Call::MPI_Get_elements);
  return Answer(entry, status, datatype, count, ElementsOf);
}
PROFILED(MPI_Get_elements);

int PMPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  Entry entry(Call::MPI_Get_elements_c);
  return Answer(entry, status, datatype, count, ElementsOf);
}
PROFILED(MPI_Get_elements_c);

int PMPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  Entry entry(Call::MPI_Get_elements_x);
  return Answer(entry, status, datatype, count, ElementsOf);
}
PROFILED(MPI_Get_elements_x);

int PMPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count) {
  Entry entry(Call::MPI_Status_set_elements);
  return SetElements(entry, status, datatype, count);
}
PROFILED(MPI_Status_set_elements);

int PMPI_Status_set_elements_c(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  Entry entry(Call::MPI_Status_set_elements_c);
  return SetElements(entry, status, datatype, count);
}
PROFILED(MPI_Status_set_elements_c);

int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  Entry entry(Call::MPI_Status_set_elements_x);
  return SetElements(entry, status, datatype, count);
}
PROFILED(MPI_Status_set_elements_x);

int PMPI_Status_set_cancelled(MPI_Status* status, int flag) {
  Entry entry(Call::MPI_Status_set_cancelled);
  REQUIRE_POINTER(nullptr, status);
  lamina::core::SetStatusCancelled(status, flag != 0);
  return MPI_SUCCESS;
}
PROFILED(MPI_Status_set_cancelled);

int PMPI_Status_set_source(MPI_Status* status, int source) {
  Entry entry(Call::MPI_Status_set_source);
  REQUIRE_POINTER(nullptr, status);
  status->MPI_SOURCE = source;
  return MPI_SUCCESS;
}
PROFILED(MPI_Status_set_source);

int PMPI_Status_set_tag(MPI_Status* status, int tag) {
  Entry entry(Call::MPI_Status_set_tag);
  REQUIRE_POINTER(nullptr, status);
  status->MPI_TAG = tag;
  return MPI_SUCCESS;
}
PROFILED(MPI_Status_set_tag);

int PMPI_Status_set_error(MPI_Status* status, int err) {
  Entry entry(Call::MPI_Status_set_error);
  REQUIRE_POINTER(nullptr, status);
  status->MPI_ERROR = err;
  return MPI_SUCCESS;
}
PROFILED(MPI_Status_set_error);

int PMPI_Status_get_source(const MPI_Status* status, int* source) {
  Entry entry(Call::MPI_Status_get_source);
  REQUIRE_POINTER(nullptr, status);
  REQUIRE_POINTER(nullptr, source);
  *source = status->MPI_SOURCE;
  return MPI_SUCCESS;
}
PROFILED(MPI_Status_get_source);

int PMPI_Status_get_tag(const MPI_Status* status, int* tag) {
  Entry entry(Call::MPI_Status_get_tag);
  REQUIRE_POINTER(nullptr, status);
  REQUIRE_POINTER(nullptr, tag);
  *tag = status->MPI_TAG;
  return MPI_SUCCESS;
}
PROFILED(MPI_Status_get_tag);

int PMPI_Status_get_error(const MPI_Status* status, int* err) {
  Entry entry(Call::MPI_Status_get_error);
  REQUIRE_POINTER(nullptr, status);
  REQUIRE_POINTER(nullptr, err);
  *err = status->MPI_ERROR;
  return MPI_SUCCESS;
}
PROFILED(MPI_Status_get_error);
