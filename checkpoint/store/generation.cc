// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/store/generation.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "checkpoint/store/checksum.h"
#include "checkpoint/store/folder.h"
#include "checkpoint/store/listing.h"
#include "checkpoint/store/tuning.h"
#include "runtime/base/check.h"
#include "runtime/base/checkpoint_word.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint {
namespace {

// Some file systems have no locks. There the jobs of a user have to take different directories.
Status Lock(int directory) {
  if (flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return Error(Code::kAgain, "another job is writing a checkpoint in the same directory");
}

Status CheckRoom(int directory, std::uint64_t bytes_min) {
  struct statvfs room;
  if (fstatvfs(directory, &room) != 0)
    return SystemError(Code::kResource, errno, "cannot ask how much room there is");
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  if (free < bytes_min)
    return Error(Code::kResource, "%llu bytes are free, and the last generation took %llu",
                 static_cast<unsigned long long>(free), static_cast<unsigned long long>(bytes_min));
  return {};
}

}  // namespace

std::string FolderName(Epoch epoch) { return Format("g%06u", Index(epoch)); }
std::string PartName(Epoch epoch) { return FolderName(epoch) + std::string(kPartEnding); }

Result<Sum> SumOf(const Descriptor& file, const std::string& name) {
  Sum sum;
  std::string piece(kReadBytes, '\0');
  for (;;) {
    const ssize_t got =
        pread(file.value(), piece.data(), piece.size(), static_cast<off_t>(sum.bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(CodeOfDisk(errno), errno, "cannot read %s", name.c_str());
    if (got == 0) return sum;
    const auto bytes = static_cast<std::size_t>(got);
    sum.checksum = Checksum(std::string_view(piece.data(), bytes), sum.checksum);
    sum.bytes += bytes;
  }
}

Generation::Generation(Descriptor directory, Epoch epoch)
    : directory_(std::move(directory)), epoch_(epoch) {}

Result<std::unique_ptr<Generation>> Generation::Begin(int directory, std::uint64_t bytes_min,
                                                      Epoch newest) {
  // The lock belongs to what is opened here, so that it ends with this generation.
  Descriptor own(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return BeginIn(std::move(own), bytes_min, Epoch{}, newest);
}

Result<std::unique_ptr<Generation>> Generation::BeginAlso(int directory, Epoch epoch) {
  return BeginIn(Descriptor(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), 0, epoch,
                 Epoch{});
}

// Epoch 0 stands for the one after the newest.
Result<std::unique_ptr<Generation>> Generation::BeginIn(Descriptor own, std::uint64_t bytes_min,
                                                        Epoch epoch, Epoch newest) {
  if (own.value() < 0) return SystemError(CodeOfDisk(errno), errno, "cannot open the directory");
  if (Status status = Lock(own.value()); !status.ok()) return status;
  Result<Names> names = NamesOfGenerations(own.value());
  if (!names.ok()) return std::move(names).status();
  if (std::find(names->complete.begin(), names->complete.end(), epoch) != names->complete.end())
    return Error(Code::kExists, "generation %u is there already", Index(epoch));
  for (const std::string& part : names->unfinished)
    if (Status status = RemoveFolder(own.value(), part); !status.ok()) return status;
  if (Status status = CheckRoom(own.value(), bytes_min); !status.ok()) return status;
  if (!names->complete.empty()) newest = std::max(newest, names->complete.front());
  if (Index(epoch) == 0) epoch = Epoch{Index(newest) + 1};
  std::unique_ptr<Generation> generation(new Generation(std::move(own), epoch));
  Result<Descriptor> folder = MakeFolder(generation->directory_.value(), PartName(epoch));
  if (!folder.ok()) return std::move(folder).status();
  generation->folder_ = *std::move(folder);
  return generation;
}

Generation::~Generation() {
  if (committed_) return;
  ranks_.clear();
  // Nobody can be told of a failure here; what is left is removed by the next Begin().
  static_cast<void>(RemoveFolder(directory_.value(), PartName(epoch_)));
}

Result<int> Generation::FolderOf(std::uint32_t rank) {
  const auto found = ranks_.find(rank);
  if (found != ranks_.end()) return found->second.value();
  Result<Descriptor> made = MakeFolder(folder_.value(), RankFolderName(rank));
  if (!made.ok()) return std::move(made).status();
  return ranks_.emplace(rank, *std::move(made)).first->second.value();
}

Status Generation::WritePlan(std::string_view plan, Manifest* manifest) {
  if (Status status = WriteFile(folder_.value(), kPlanName, plan); !status.ok()) return status;
  manifest->plan_bytes = plan.size();
  manifest->plan_checksum = Checksum(plan);
  return {};
}

Status Generation::Measure(std::uint32_t rank, Manifest* manifest) {
  const Result<int> folder = FolderOf(rank);
  if (!folder.ok()) return Error(folder.status().code(), "%s", folder.status().message().data());
  return MeasureFolder(*folder, rank, &manifest->parts);
}

Status MeasureFolder(int folder, std::uint32_t rank, std::vector<Manifest::Part>* parts) {
  Result<std::vector<std::string>> names = NamesIn(folder);
  if (!names.ok()) return std::move(names).status();
  for (const std::string& name : *names) {
    const std::string path = RankFolderName(rank) + "/" + name;
    Result<Descriptor> file = OpenFile(folder, name);
    if (!file.ok()) return std::move(file).status().Within(RankFolderName(rank));
    if (fchmod(file->value(), S_IRUSR | S_IWUSR) != 0)
      return SystemError(CodeOfDisk(errno), errno, "cannot close %s to others", path.c_str());
    Result<Sum> sum = SumOf(*file, path);
    if (!sum.ok()) return std::move(sum).status();
    if (Status status = Sync(file->value(), path); !status.ok()) return status;
    parts->push_back({rank, name, sum->bytes, sum->checksum});
  }
  return Sync(folder, RankFolderName(rank));
}

Status CopyRank(int from, int to, std::uint32_t rank) {
  const std::string name = RankFolderName(rank);
  const Result<Descriptor> source = OpenFolder(from, name);
  if (!source.ok()) return Status(source.status().code(), std::string(source.status().message()));
  const Result<Descriptor> copy = OpenFolder(to, name);
  if (!copy.ok()) return Status(copy.status().code(), std::string(copy.status().message()));
  Status status = CopyFiles(source->value(), copy->value());
  return status.ok() ? std::move(status) : std::move(status).Within(name);
}

Status Generation::Commit(const Manifest& manifest) {
  CHECK(manifest.epoch == epoch_);
  if (Status status = Prepare(Encode(manifest)); !status.ok()) return status;
  return Finish();
}

Status Generation::Prepare(std::string_view manifest) {
  if (Status status = WriteFile(folder_.value(), kManifestName, manifest); !status.ok())
    return status;
  return Sync(folder_.value(), PartName(epoch_));
}

Status Generation::Finish() {
  const int directory = directory_.value();
  const std::string part = PartName(epoch_);
  const std::string whole = FolderName(epoch_);
  if (renameat2(directory, part.c_str(), directory, whole.c_str(), RENAME_NOREPLACE) != 0)
    return SystemError(CodeOfDisk(errno), errno, "cannot rename %s to %s", part.c_str(),
                       whole.c_str());
  if (Status status = Sync(directory, "the directory"); !status.ok()) {
    // It may be valid now and gone after a crash, which is no state that anybody could be told of.
    static_cast<void>(renameat(directory, whole.c_str(), directory, part.c_str()));
    return status;
  }
  committed_ = true;
  return {};
}

}  // namespace lamina::checkpoint
