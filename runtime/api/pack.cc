// SPDX-License-Identifier: BSD-3-Clause
// This packs and unpacks by hand (MPI-5.0, section 5.2).
#include <cstring>
#include <limits>

#include "runtime/api/arguments.h"
#include "runtime/datatype/external.h"

using lamina::Call;
using lamina::api::Entry;
using lamina::core::Comm;
using lamina::core::FindComm;
using lamina::datatype::Buffer;
using lamina::datatype::Datatype;
using lamina::datatype::FindDatatype;

namespace {

int CheckRoom(const Entry& entry, Comm* comm, std::int64_t position, std::int64_t bytes,
              std::int64_t size) {
  REQUIRE(position >= 0 && position <= size && bytes <= size - position, comm, MPI_ERR_TRUNCATE,
          "%lld bytes at position %lld do not lie within a buffer of %lld",
          static_cast<long long>(bytes), static_cast<long long>(position),
          static_cast<long long>(size));
  return MPI_SUCCESS;
}

// Checks the data of a call, `bytes_each` for an element when packed, and the room for it.
int CheckData(const Entry& entry, Comm* comm, const void* data, std::int64_t count,
              const Datatype& type, std::int64_t bytes_each, const void* packed) {
  REQUIRE(count >= 0, comm, MPI_ERR_COUNT, "the count is %lld, must not be negative",
          static_cast<long long>(count));
  REQUIRE(type.committed, comm, MPI_ERR_TYPE, "the datatype has not been committed");
  if (count == 0 || bytes_each == 0) return MPI_SUCCESS;
  REQUIRE(count <= std::numeric_limits<std::int64_t>::max() / bytes_each, comm, MPI_ERR_COUNT,
          "%lld elements do not fit into an address space", static_cast<long long>(count));
  REQUIRE((data != nullptr || !type.predefined) && packed != nullptr, comm, MPI_ERR_BUFFER,
          "a buffer is null, but the count is %lld", static_cast<long long>(count));
  return MPI_SUCCESS;
}

int CheckRepresentation(const Entry& entry, const char* datarep) {
  REQUIRE(datarep != nullptr && std::strcmp(datarep, "external32") == 0, nullptr, MPI_ERR_ARG,
          "datarep is \"%s\", must be \"external32\"", datarep != nullptr ? datarep : "");
  return MPI_SUCCESS;
}

template <class Count>
int Pack(Call call, const void* inbuf, Count incount, MPI_Datatype datatype, void* outbuf,
         Count outsize, Count* position, MPI_Comm comm) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  REQUIRE_POINTER(found, position);
  int error = CheckData(entry, found, inbuf, incount, *type, type->size, outbuf);
  const Buffer data{const_cast<void*>(inbuf), incount, type};
  if (error == MPI_SUCCESS) error = CheckRoom(entry, found, *position, data.bytes(), outsize);
  if (error != MPI_SUCCESS) return error;
  std::byte* into = static_cast<std::byte*>(outbuf) + *position;
  lamina::datatype::Pack(data, 0, {into, static_cast<std::size_t>(data.bytes())});
  *position += static_cast<Count>(data.bytes());
  return MPI_SUCCESS;
}

template <class Count>
int Unpack(Call call, const void* inbuf, Count insize, Count* position, void* outbuf,
           Count outcount, MPI_Datatype datatype, MPI_Comm comm) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  REQUIRE_POINTER(found, position);
  int error = CheckData(entry, found, outbuf, outcount, *type, type->size, inbuf);
  const Buffer data{outbuf, outcount, type};
  if (error == MPI_SUCCESS) error = CheckRoom(entry, found, *position, data.bytes(), insize);
  if (error != MPI_SUCCESS) return error;
  const std::byte* from = static_cast<const std::byte*>(inbuf) + *position;
  lamina::datatype::Unpack({from, static_cast<std::size_t>(data.bytes())}, 0, data);
  *position += static_cast<Count>(data.bytes());
  return MPI_SUCCESS;
}

template <class Count, class Size>
int GiveSize(const Entry& entry, Comm* comm, Count count, std::int64_t bytes_each, Size* size) {
  REQUIRE(count >= 0, comm, MPI_ERR_COUNT, "incount is %lld, must not be negative",
          static_cast<long long>(count));
  REQUIRE_POINTER(comm, size);
  std::int64_t bytes;
  const bool overflow =
      __builtin_mul_overflow(static_cast<std::int64_t>(count), bytes_each, &bytes);
  const bool fits =
      !overflow && bytes <= static_cast<std::int64_t>(std::numeric_limits<Size>::max());
  *size = fits ? static_cast<Size>(bytes) : static_cast<Size>(MPI_UNDEFINED);
  return MPI_SUCCESS;
}

template <class Count>
int PackSize(Call call, Count incount, MPI_Datatype datatype, MPI_Comm comm, Count* size) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  return GiveSize(entry, found, incount, type->size, size);
}

