// SPDX-License-Identifier: BSD-3-Clause
// These are views, file pointers and data representations (MPI-5.0, sections 14.3 to 14.5).
#include <cstring>

#include "runtime/api/file_arguments.h"
#include "runtime/datatype/construct.h"
#include "runtime/datatype/definition.h"
#include "runtime/io/file_form.h"

namespace core = lamina::core;
namespace io = lamina::io;
using lamina::Call;
using lamina::api::CheckOutput;
using lamina::api::Entry;
using lamina::api::FindFileInfo;
using lamina::api::Give;
using lamina::api::GiveWithoutFile;
using lamina::datatype::Datatype;
using lamina::datatype::FindDatatype;

namespace {

// Predefined types are given back as they are, derived ones as new handles.
MPI_Datatype GiveType(Datatype* type) {
  if (type->predefined) return lamina::datatype::HandleOf(type);
  Datatype* twin = lamina::datatype::MakeDup(type);
  lamina::datatype::Contents contents;
  contents.combiner = MPI_COMBINER_DUP;
  contents.types = {type};
  lamina::datatype::Record(twin, std::move(contents));
  return lamina::datatype::HandleOf(twin);
}

template <class Count>
int TypeExtent(const Entry& entry, MPI_File fh, MPI_Datatype datatype, Count* extent) {
  FIND_FILE(file, fh);
  Datatype* type = FindDatatype(datatype);
  REQUIRE(type != nullptr, file->comm, MPI_ERR_TYPE, "the datatype is %p, which is no valid handle",
          static_cast<void*>(datatype));
  REQUIRE_POINTER(file->comm, extent);
  Datatype* form = nullptr;
  const io::Failure failure = io::MakeFileForm(*file->view->datarep, type, &form);
  if (!failure.ok()) return Give(entry, file, failure);
  *extent = form->extent;
  lamina::datatype::Release(form);
  return MPI_SUCCESS;
}

int Register(const Entry& entry, const char* datarep, const io::Conversions& conversions) {
  REQUIRE_INITIALIZED(entry);
  io::Failure failure = CheckOutput("datarep", datarep);
  if (failure.ok() && conversions.extent == nullptr)
    failure = io::Fail(MPI_ERR_ARG, "dtype_file_extent_fn is a null pointer");
  if (failure.ok() && (*datarep == '\0' || std::strlen(datarep) >= MPI_MAX_DATAREP_STRING))
    failure = io::Fail(MPI_ERR_ARG, "datarep has %zu characters, must have 1..%d",
                       std::strlen(datarep), MPI_MAX_DATAREP_STRING - 1);
  if (failure.ok()) failure = io::RegisterDatarep(datarep, conversions);
  return GiveWithoutFile(entry, failure);
}

}  // namespace

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char* datarep, MPI_Info info) {
  Entry entry(Call::MPI_File_set_view);
  FIND_FILE(file, fh);
  io::ViewRequest request{disp, FindDatatype(etype), FindDatatype(filetype), datarep, nullptr};
  io::Failure mine = CheckOutput("datarep", datarep);
  if (mine.ok()) mine = FindFileInfo(info, &request.info);
  return Give(entry, file, io::SetViewTogether(file, request, std::move(mine)));
}
PROFILED(MPI_File_set_view);

int PMPI_File_get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
                       char* datarep) {
  Entry entry(Call::MPI_File_get_view);
  FIND_FILE(file, fh);
  REQUIRE_POINTER(file->comm, disp);
  REQUIRE_POINTER(file->comm, etype);
  REQUIRE_POINTER(file->comm, filetype);
  REQUIRE_POINTER(file->comm, datarep);
  *disp = file->view->displacement;
  *etype = GiveType(file->view->etype);
  *filetype = GiveType(file->view->filetype);
  int length = 0;
  lamina::api::CopyText(file->view->datarep->name.c_str(), datarep, MPI_MAX_DATAREP_STRING,
                        &length);
  return MPI_SUCCESS;
}
PROFILED(MPI_File_get_view);

int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  Entry entry(Call::MPI_File_get_byte_offset);
  FIND_FILE(file, fh);
  REQUIRE_POINTER(file->comm, disp);
  return Give(entry, file, io::ByteOffset(*file, offset, disp));
}
PROFILED(MPI_File_get_byte_offset);

int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint* extent) {
  Entry entry(Call::MPI_File_get_type_extent);
  return TypeExtent(entry, fh, datatype, extent);
}
PROFILED(MPI_File_get_type_extent);

int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent) {
  Entry entry(Call::MPI_File_get_type_extent_c);
  return TypeExtent(entry, fh, datatype, extent);
}
PROFILED(MPI_File_get_type_extent_c);

int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence) {
  Entry entry(Call::MPI_File_seek);
  FIND_FILE(file, fh);
  return Give(entry, file, io::Seek(file, offset, whence));
}
PROFILED(MPI_File_seek);

int PMPI_File_get_position(MPI_File fh, MPI_Offset* offset) {
  Entry entry(Call::MPI_File_get_position);
  FIND_FILE(file, fh);
  REQUIRE_POINTER(file->comm, offset);
  return Give(entry, file, io::PositionOf(*file, offset));
}
PROFILED(MPI_File_get_position);

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  Entry entry(Call::MPI_File_seek_shared);
  FIND_FILE(file, fh);
  return Give(entry, file, io::SeekSharedTogether(file, offset, whence));
}
PROFILED(MPI_File_seek_shared);

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  Entry entry(Call::MPI_File_get_position_shared);
  FIND_FILE(file, fh);
  REQUIRE_POINTER(file->comm, offset);
  return Give(entry, file, io::PositionOfShared(file, offset));
}
PROFILED(MPI_File_get_position_shared);

int PMPI_Register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
                          MPI_Datarep_conversion_function* write_conversion_fn,
                          MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  Entry entry(Call::MPI_Register_datarep);
  io::Conversions conversions;
  conversions.read = read_conversion_fn;
  conversions.write = write_conversion_fn;
  conversions.extent = dtype_file_extent_fn;
  conversions.extra_state = extra_state;
  return Register(entry, datarep, conversions);
}
PROFILED(MPI_Register_datarep);

int PMPI_Register_datarep_c(const char* datarep,
                            MPI_Datarep_conversion_function_c* read_conversion_fn,
                            MPI_Datarep_conversion_function_c* write_conversion_fn,
                            MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  Entry entry(Call::MPI_Register_datarep_c);
  io::Conversions conversions;
  conversions.read_large = read_conversion_fn;
  conversions.write_large = write_conversion_fn;
  conversions.extent = dtype_file_extent_fn;
  conversions.extra_state = extra_state;
  return Register(entry, datarep, conversions);
}
PROFILED(MPI_Register_datarep_c);
