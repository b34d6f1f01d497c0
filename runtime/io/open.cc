// SPDX-License-Identifier: BSD-3-Clause
// Opening and closing (MPI-5.0, sections 14.2.1 to 14.2.3).
//
// When all ranks have come, rank 0 opens the file first and alone makes it, so that MPI_MODE_EXCL
// has one winner. It tells the others what it found, they open the same file, and one agreement
// says whether all have it.
//
// Cost: a context, a broadcast and two allreduces; no message if there is one rank.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include "runtime/agreement/make.h"
#include "runtime/base/agent_word.h"
#include "runtime/core/errors.h"
#include "runtime/core/process.h"
#include "runtime/io/agree.h"
#include "runtime/io/file.h"
#include "runtime/io/file_name.h"
#include "runtime/io/file_system.h"
#include "runtime/io/operation.h"
#include "runtime/io/worker.h"
#include "runtime/p2p/p2p.h"

namespace lamina::io {
namespace {

// What rank 0 tells the others. It is sent as it is, because all ranks are alike.
struct First {
  int error_class = MPI_SUCCESS;
  int amode = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t file_system = 0;
  std::uint64_t on_one_node = 0;
  memory::SealedName page;
};

bool AllOnThisNode(const core::Comm& comm) {
  const std::vector<std::uint32_t>& local = core::process->identity.local_peers;
  return std::all_of(comm.peers, comm.peers + comm.size, [&local](PeerId peer) {
    return std::binary_search(local.begin(), local.end(), Index(peer));
  });
}

int Open(File* file, int flags) {
  const core::Unlocked unlocked;
  return OpenSystemFile(file->path, flags, file->hints.permissions(), &file->body, &file->identity);
}

// Opens the file where nobody has opened it yet. `made` becomes true if that made it.
Failure OpenFirst(File* file, bool* made) {
  const int flags = OpenFlags(file->amode);
  const bool creates = (file->amode & MPI_MODE_CREATE) != 0;
  const bool exclusive = creates && (file->amode & MPI_MODE_EXCL) != 0;
  int error = exclusive ? ENOENT : Open(file, flags);
  if (error == ENOENT && creates) {
    error = Open(file, flags | O_CREAT | O_EXCL);
    *made = error == 0;
    // Somebody else has made it in between, or it is a link to a file that does not exist.
    if (error == EEXIST && !exclusive) error = Open(file, flags | O_CREAT);
  }
  return error == 0 ? Failure{} : SystemFailure("open", file->path, error);
}

Failure OpenSame(File* file, const First& first) {
  if (file->amode != first.amode)
    return Fail(MPI_ERR_NOT_SAME, "amode is 0x%x, and 0x%x on rank 0", file->amode, first.amode);
  const FileSystem& theirs = FileSystemOf(first.file_system);
  if (const int error = Open(file, OpenFlags(file->amode)); error != 0) {
    Failure failure = SystemFailure("open", file->path, error);
    failure.text += std::string("; rank 0 has opened it, on ") + theirs.name;
    return failure;
  }
  // The numbers of a file on a network differ from node to node.
  const FileSystem& own = FileSystemOf(file->identity.file_system);
  const bool tells =
      first.on_one_node != 0 || own.sharing == Sharing::kLocal || theirs.sharing == Sharing::kLocal;
  const bool same = file->identity.device == first.device && file->identity.inode == first.inode;
  if (tells && !same)
    return Fail(MPI_ERR_NOT_SAME, "%s, on %s, is another file than the one that rank 0 has, on %s",
                file->path.c_str(), own.name, theirs.name);
  return {};
}

// Makes the file object, with nothing open.
File* Make(core::Comm* comm, ContextId context) {
  File* file = new File;
  FileOpened();
  file->comm = agreement::Make(comm->group, context, comm);
  core::Errhandler* handler = core::file_errhandler != nullptr
                                  ? core::file_errhandler
                                  : core::FindErrhandler(MPI_ERRORS_RETURN);
  core::Retain(handler);
  core::Release(file->comm->errhandler);
  file->comm->errhandler = handler;
  file->comm->handle = reinterpret_cast<MPI_Comm>(file);
  return file;
}

// A job that is saved from outside may go on elsewhere, and without what its ranks share.
bool IsSavedFromOutside() { return core::process->environment.Get(kAgentVariable).has_value(); }

// Makes the memory that ranks of one node share. Without it the pointer goes by messages.
std::optional<memory::Sealed> MakePage(const core::Comm& comm, First* first) {
  if (comm.size == 1 || !first->on_one_node || core::process->identity.apart ||
      IsSavedFromOutside())
    return std::nullopt;
  Result<memory::MadeSealed> page = MakeNodePage();
  if (!page.ok()) return std::nullopt;
  first->page = page->name;
  return std::move(page->memory);
}

Failure Furnish(File* file, std::optional<memory::Sealed> page, const First& first) {
  file->page = first.page;
  file->on_one_node = first.on_one_node != 0;
  if (file->comm->size == 1)
    file->shared = MakeAlone();
  else if (first.page.descriptor >= 0)
    file->shared = MakeOnNode(std::move(page), first.page);
  else
    file->shared = MakeOwned(file->comm);
  ViewArguments bytes;
  bytes.etype = bytes.filetype = datatype::FindDatatype(MPI_BYTE);
  bytes.datarep = FindDatarep("native");
  if (Failure failure = MakeView(bytes, &file->view); !failure.ok()) return failure;
  if ((file->amode & MPI_MODE_APPEND) == 0) return {};
  if (Failure failure = SizeOf(file, &file->position); !failure.ok()) return failure;
  return file->comm->rank == 0 ? file->shared->Set(file->position) : Failure{};
}

bool NothingUnderWay(void* file) { return static_cast<File*>(file)->under_way == 0; }

Failure Unlink(const std::string& path) {
  const core::Unlocked unlocked;
  return unlink(path.c_str()) == 0 ? Failure{} : SystemFailure("unlink", path, errno);
}

}  // namespace

Failure OpenTogether(core::Comm* comm, const Opening& opening, Failure mine, File** opened) {
  ContextId context{};
  if (const int error = p2p::AgreeContext(comm, &context); error != MPI_SUCCESS)
    return Fail(error, "the processes could not agree on a context for the file");
  File* file = Make(comm, context);
  file->amode = opening.amode;
  file->hints.Take(opening.info, true);
  if (mine.ok()) mine = AbsolutePath(opening.name, &file->path);
  if (mine.ok()) mine = CheckAmode(opening.amode);
  // A rank that removes or makes a file of this name before its call has done so when the first one
  // opens it.
  mine = Agree(file->comm, std::move(mine));
  if (!mine.ok()) {
    Release(file);
    return mine;
  }
  First first;
  std::optional<memory::Sealed> page;
  bool made = false;
  if (comm->rank == 0) {
    mine = OpenFirst(file, &made);
    first = {mine.error_class,
             file->amode,
             file->identity.device,
             file->identity.inode,
             file->identity.file_system,
             AllOnThisNode(*comm) ? 1u : 0u,
             {}};
    if (mine.ok()) page = MakePage(*comm, &first);
  }
  if (Failure failure = Share(file->comm, std::as_writable_bytes(std::span(&first, 1)));
      !failure.ok() && mine.ok())
    mine = std::move(failure);
  if (mine.ok() && comm->rank != 0 && first.error_class == MPI_SUCCESS)
    mine = OpenSame(file, first);
  if (mine.ok() && first.error_class == MPI_SUCCESS) mine = Furnish(file, std::move(page), first);
  Failure result = Agree(file->comm, std::move(mine));
  if (!result.ok()) {
    if (made) static_cast<void>(Unlink(file->path));
    Release(file);
    return result;
  }
  file->comm->name = "the file " + file->path;
  *opened = file;
  return {};
}

Failure CloseTogether(File* file) {
  Failure mine;
  if (file->split != nullptr) {
    mine = Fail(MPI_ERR_OTHER, "%s was closed before %s was called", file->path.c_str(),
                file->split_call);
    static_cast<void>(EndSplit(file, file->split_call, file->split_buffer, MPI_STATUS_IGNORE));
  }
  p2p::WaitUntil(NothingUnderWay, file);
  int error = 0;
  {
    const core::Unlocked unlocked;
    error = file->body->Close();
  }
  if (error != 0 && mine.ok()) mine = SystemFailure("close", file->path, error);
  Failure result = Agree(file->comm, std::move(mine));
  if ((file->amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    Failure removed;
    if (file->comm->rank == 0) removed = Unlink(file->path);
    removed = Agree(file->comm, std::move(removed));
    if (result.ok()) result = std::move(removed);
  }
  file->kind = core::Kind::kFreed;
  file->shared.reset();
  Release(file);
  return result;
}

Failure Delete(const char* name) {
  std::string path;
  if (Failure failure = AbsolutePath(name, &path); !failure.ok()) return failure;
  return Unlink(path);
}

}  // namespace lamina::io