template <class Count, class Size>
int PackExternal(Call call, const char* datarep, const void* inbuf, Count incount,
                 MPI_Datatype datatype, void* outbuf, Size outsize, Size* position) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  REQUIRE_POINTER(nullptr, position);
  int error = CheckRepresentation(entry, datarep);
  const std::int64_t bytes_each = ExternalBytes(*type);
  if (error == MPI_SUCCESS)
    error = CheckData(entry, nullptr, inbuf, incount, *type, bytes_each, outbuf);
  if (error != MPI_SUCCESS) return error;
  const std::int64_t bytes = incount * bytes_each;
  if (error = CheckRoom(entry, nullptr, *position, bytes, outsize); error != MPI_SUCCESS)
    return error;
  PackExternal(Buffer{const_cast<void*>(inbuf), incount, type},
               static_cast<std::byte*>(outbuf) + *position);
  *position += static_cast<Size>(bytes);
  return MPI_SUCCESS;
}

template <class Count, class Size>
int UnpackExternal(Call call, const char* datarep, const void* inbuf, Size insize, Size* position,
                   void* outbuf, Count outcount, MPI_Datatype datatype) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  REQUIRE_POINTER(nullptr, position);
  int error = CheckRepresentation(entry, datarep);
  const std::int64_t bytes_each = ExternalBytes(*type);
  if (error == MPI_SUCCESS)
    error = CheckData(entry, nullptr, outbuf, outcount, *type, bytes_each, inbuf);
  if (error != MPI_SUCCESS) return error;
  const std::int64_t bytes = outcount * bytes_each;
  if (error = CheckRoom(entry, nullptr, *position, bytes, insize); error != MPI_SUCCESS)
    return error;
  const std::byte* from = static_cast<const std::byte*>(inbuf) + *position;
  static_cast<void>(lamina::datatype::UnpackExternal({from, static_cast<std::size_t>(bytes)},
                                                     Buffer{outbuf, outcount, type}));
  *position += static_cast<Size>(bytes);
  return MPI_SUCCESS;
}

template <class Count, class Size>
int PackExternalSize(Call call, const char* datarep, Count incount, MPI_Datatype datatype,
                     Size* size) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const Datatype* type = FindDatatype(datatype);
  if (type == nullptr) return BadDatatype(entry, datatype);
  if (const int error = CheckRepresentation(entry, datarep); error != MPI_SUCCESS) return error;
  return GiveSize(entry, nullptr, incount, ExternalBytes(*type), size);
}

}  // namespace

int PMPI_Pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize,
              int* position, MPI_Comm comm) {
  return Pack(Call::MPI_Pack, inbuf, incount, datatype, outbuf, outsize, position, comm);
}
PROFILED(MPI_Pack);

int PMPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
                MPI_Count outsize, MPI_Count* position, MPI_Comm comm) {
  return Pack(Call::MPI_Pack_c, inbuf, incount, datatype, outbuf, outsize, position, comm);
}
PROFILED(MPI_Pack_c);

int PMPI_Unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm) {
  return Unpack(Call::MPI_Unpack, inbuf, insize, position, outbuf, outcount, datatype, comm);
}
PROFILED(MPI_Unpack);

int PMPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                  MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm) {
  return Unpack(Call::MPI_Unpack_c, inbuf, insize, position, outbuf, outcount, datatype, comm);
}
PROFILED(MPI_Unpack_c);

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  return PackSize(Call::MPI_Pack_size, incount, datatype, comm, size);
}
PROFILED(MPI_Pack_size);

int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size) {
  return PackSize(Call::MPI_Pack_size_c, incount, datatype, comm, size);
}
PROFILED(MPI_Pack_size_c);

int PMPI_Pack_external(const char datarep[], const void* inbuf, int incount, MPI_Datatype datatype,
                       void* outbuf, MPI_Aint outsize, MPI_Aint* position) {
  return PackExternal(Call::MPI_Pack_external, datarep, inbuf, incount, datatype, outbuf, outsize,
                      position);
}
PROFILED(MPI_Pack_external);

int PMPI_Pack_external_c(const char datarep[], const void* inbuf, MPI_Count incount,
                         MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
                         MPI_Count* position) {
  return PackExternal(Call::MPI_Pack_external_c, datarep, inbuf, incount, datatype, outbuf, outsize,
                      position);
}
PROFILED(MPI_Pack_external_c);

int PMPI_Unpack_external(const char datarep[], const void* inbuf, MPI_Aint insize,
                         MPI_Aint* position, void* outbuf, int outcount, MPI_Datatype datatype) {
  return UnpackExternal(Call::MPI_Unpack_external, datarep, inbuf, insize, position, outbuf,
                        outcount, datatype);
}
PROFILED(MPI_Unpack_external);

int PMPI_Unpack_external_c(const char datarep[], const void* inbuf, MPI_Count insize,
                           MPI_Count* position, void* outbuf, MPI_Count outcount,
                           MPI_Datatype datatype) {
  return UnpackExternal(Call::MPI_Unpack_external_c, datarep, inbuf, insize, position, outbuf,
                        outcount, datatype);
}
PROFILED(MPI_Unpack_external_c);

int PMPI_Pack_external_size(const char datarep[], int incount, MPI_Datatype datatype,
                            MPI_Aint* size) {
  return PackExternalSize(Call::MPI_Pack_external_size, datarep, incount, datatype, size);
}
PROFILED(MPI_Pack_external_size);

int PMPI_Pack_external_size_c(const char datarep[], MPI_Count incount, MPI_Datatype datatype,
                              MPI_Count* size) {
  return PackExternalSize(Call::MPI_Pack_external_size_c, datarep, incount, datatype, size);
}
PROFILED(MPI_Pack_external_size_c);
