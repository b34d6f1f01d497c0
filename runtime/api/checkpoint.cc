// SPDX-License-Identifier: BSD-3-Clause
// Programs that have their state saved: lamina/checkpoint.h. The functions are ours, not the
// standard's, and use MPI as the program does.
#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <optional>
#include <string>

#include "runtime/api/api.h"
#include "runtime/base/checkpoint_word.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/environment.h"
#include "runtime/base/log.h"
#include "runtime/quiesce/launcher_line.h"
#include "runtime/quiesce/regions.h"

#pragma GCC visibility push(default)
#include <lamina/checkpoint.h>
#pragma GCC visibility pop

namespace lamina::api {
namespace {

struct Checkpoint {
  std::optional<quiesce::LauncherLine> line;
  quiesce::Regions regions;
  MPI_Comm comm = MPI_COMM_NULL;  // of all ranks; messages of the program do not meet ours
};

// It is never deleted, because a program may call until it ends.
Checkpoint& TheCheckpoint() {
  static Checkpoint* const checkpoint = [] {
    auto* made = new Checkpoint;
    made->line = quiesce::LauncherLine::Find(core::process->environment);
    return made;
  }();
  return *checkpoint;
}

int ClassOf(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
      return MPI_SUCCESS;
    case Code::kUnsupported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case Code::kResource:
      return MPI_ERR_NO_SPACE;
    default:
      return MPI_ERR_IO;
  }
}

// Says what has failed on this rank alone, and returns its class.
int Said(const char* call, const Status& status) {
  if (!status.ok()) Log(Level::kWarn, call, "%s", std::string(status.message()).c_str());
  return ClassOf(status);
}

Result<Descriptor> OpenRankFolder(const std::string& generation) {
  const std::string path = generation + "/" + RankFolderName(core::process->identity.rank);
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (folder.value() < 0) return SystemError(Code::kDenied, errno, "cannot open %s", path.c_str());
  return folder;
}

Status SaveIn(const std::string& generation, const quiesce::Regions& regions) {
  Result<Descriptor> folder = OpenRankFolder(generation);
  if (!folder.ok()) return std::move(folder).status();
  return regions.Save(folder->value());
}

// Tells every rank where it is to save itself; "" if it is not.
int ShareFolder(Checkpoint* checkpoint, int rank, std::string* folder) {
  int failure = MPI_SUCCESS;
  if (rank == 0) {
    Result<std::string> asked = checkpoint->line->AskForFolder();
    failure = ClassOf(asked.ok() ? Status() : std::move(asked).status());
    if (asked.ok()) *folder = *std::move(asked);
  }
  int numbers[2] = {failure, static_cast<int>(folder->size())};
  PMPI_Bcast(numbers, 2, MPI_INT, 0, checkpoint->comm);
  folder->resize(static_cast<std::size_t>(numbers[1]));
  PMPI_Bcast(folder->data(), numbers[1], MPI_CHAR, 0, checkpoint->comm);
  return numbers[0];
}

int SaveAll(Checkpoint* checkpoint) {
  if (checkpoint->comm == MPI_COMM_NULL) PMPI_Comm_dup(MPI_COMM_WORLD, &checkpoint->comm);
  PMPI_Barrier(checkpoint->comm);
  int rank = 0;
  PMPI_Comm_rank(checkpoint->comm, &rank);
  std::string folder;
  if (const int failure = ShareFolder(checkpoint, rank, &folder); failure != MPI_SUCCESS)
    return failure;
  int failure = Said("checkpoint", SaveIn(folder, checkpoint->regions));
  PMPI_Allreduce(MPI_IN_PLACE, &failure, 1, MPI_INT, MPI_MAX, checkpoint->comm);
  if (rank == 0 && !checkpoint->line->Tell(failure == MPI_SUCCESS).ok()) return MPI_ERR_IO;
  return failure;
}

}  // namespace
}  // namespace lamina::api

using lamina::Status;
namespace api = lamina::api;
namespace core = lamina::core;

extern "C" LAMINA_EXPORT int lamina_checkpoint(void) {
  if (core::process == nullptr) return MPI_ERR_OTHER;
  api::Checkpoint& checkpoint = api::TheCheckpoint();
  return checkpoint.line ? api::SaveAll(&checkpoint) : MPI_ERR_UNSUPPORTED_OPERATION;
}

extern "C" LAMINA_EXPORT int lamina_checkpoint_protect(int id, void* address, size_t bytes) {
  if (core::process == nullptr) return MPI_ERR_OTHER;
  if (address == nullptr && bytes > 0) return MPI_ERR_ARG;
  api::TheCheckpoint().regions.Protect(id, address, bytes);
  return MPI_SUCCESS;
}

extern "C" LAMINA_EXPORT int lamina_checkpoint_restore(int* restarted) {
  if (core::process == nullptr) return MPI_ERR_OTHER;
  if (restarted == nullptr) return MPI_ERR_ARG;
  api::Checkpoint& checkpoint = api::TheCheckpoint();
  *restarted = checkpoint.line && !checkpoint.line->restored().empty() ? 1 : 0;
  if (*restarted == 0) return MPI_SUCCESS;
  lamina::Result<lamina::Descriptor> folder = api::OpenRankFolder(checkpoint.line->restored());
  return api::Said("restart", folder.ok() ? checkpoint.regions.Restore(folder->value())
                                          : std::move(folder).status());
}
