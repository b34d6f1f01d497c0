// SPDX-License-Identifier: BSD-3-Clause
// These functions say what a datatype is: size, extent, name, and how it was made (MPI-5.0,
// sections 5.1.5 to 5.1.13 and 19.1.9). The constructors are in datatype_make.cc.
#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/api/arguments.h"
#include "runtime/datatype/definition.h"
#include "runtime/datatype/parametrised.h"

using lamina::Call;
using lamina::api::CopyText;
using lamina::api::Entry;
using lamina::datatype::Contents;
using lamina::datatype::Datatype;
using lamina::datatype::FindDatatype;
using lamina::datatype::FortranComplex;
using lamina::datatype::FortranInteger;
using lamina::datatype::FortranReal;

namespace {

constexpr std::int64_t kUndefined = MPI_UNDEFINED;

template <class Count>
int Size(Call call, MPI_Datatype datatype, Count* size) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  REQUIRE_POINTER(nullptr, size);
  const bool fits = type->size <= static_cast<std::int64_t>(std::numeric_limits<Count>::max());
  *size = static_cast<Count>(fits ? type->size : kUndefined);
  return MPI_SUCCESS;
}

template <class Count>
int Extent(Call call, MPI_Datatype datatype, Count* lower, Count* extent) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  REQUIRE_POINTER(nullptr, lower);
  REQUIRE_POINTER(nullptr, extent);
  *lower = type->lower;
  *extent = type->extent;
  return MPI_SUCCESS;
}

template <class Count>
int TrueExtent(Call call, MPI_Datatype datatype, Count* lower, Count* extent) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  REQUIRE_POINTER(nullptr, lower);
  REQUIRE_POINTER(nullptr, extent);
  *lower = type->true_lower;
  *extent = type->true_extent;
  return MPI_SUCCESS;
}

const Contents& ContentsOf(const Datatype& type) {
  static const Contents* const named = new Contents;
  return type.definition == nullptr ? *named : type.definition->contents;
}

template <class Count>
int CheckRoom(const Entry& entry, const char* name, Count room, const void* place,
              std::size_t needed) {
  REQUIRE(room >= 0 && static_cast<std::size_t>(room) >= needed, nullptr, MPI_ERR_ARG,
          "%s is %lld, but the datatype has %zu", name, static_cast<long long>(room), needed);
  REQUIRE(needed == 0 || place != nullptr, nullptr, MPI_ERR_ARG, "array_of_%s is a null pointer",
          name + sizeof "max_" - 1);
  return MPI_SUCCESS;
}

// Gives the types to the caller, who frees those that are not predefined.
void GiveTypes(const Contents& contents, MPI_Datatype* into) {
  for (std::size_t i = 0; i < contents.types.size(); ++i) {
    Retain(contents.types[i]);
    into[i] = HandleOf(contents.types[i]);
  }
}

int RequireSmall(const Entry& entry, const Contents& contents) {
  REQUIRE(contents.large_counts.empty(), nullptr, MPI_ERR_TYPE,
          "the datatype was made by a _c function; use %s_c", entry.name());
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Type_size(MPI_Datatype datatype, int* size) {
  return Size(Call::MPI_Type_size, datatype, size);
}
PROFILED(MPI_Type_size);
int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size) {
  return Size(Call::MPI_Type_size_c, datatype, size);
}
PROFILED(MPI_Type_size_c);
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  return Size(Call::MPI_Type_size_x, datatype, size);
}
PROFILED(MPI_Type_size_x);

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  return Extent(Call::MPI_Type_get_extent, datatype, lb, extent);
}
PROFILED(MPI_Type_get_extent);
int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return Extent(Call::MPI_Type_get_extent_c, datatype, lb, extent);
}
PROFILED(MPI_Type_get_extent_c);
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return Extent(Call::MPI_Type_get_extent_x, datatype, lb, extent);
}
PROFILED(MPI_Type_get_extent_x);

