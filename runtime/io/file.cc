// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/file.h"

#include <fcntl.h>

#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "runtime/core/process.h"
#include "runtime/io/agree.h"
#include "runtime/io/file_system.h"
#include "runtime/io/worker.h"

namespace lamina::io {
namespace {

// Calls a function of the operating system's file without the library lock.
template <class Call>
int Unlocking(const Call& call) {
  const core::Unlocked unlocked;
  return call();
}

// Does on rank 0 what one rank does for all, and tells everybody how it went.
template <class Act>
Failure OneForAll(File* file, const Act& act) {
  Failure failure;
  if (file->comm->rank == 0) failure = act();
  return Agree(file->comm, std::move(failure));
}

Failure CheckChange(const File& file, const char* what, std::int64_t bytes) {
  if (IsSequential(file.amode))
    return Fail(MPI_ERR_UNSUPPORTED_OPERATION, "%s was opened with MPI_MODE_SEQUENTIAL",
                file.path.c_str());
  if (bytes < 0)
    return Fail(MPI_ERR_ARG, "%s is %lld, must not be negative", what,
                static_cast<long long>(bytes));
  if (!file.writes())
    return Fail(MPI_ERR_READ_ONLY, "%s was opened with MPI_MODE_RDONLY", file.path.c_str());
  return {};
}

void Prefer(Failure* first, Failure other) {
  if (first->ok()) *first = std::move(other);
}

Failure CheckDisplacement(const File& file, MPI_Offset displacement) {
  const bool current = displacement == MPI_DISPLACEMENT_CURRENT;
  if (IsSequential(file.amode) == current) return {};
  return Fail(MPI_ERR_ARG, current
                               ? "disp is MPI_DISPLACEMENT_CURRENT, but the file was not opened "
                                 "with MPI_MODE_SEQUENTIAL"
                               : "disp is not MPI_DISPLACEMENT_CURRENT, but the file was opened "
                                 "with MPI_MODE_SEQUENTIAL");
}

Failure MakeRequestedView(File* file, const ViewRequest& request, View** view) {
  ViewArguments arguments;
  arguments.etype = request.etype;
  arguments.filetype = request.filetype;
  arguments.writable = file->writes();
  arguments.displacement = request.displacement;
  arguments.datarep = FindDatarep(request.datarep);
  if (arguments.datarep == nullptr)
    return Fail(MPI_ERR_UNSUPPORTED_DATAREP, "datarep is \"%s\", which is not registered",
                request.datarep);
  if (Failure failure = CheckDisplacement(*file, request.displacement); !failure.ok())
    return failure;
  if (request.displacement == MPI_DISPLACEMENT_CURRENT) {
    std::int64_t position = 0;
    if (Failure failure = file->shared->Get(&position); !failure.ok()) return failure;
    arguments.displacement = file->view->OffsetAt(position);
  }
  return MakeView(arguments, view);
}

// What must be the same on all ranks.
struct Common {
  char datarep[MPI_MAX_DATAREP_STRING] = {};
  std::int64_t etype_extent = 0;
};

Failure CheckCommon(File* file, const View* view) {
  Common own;
  if (view != nullptr) {
    std::strncpy(own.datarep, view->datarep->name.c_str(), sizeof own.datarep - 1);
    own.etype_extent = view->etype->extent;
  }
  Common first = own;
  if (Failure failure = Share(file->comm, std::as_writable_bytes(std::span(&first, 1)));
      !failure.ok())
    return failure;
  // A rank without a view has told why already, and so does rank 0 if it has none.
  if (view == nullptr || first.etype_extent == 0) return {};
  if (std::strcmp(own.datarep, first.datarep) != 0)
    return Fail(MPI_ERR_NOT_SAME, "datarep is \"%s\", and \"%s\" on rank 0", own.datarep,
                first.datarep);
  if (own.etype_extent != first.etype_extent)
    return Fail(MPI_ERR_NOT_SAME, "the extent of etype is %lld, and %lld on rank 0",
                static_cast<long long>(own.etype_extent),
                static_cast<long long>(first.etype_extent));
  return {};
}

// Opens what ranges are locked of: memory of the node, or the file where there are several.
Failure MakeLocks(const File& file, std::unique_ptr<RangeLocks>* locks) {
  std::unique_ptr<OpenFile> own;
  std::optional<memory::Sealed> page;
  memory::SealedName name = file.page;
  if (file.comm->size == 1)
    if (Result<memory::MadeSealed> made = MakeNodePage(); made.ok()) {
      name = made->name;
      page = std::move(made->memory);
    }
  if (name.descriptor >= 0) {
    Identity identity;
    const int error = OpenSystemFile(memory::DescriptorPath(name.pid, name.descriptor),
                                     O_RDWR | O_CLOEXEC, 0, &own, &identity);
    if (error != 0) return SystemFailure("open", "the memory that ranks of this node share", error);
  }
  *locks = std::make_unique<RangeLocks>(std::move(own), file.body.get(), file.reads());
  return {};
}

// Rank 0 locks a byte, and every other rank must see that: some network file systems grant locks
// that no other node knows of.
Failure TryLocksTogether(const File& file, RangeLocks* locks) {
  constexpr Run kByte{0, 1};
  int error = 0;
  if (file.comm->rank == 0) error = Unlocking([&] { return locks->Lock(kByte, file.writes()); });
  const bool holds = file.comm->rank == 0 && error == 0;
  Failure mine;
  if (error != 0) mine = SystemFailure("lock", file.path, error);
  Failure failure = Agree(file.comm, std::move(mine));
  if (failure.ok()) {
    bool locked = true;
    mine = {};
    if (file.comm->rank != 0) error = Unlocking([&] { return locks->IsLocked(kByte, &locked); });
    if (error != 0)
      mine = SystemFailure("lock", file.path, error);
    else if (!locked)
      mine = Fail(MPI_ERR_UNSUPPORTED_OPERATION, "the file system of %s hides the lock of rank 0",
                  file.path.c_str());
    failure = Agree(file.comm, std::move(mine));
  }
  if (holds) static_cast<void>(Unlocking([&] { return locks->Unlock(); }));
  return failure;
}

// Sees to it that all ranks have locks, or none.
Failure HaveLocksTogether(File* file) {
  if (file->locks != nullptr) return {};
  std::unique_ptr<RangeLocks> locks;
  Failure failure = Agree(file->comm, MakeLocks(*file, &locks));
  if (failure.ok()) failure = TryLocksTogether(*file, locks.get());
  if (!failure.ok())
    return {MPI_ERR_UNSUPPORTED_OPERATION, failure.text + "; atomic mode needs locks"};
  file->locks = std::move(locks);
  return {};
}

// Ranks that write pieces may write back what lies between them, if every write locks. All have
// come when they agree on that, so no write without a lock is under way any more. Where there
// are no locks nothing is written back.
Failure GuardTogether(File* file, const View& view) {
  if (!file->writes() || !file->reads()) return {};
  bool holes = false;
  if (Failure failure = AskAll(file->comm, !view.dense, &holes); !failure.ok()) return failure;
  file->locking = holes && HaveLocksTogether(file).ok();
  return {};
}

Failure OnlyShared(const File& file) {
  return Fail(MPI_ERR_UNSUPPORTED_OPERATION,
              "%s was opened with MPI_MODE_SEQUENTIAL, so its file pointer cannot be asked for or "
              "moved",
              file.path.c_str());
}

// Finds the position that MPI_File_seek and its kin ask for. `current` is where the pointer is.
Failure FindPosition(File* file, MPI_Offset offset, int whence, std::int64_t current,
                     std::int64_t* position) {
  const std::int64_t etype_bytes = file->view->etype_bytes;
  std::int64_t from = 0;
  if (whence == MPI_SEEK_CUR) {
    from = current;
  } else if (whence == MPI_SEEK_END) {
    std::int64_t size = 0;
    if (Failure failure = SizeOf(file, &size); !failure.ok()) return failure;
    from = (file->view->PositionAt(size) + etype_bytes - 1) / etype_bytes * etype_bytes;
  } else if (whence != MPI_SEEK_SET) {
    return Fail(MPI_ERR_ARG, "whence is %d, must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END",
                whence);
  }
  std::int64_t moved = 0;
  if (__builtin_mul_overflow(offset, etype_bytes, &moved) ||
      __builtin_add_overflow(from, moved, &moved) || moved < 0)
    return Fail(MPI_ERR_ARG,
                "offset is %lld: the file pointer would be before the view or beyond "
                "the largest offset",
                static_cast<long long>(offset));
  *position = moved;
  return {};
}

}  // namespace

void Release(File* file) {
  if (--file->references > 0) return;
  file->kind = core::Kind::kFreed;
  file->shared.reset();
  if (file->view != nullptr) Release(file->view);
  static_cast<void>(core::Release(file->comm));
  delete file;
  FileClosed();
}

Failure SizeOf(File* file, std::int64_t* bytes) {
  const int error = Unlocking([&] { return file->body->Size(bytes); });
  return error == 0 ? Failure{} : SystemFailure("statx", file->path, error);
}

Failure ResizeTogether(File* file, std::int64_t bytes) {
  Failure mine = CheckChange(*file, "size", bytes);
  Prefer(&mine, SameAsFirst(file->comm, "size", bytes));
  if (Failure failure = Agree(file->comm, std::move(mine)); !failure.ok()) return failure;
  file->wrote = true;
  return OneForAll(file, [&] {
    const int error = Unlocking([&] { return file->body->Resize(bytes); });
    return error == 0 ? Failure{} : TransferFailure("ftruncate", file->path, 0, bytes, error);
  });
}

Failure ReserveTogether(File* file, std::int64_t bytes) {
  Failure mine = CheckChange(*file, "size", bytes);
  Prefer(&mine, SameAsFirst(file->comm, "size", bytes));
  if (Failure failure = Agree(file->comm, std::move(mine)); !failure.ok()) return failure;
  file->wrote = true;
  return OneForAll(file, [&] {
    const int error = Unlocking([&] { return file->body->Reserve(bytes); });
    return error == 0 ? Failure{} : TransferFailure("fallocate", file->path, 0, bytes, error);
  });
}

void ListInfo(const File& file, core::Info* info) {
  file.hints.List(info);
  info->Set("filename", file.path);
  info->Set("mpi_memory_alloc_kinds", core::SupportedMemoryKinds(""));
  info->Set("lamina_file_system", FileSystemOf(file.identity.file_system).name);
  if (*file.method != '\0') info->Set("lamina_method", file.method);
}

Failure SetViewTogether(File* file, const ViewRequest& request, Failure mine) {
  View* view = nullptr;
  if (mine.ok()) mine = MakeRequestedView(file, request, &view);
  Prefer(&mine, CheckCommon(file, view));
  Failure failure = Agree(file->comm, std::move(mine));
  if (failure.ok()) failure = GuardTogether(file, *view);
  if (failure.ok()) {
    std::swap(file->view, view);
    file->position = 0;
    file->hints.Take(request.info, false);
    // Nobody uses the shared pointer before rank 0 has set it back, and nobody still uses the old
    // one, because all have come.
    failure = OneForAll(file, [&] { return file->shared->Set(0); });
  }
  if (view != nullptr) Release(view);
  return failure;
}

Failure SetAtomicityTogether(File* file, bool atomic) {
  Failure failure = Agree(file->comm, SameAsFirst(file->comm, "flag", atomic ? 1 : 0));
  if (failure.ok() && atomic) failure = HaveLocksTogether(file);
  if (failure.ok()) file->atomic = atomic;
  return failure;
}

// What this rank wrote goes to the device; what ranks of other nodes have synchronised is seen
// afterwards.
Failure Sync(File* file) {
  if (file->wrote) {
    const int error = Unlocking([&] { return file->body->Sync(); });
    if (error != 0) return SystemFailure("fdatasync", file->path, error);
    file->wrote = false;
  }
  const bool sees_all = FileSystemOf(file->identity.file_system).sharing != Sharing::kCloseToOpen;
  if (file->on_one_node || sees_all || !file->identity.seekable) return {};
  const int error = Unlocking([&] { return file->body->Refresh(); });
  return error == 0 ? Failure{} : SystemFailure("open", file->path, error);
}

Failure Seek(File* file, MPI_Offset offset, int whence) {
  if (IsSequential(file->amode)) return OnlyShared(*file);
  return FindPosition(file, offset, whence, file->position, &file->position);
}

Failure SeekSharedTogether(File* file, MPI_Offset offset, int whence) {
  Failure mine;
  if (IsSequential(file->amode)) mine = OnlyShared(*file);
  Prefer(&mine, SameAsFirst(file->comm, "offset", offset));
  Prefer(&mine, SameAsFirst(file->comm, "whence", whence));
  std::int64_t current = 0;
  std::int64_t position = 0;
  if (mine.ok()) mine = file->shared->Get(&current);
  if (mine.ok()) mine = FindPosition(file, offset, whence, current, &position);
  if (Failure failure = Agree(file->comm, std::move(mine)); !failure.ok()) return failure;
  return OneForAll(file, [&] { return file->shared->Set(position); });
}

Failure PositionOf(const File& file, MPI_Offset* offset) {
  if (IsSequential(file.amode)) return OnlyShared(file);
  *offset = file.position / file.view->etype_bytes;
  return {};
}

Failure PositionOfShared(File* file, MPI_Offset* offset) {
  if (IsSequential(file->amode)) return OnlyShared(*file);
  std::int64_t position = 0;
  if (Failure failure = file->shared->Get(&position); !failure.ok()) return failure;
  *offset = position / file->view->etype_bytes;
  return {};
}

Failure ByteOffset(const File& file, MPI_Offset offset, MPI_Offset* bytes) {
  std::int64_t position = 0;
  if (offset < 0 || __builtin_mul_overflow(offset, file.view->etype_bytes, &position))
    return Fail(MPI_ERR_ARG, "offset is %lld, must not be negative or beyond the largest offset",
                static_cast<long long>(offset));
  *bytes = file.view->form->size == 0 ? file.view->displacement : file.view->OffsetAt(position);
  return {};
}

}  // namespace lamina::io
