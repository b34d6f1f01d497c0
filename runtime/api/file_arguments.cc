// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/api/file_arguments.h"

#include "runtime/api/message_arguments.h"

namespace lamina::api {

int BadFile(const Entry& entry, MPI_File handle) {
  if (handle == MPI_FILE_NULL)
    return core::RaiseOnNoFile(MPI_ERR_FILE, entry.name(), "the file is MPI_FILE_NULL");
  return core::RaiseOnNoFile(MPI_ERR_FILE, entry.name(),
                             "the file is %p, which is not a file handle or has been closed",
                             static_cast<void*>(handle));
}

int Give(const Entry& entry, io::File* file, const io::Failure& failure) {
  if (failure.ok()) return MPI_SUCCESS;
  return core::Raise(file->comm, failure.error_class, entry.name(), "%s", failure.text.c_str());
}

int GiveWithoutFile(const Entry& entry, const io::Failure& failure) {
  if (failure.ok()) return MPI_SUCCESS;
  return core::RaiseOnNoFile(failure.error_class, entry.name(), "%s", failure.text.c_str());
}

io::Failure CheckOutput(const char* name, const void* pointer) {
  if (pointer != nullptr) return {};
  return io::Fail(MPI_ERR_ARG, "%s is a null pointer", name);
}

io::Failure FindFileInfo(MPI_Info handle, const core::Info** info) {
  *info = core::FindInfo(handle);
  if (*info != nullptr || handle == MPI_INFO_NULL) return {};
  return io::Fail(MPI_ERR_INFO, "the info is %p, which is not a valid handle or has been freed",
                  static_cast<void*>(handle));
}

io::Failure FindBuffer(void* address, MPI_Count count, MPI_Datatype datatype,
                       datatype::Buffer* buffer) {
  const datatype::Datatype* type = datatype::FindDatatype(datatype);
  if (type == nullptr)
    return io::Fail(MPI_ERR_TYPE, "the datatype is %p, which is not a valid handle",
                    static_cast<void*>(datatype));
  if (!type->committed) return io::Fail(MPI_ERR_TYPE, "the datatype is not committed");
  if (count < 0)
    return io::Fail(MPI_ERR_COUNT, "count is %lld, must not be negative",
                    static_cast<long long>(count));
  if (!BufferIsGood(address, count, type))
    return io::Fail(MPI_ERR_BUFFER, "buf is %s, but count is %lld", BadBufferWords(address),
                    static_cast<long long>(count));
  *buffer = {address, count, type};
  return {};
}

}  // namespace lamina::api