int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lb, MPI_Aint* true_extent) {
  return TrueExtent(Call::MPI_Type_get_true_extent, datatype, true_lb, true_extent);
}
PROFILED(MPI_Type_get_true_extent);
int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return TrueExtent(Call::MPI_Type_get_true_extent_c, datatype, true_lb, true_extent);
}
PROFILED(MPI_Type_get_true_extent_c);
int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return TrueExtent(Call::MPI_Type_get_true_extent_x, datatype, true_lb, true_extent);
}
PROFILED(MPI_Type_get_true_extent_x);

int PMPI_Type_commit(MPI_Datatype* datatype) {
  Entry entry(Call::MPI_Type_commit);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, datatype);
  Datatype* type = FindDatatype(*datatype);
  if (type == nullptr) return BadDatatype(entry, *datatype);
  Commit(type);
  return MPI_SUCCESS;
}
PROFILED(MPI_Type_commit);

int PMPI_Type_free(MPI_Datatype* datatype) {
  Entry entry(Call::MPI_Type_free);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, datatype);
  Datatype* type = FindDatatype(*datatype);
  if (type == nullptr) return BadDatatype(entry, *datatype);
  REQUIRE(!type->predefined, nullptr, MPI_ERR_TYPE,
          "the datatype %s is predefined and cannot be freed", type->predefined_name);
  int error = MPI_SUCCESS;
  if (type->extras != nullptr)
    error =
        DeleteAllAttributes(lamina::core::Holder::kDatatype, *datatype, &type->extras->attributes);
  REQUIRE(error == MPI_SUCCESS, nullptr, error, "an attribute's delete function returned %d",
          error);
  Release(type);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Type_free);

int PMPI_Type_set_name(MPI_Datatype datatype, const char* type_name) {
  Entry entry(Call::MPI_Type_set_name);
  REQUIRE_INITIALIZED(entry);
  Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  REQUIRE_POINTER(nullptr, type_name);
  auto& extras = ExtrasOf(type);
  extras.name.assign(type_name, strnlen(type_name, MPI_MAX_OBJECT_NAME - 1));
  extras.named = true;
  return MPI_SUCCESS;
}
PROFILED(MPI_Type_set_name);

int PMPI_Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  Entry entry(Call::MPI_Type_get_name);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, type_name);
  REQUIRE_POINTER(nullptr, resultlen);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr && datatype != MPI_DATATYPE_NULL) return BadDatatype(entry, datatype);
  const char* name = type == nullptr ? "MPI_DATATYPE_NULL" : type->predefined_name;
  if (type != nullptr && type->extras != nullptr && type->extras->named)
    name = type->extras->name.c_str();
  CopyText(name, type_name, MPI_MAX_OBJECT_NAME, resultlen);
  return MPI_SUCCESS;
}
PROFILED(MPI_Type_get_name);

int PMPI_Type_get_envelope(MPI_Datatype datatype, int* num_integers, int* num_addresses,
                           int* num_datatypes, int* combiner) {
  Entry entry(Call::MPI_Type_get_envelope);
  REQUIRE_INITIALIZED(entry);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  const Contents& contents = ContentsOf(*type);
  if (const int error = RequireSmall(entry, contents); error != MPI_SUCCESS) return error;
  REQUIRE(num_integers != nullptr && num_addresses != nullptr && num_datatypes != nullptr &&
              combiner != nullptr,
          nullptr, MPI_ERR_ARG, "an output argument is a null pointer");
  *num_integers = static_cast<int>(contents.integers.size());
  *num_addresses = static_cast<int>(contents.addresses.size());
  *num_datatypes = static_cast<int>(contents.types.size());
  *combiner = contents.combiner;
  return MPI_SUCCESS;
}
PROFILED(MPI_Type_get_envelope);

