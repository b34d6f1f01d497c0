// SPDX-License-Identifier: BSD-3-Clause
// These are opening, closing and the questions about a file (MPI-5.0, sections 14.2 and 14.6).
#include "runtime/api/file_arguments.h"

namespace core = lamina::core;
namespace io = lamina::io;
using lamina::Call;
using lamina::api::BadComm;
using lamina::api::CheckOutput;
using lamina::api::Entry;
using lamina::api::FindFileInfo;
using lamina::api::Give;
using lamina::api::GiveWithoutFile;

int PMPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  Entry entry(Call::MPI_File_open);
  REQUIRE_INITIALIZED(entry);
  core::Comm* found = core::FindComm(comm);
  if (found == nullptr || found->is_inter())
    return GiveWithoutFile(entry, io::Fail(MPI_ERR_COMM, "the communicator is %s",
                                           comm == MPI_COMM_NULL ? "MPI_COMM_NULL"
                                           : found == nullptr    ? "no valid handle"
                                                                 : "an intercommunicator"));
  io::Opening opening{filename, amode, nullptr};
  io::Failure mine = CheckOutput("fh", fh);
  if (mine.ok()) mine = CheckOutput("filename", filename);
  if (mine.ok()) mine = FindFileInfo(info, &opening.info);
  io::File* file = nullptr;
  if (const io::Failure failure = io::OpenTogether(found, opening, std::move(mine), &file);
      !failure.ok())
    return GiveWithoutFile(entry, failure);
  *fh = core::ToHandle<MPI_File>(file);
  return MPI_SUCCESS;
}
PROFILED(MPI_File_open);

int PMPI_File_close(MPI_File* fh) {
  Entry entry(Call::MPI_File_close);
  if (fh == nullptr) return GiveWithoutFile(entry, CheckOutput("fh", fh));
  FIND_FILE(file, *fh);
  io::Retain(file);  // its error handler is still needed
  *fh = MPI_FILE_NULL;
  const int error = Give(entry, file, io::CloseTogether(file));
  io::Release(file);
  return error;
}
PROFILED(MPI_File_close);

int PMPI_File_delete(const char* filename, MPI_Info info) {
  Entry entry(Call::MPI_File_delete);
  REQUIRE_INITIALIZED(entry);
  const core::Info* hints = nullptr;
  io::Failure failure = CheckOutput("filename", filename);
  if (failure.ok()) failure = FindFileInfo(info, &hints);
  if (failure.ok()) failure = io::Delete(filename);
  return GiveWithoutFile(entry, failure);
}
PROFILED(MPI_File_delete);

int PMPI_File_set_size(MPI_File fh, MPI_Offset size) {
  Entry entry(Call::MPI_File_set_size);
  FIND_FILE(file, fh);
  return Give(entry, file, io::ResizeTogether(file, size));
}
PROFILED(MPI_File_set_size);

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size) {
  Entry entry(Call::MPI_File_preallocate);
  FIND_FILE(file, fh);
  return Give(entry, file, io::ReserveTogether(file, size));
}
PROFILED(MPI_File_preallocate);

int PMPI_File_get_size(MPI_File fh, MPI_Offset* size) {
  Entry entry(Call::MPI_File_get_size);
  FIND_FILE(file, fh);
  io::Failure failure = CheckOutput("size", size);
  std::int64_t bytes = 0;
  if (failure.ok()) failure = io::SizeOf(file, &bytes);
  if (failure.ok()) *size = bytes;
  return Give(entry, file, failure);
}
PROFILED(MPI_File_get_size);

int PMPI_File_get_group(MPI_File fh, MPI_Group* group) {
  Entry entry(Call::MPI_File_get_group);
  FIND_FILE(file, fh);
  REQUIRE_POINTER(file->comm, group);
  core::Retain(file->comm->group);
  *group = core::HandleOf(file->comm->group);
  return MPI_SUCCESS;
}
PROFILED(MPI_File_get_group);

int PMPI_File_get_amode(MPI_File fh, int* amode) {
  Entry entry(Call::MPI_File_get_amode);
  FIND_FILE(file, fh);
  REQUIRE_POINTER(file->comm, amode);
  *amode = file->amode;
  return MPI_SUCCESS;
}
PROFILED(MPI_File_get_amode);

int PMPI_File_set_info(MPI_File fh, MPI_Info info) {
  Entry entry(Call::MPI_File_set_info);
  FIND_FILE(file, fh);
  const core::Info* hints = nullptr;
  const io::Failure failure = FindFileInfo(info, &hints);
  if (failure.ok()) file->hints.Take(hints, false);
  return Give(entry, file, failure);
}
PROFILED(MPI_File_set_info);

int PMPI_File_get_info(MPI_File fh, MPI_Info* info_used) {
  Entry entry(Call::MPI_File_get_info);
  FIND_FILE(file, fh);
  REQUIRE_POINTER(file->comm, info_used);
  core::Info* made = new core::Info;
  io::ListInfo(*file, made);
  *info_used = core::ToHandle<MPI_Info>(made);
  return MPI_SUCCESS;
}
PROFILED(MPI_File_get_info);

int PMPI_File_set_atomicity(MPI_File fh, int flag) {
  Entry entry(Call::MPI_File_set_atomicity);
  FIND_FILE(file, fh);
  return Give(entry, file, io::SetAtomicityTogether(file, flag != 0));
}
PROFILED(MPI_File_set_atomicity);

int PMPI_File_get_atomicity(MPI_File fh, int* flag) {
  Entry entry(Call::MPI_File_get_atomicity);
  FIND_FILE(file, fh);
  REQUIRE_POINTER(file->comm, flag);
  *flag = file->atomic ? 1 : 0;
  return MPI_SUCCESS;
}
PROFILED(MPI_File_get_atomicity);

int PMPI_File_sync(MPI_File fh) {
  Entry entry(Call::MPI_File_sync);
  FIND_FILE(file, fh);
  return Give(entry, file, io::Sync(file));
}
PROFILED(MPI_File_sync);