int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers,
                             MPI_Count* num_addresses, MPI_Count* num_large_counts,
                             MPI_Count* num_datatypes, int* combiner) {
  Entry entry(Call::MPI_Type_get_envelope_c);
  REQUIRE_INITIALIZED(entry);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  const Contents& contents = ContentsOf(*type);
  REQUIRE(num_integers != nullptr && num_addresses != nullptr && num_large_counts != nullptr &&
              num_datatypes != nullptr && combiner != nullptr,
          nullptr, MPI_ERR_ARG, "an output argument is a null pointer");
  *num_integers = static_cast<MPI_Count>(contents.integers.size());
  *num_addresses = static_cast<MPI_Count>(contents.addresses.size());
  *num_large_counts = static_cast<MPI_Count>(contents.large_counts.size());
  *num_datatypes = static_cast<MPI_Count>(contents.types.size());
  *combiner = contents.combiner;
  return MPI_SUCCESS;
}
PROFILED(MPI_Type_get_envelope_c);

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                           int max_datatypes, int array_of_integers[],
                           MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]) {
  Entry entry(Call::MPI_Type_get_contents);
  REQUIRE_INITIALIZED(entry);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  const Contents& contents = ContentsOf(*type);
  REQUIRE(contents.combiner != MPI_COMBINER_NAMED, nullptr, MPI_ERR_TYPE,
          "the datatype is %s, which is predefined and has no contents", type->predefined_name);
  if (const int error = RequireSmall(entry, contents); error != MPI_SUCCESS) return error;
  int error =
      CheckRoom(entry, "max_integers", max_integers, array_of_integers, contents.integers.size());
  if (error == MPI_SUCCESS)
    error = CheckRoom(entry, "max_addresses", max_addresses, array_of_addresses,
                      contents.addresses.size());
  if (error == MPI_SUCCESS)
    error =
        CheckRoom(entry, "max_datatypes", max_datatypes, array_of_datatypes, contents.types.size());
  if (error != MPI_SUCCESS) return error;
  std::copy(contents.integers.begin(), contents.integers.end(), array_of_integers);
  std::copy(contents.addresses.begin(), contents.addresses.end(), array_of_addresses);
  GiveTypes(contents, array_of_datatypes);
  return MPI_SUCCESS;
}
PROFILED(MPI_Type_get_contents);

int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes,
                             int array_of_integers[], MPI_Aint array_of_addresses[],
                             MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]) {
  Entry entry(Call::MPI_Type_get_contents_c);
  REQUIRE_INITIALIZED(entry);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  const Contents& contents = ContentsOf(*type);
  REQUIRE(contents.combiner != MPI_COMBINER_NAMED, nullptr, MPI_ERR_TYPE,
          "the datatype is %s, which is predefined and has no contents", type->predefined_name);
  int error =
      CheckRoom(entry, "max_integers", max_integers, array_of_integers, contents.integers.size());
  if (error == MPI_SUCCESS)
    error = CheckRoom(entry, "max_addresses", max_addresses, array_of_addresses,
                      contents.addresses.size());
  if (error == MPI_SUCCESS)
    error = CheckRoom(entry, "max_large_counts", max_large_counts, array_of_large_counts,
                      contents.large_counts.size());
  if (error == MPI_SUCCESS)
    error =
        CheckRoom(entry, "max_datatypes", max_datatypes, array_of_datatypes, contents.types.size());
  if (error != MPI_SUCCESS) return error;
  std::copy(contents.integers.begin(), contents.integers.end(), array_of_integers);
  std::copy(contents.addresses.begin(), contents.addresses.end(), array_of_addresses);
  std::copy(contents.large_counts.begin(), contents.large_counts.end(), array_of_large_counts);
  GiveTypes(contents, array_of_datatypes);
  return MPI_SUCCESS;
}
PROFILED(MPI_Type_get_contents_c);

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  Entry entry(Call::MPI_Type_match_size);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, datatype);
  struct Match {
    int typeclass;
    int size;
    MPI_Datatype type;
  };
  const Match matches[] = {
      {MPI_TYPECLASS_REAL, 2, MPI_REAL2},         {MPI_TYPECLASS_REAL, 4, MPI_REAL4},
      {MPI_TYPECLASS_REAL, 8, MPI_REAL8},         {MPI_TYPECLASS_REAL, 16, MPI_REAL16},
      {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
      {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
      {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
      {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},   {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
      {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}, {MPIX_TYPECLASS_LOGICAL, 1, MPI_LOGICAL1},
      {MPIX_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2},  {MPIX_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4},
      {MPIX_TYPECLASS_LOGICAL, 8, MPI_LOGICAL8},  {MPIX_TYPECLASS_LOGICAL, 16, MPI_LOGICAL16},
  };
  for (const Match& match : matches)
    if (match.typeclass == typeclass && match.size == size) {
      *datatype = match.type;
      return MPI_SUCCESS;
    }
  return lamina::core::Raise(nullptr, MPI_ERR_ARG, entry.name(),
                             "there is no datatype of class %d with %d bytes", typeclass, size);
}
PROFILED(MPI_Type_match_size);

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                              MPI_Datatype* pair_type) {
  Entry entry(Call::MPI_Type_get_value_index);
  REQUIRE_INITIALIZED(entry);
  Datatype* value = FindDatatype(value_type);
  if (value == nullptr) return BadDatatype(entry, value_type);
  Datatype* index = FindDatatype(index_type);
  if (index == nullptr) return BadDatatype(entry, index_type);
  REQUIRE_POINTER(nullptr, pair_type);
  const Datatype* pair = ValueIndex(value, index);
  *pair_type = pair != nullptr ? HandleOf(pair) : MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Type_get_value_index);

namespace {

int GiveFortran(const Entry& entry, const Datatype* type, MPI_Datatype* newtype) {
  REQUIRE(type != nullptr, nullptr, MPI_ERR_ARG,
          "no type of the Fortran compiler has that precision and range");
  *newtype = HandleOf(type);
  return MPI_SUCCESS;
}

int CheckPrecision(const Entry& entry, int precision, int range, const MPI_Datatype* newtype) {
  REQUIRE_POINTER(nullptr, newtype);
  REQUIRE(precision >= 0 || precision == MPI_UNDEFINED, nullptr, MPI_ERR_ARG,
          "p is %d, must not be negative", precision);
  REQUIRE(range >= 0 || range == MPI_UNDEFINED, nullptr, MPI_ERR_ARG,
          "r is %d, must not be negative", range);
  REQUIRE(precision != MPI_UNDEFINED || range != MPI_UNDEFINED, nullptr, MPI_ERR_ARG,
          "p and r are both MPI_UNDEFINED");
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Type_create_f90_integer(int r, MPI_Datatype* newtype) {
  Entry entry(Call::MPI_Type_create_f90_integer);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, newtype);
  REQUIRE(r >= 0, nullptr, MPI_ERR_ARG, "r is %d, must not be negative", r);
  return GiveFortran(entry, FortranInteger(r), newtype);
}
PROFILED(MPI_Type_create_f90_integer);

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  Entry entry(Call::MPI_Type_create_f90_real);
  REQUIRE_INITIALIZED(entry);
  if (const int error = CheckPrecision(entry, p, r, newtype); error != MPI_SUCCESS) return error;
  return GiveFortran(entry, FortranReal(p, r), newtype);
}
PROFILED(MPI_Type_create_f90_real);

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  Entry entry(Call::MPI_Type_create_f90_complex);
  REQUIRE_INITIALIZED(entry);
  if (const int error = CheckPrecision(entry, p, r, newtype); error != MPI_SUCCESS) return error;
  return GiveFortran(entry, FortranComplex(p, r), newtype);
}
PROFILED(MPI_Type_create_f90_complex);

int PMPI_Get_address(const void* location, MPI_Aint* address) {
  Entry entry(Call::MPI_Get_address);
  REQUIRE_POINTER(nullptr, address);
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}
PROFILED(MPI_Get_address);

// Addresses wrap around as pointers do.
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                               static_cast<std::uintptr_t>(disp));
}
PROFILED(MPI_Aint_add);

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) -
                               static_cast<std::uintptr_t>(addr2));
}
PROFILED(MPI_Aint_diff);
