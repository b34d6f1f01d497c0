// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/archive.h"

#include <event2/event.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "checkpoint/store/checksum.h"
#include "checkpoint/store/folder.h"
#include "checkpoint/store/listing.h"
#include "checkpoint/store/local.h"
#include "launcher/saving/tuning.h"
#include "runtime/base/quiet_thread.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// What `lamina restart` starts: the directory that mpiexec was called in, then its words, each with
// a zero byte behind it.
std::string PlanText(const CheckpointOptions& options) {
  std::error_code error;
  std::string text = std::filesystem::current_path(error).string() + '\0';
  for (const std::string& word : options.words) text += word + '\0';
  return text;
}

}  // namespace

Result<std::unique_ptr<Archive>> Archive::Open(event_base* loop, const CheckpointOptions& options,
                                               const Local& local, checkpoint::Claim* claim,
                                               Moments moments) {
  std::unique_ptr<Archive> archive(new Archive(options, std::move(moments)));
  std::error_code error;
  archive->path_ = std::filesystem::absolute(options.directory, error).lexically_normal().string();
  archive->after_ = options.restored;
  archive->plan_ = PlanText(options);
  Result<Descriptor> directory = checkpoint::MakeStore(archive->path_);
  if (!directory.ok()) return std::move(directory).status().Within("checkpoint directory");
  if (claim != nullptr)
    if (Status status = claim->Take(archive->path_); !status.ok()) return status;
  archive->directory_ = *std::move(directory);
  archive->since_ = options.since;
  if (Status status = archive->OpenLocal(local); !status.ok())
    return std::move(status).Within("checkpoint.store.local");
  archive->ready_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (archive->ready_.value() < 0) return SystemError(Code::kResource, errno, "eventfd");
  archive->storing_ = event_new(
      loop, archive->ready_.value(), EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Archive*>(self)->OnReady(); }, archive.get());
  event_add(archive->storing_, nullptr);
  return archive;
}

// A job that goes on from a local state goes on writing there.
Status Archive::OpenLocal(const Local& local) {
  std::string path;
  if (!options_.restored_in.empty() && options_.restored_in != path_) {
    path = options_.restored_in;
  } else if (!local.where.empty()) {
    std::error_code error;
    std::string where = std::filesystem::absolute(local.where, error).lexically_normal().string();
    while (where.size() > 1 && where.back() == '/') where.pop_back();
    Result<std::string> chosen = checkpoint::ChooseLocal(directory_.value(), where);
    if (!chosen.ok()) return std::move(chosen).status();
    path = *std::move(chosen);
  } else {
    return {};
  }
  Result<checkpoint::Names> names = checkpoint::NamesOfGenerations(directory_.value());
  if (!names.ok()) return std::move(names).status();
  if (!names->complete.empty()) final_newest_ = names->complete.front();
  Result<Descriptor> made = checkpoint::MakeStore(path);
  if (!made.ok()) return std::move(made).status();
  final_ = std::exchange(directory_, *std::move(made));
  final_path_ = std::exchange(path_, path);
  every_ = local.every;
  return {};
}

Archive::~Archive() {
  if (IsStoring()) Join();
  if (storing_ != nullptr) event_free(storing_);
}

Status Archive::Begin(std::span<const std::uint32_t> ranks) {
  Result<std::unique_ptr<checkpoint::Generation>> begun =
      checkpoint::Generation::Begin(directory_.value(), bytes_here_, final_newest_);
  if (!begun.ok()) return std::move(begun).status();
  generation_ = *std::move(begun);
  if (Index(after_) == 0 && Index(since_) == 0) since_ = generation_->epoch();
  for (const std::uint32_t rank : ranks)
    if (Result<int> folder = generation_->FolderOf(rank); !folder.ok()) {
      Drop();
      return std::move(folder).status();
    }
  return {};
}

void Archive::Complete(checkpoint::Manifest* manifest) const {
  manifest->epoch = generation_->epoch();
  manifest->after = after_;
  manifest->since = since_;
  manifest->user = geteuid();
  manifest->taken_s = std::time(nullptr);
  manifest->plan_bytes = plan_.size();
  manifest->plan_checksum = checkpoint::Checksum(plan_);
  utsname system;
  if (uname(&system) == 0) {
    manifest->kernel = system.release;
    manifest->machine = system.machine;
  }
}

bool Archive::IsForwarded(Epoch epoch, bool ends) const {
  return !final_path_.empty() && (ends || Index(epoch) % every_ == 0);
}

void Archive::Start(std::function<void()> work) {
  not_forwarded_.clear();
  tidied_ = Status();
  const SignalsBlocked blocked;
  thread_ = std::thread([this, work = std::move(work)] {
    work();
    const std::uint64_t one = 1;
    static_cast<void>(!write(ready_.value(), &one, sizeof one));
  });
}

void Archive::Store(checkpoint::Manifest manifest, bool ends) {
  storing_epoch_ = manifest.epoch;
  Start([this, manifest = std::move(manifest), ends]() mutable {
    outcome_ = generation_->WritePlan(plan_, &manifest);
    for (std::size_t rank = 0; !manifest.apart && rank < manifest.ranks.size() && outcome_.ok();
         ++rank)
      outcome_ = generation_->Measure(static_cast<std::uint32_t>(rank), &manifest);
    if (outcome_.ok()) outcome_ = generation_->Commit(manifest);
    if (outcome_.ok())
      tidied_ = checkpoint::KeepNewest(directory_.value(), kGenerationsKept, since_);
    if (outcome_.ok()) stored_bytes_ = manifest.Bytes();
    bytes_here_ = manifest.apart ? 0 : stored_bytes_;
    if (!outcome_.ok() || manifest.apart || !IsForwarded(manifest.epoch, ends)) return;
    std::vector<std::uint32_t> ranks(manifest.ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    Status status = BeginForwarding(manifest);
    if (status.ok()) status = FinishForwarding(manifest, ranks);
    SettleForwarding(manifest, std::move(status), ends);
  });
}

Status Archive::BeginForwarding(const checkpoint::Manifest& manifest) {
  Result<std::unique_ptr<checkpoint::Generation>> begun =
      checkpoint::Generation::BeginAlso(final_.value(), manifest.epoch);
  if (!begun.ok()) return std::move(begun).status();
  for (const checkpoint::Manifest::Rank& rank : manifest.ranks)
    if (Result<int> folder = (*begun)->FolderOf(rank.rank); !folder.ok())
      return std::move(folder).status();
  forwarded_ = *std::move(begun);
  return {};
}

void Archive::Forward(checkpoint::Manifest manifest, std::vector<std::uint32_t> ranks,
                      Status so_far, bool ends) {
  storing_epoch_ = manifest.epoch;
  outcome_ = std::move(so_far);
  Start([this, manifest = std::move(manifest), ranks = std::move(ranks), ends] {
    Status status = std::exchange(outcome_, Status());
    if (status.ok()) status = FinishForwarding(manifest, ranks);
    SettleForwarding(manifest, std::move(status), ends);
  });
}

Status Archive::FinishForwarding(checkpoint::Manifest manifest,
                                 std::span<const std::uint32_t> ranks) {
  const Result<Descriptor> from =
      checkpoint::OpenFolder(directory_.value(), checkpoint::FolderName(manifest.epoch));
  const Result<Descriptor> to =
      checkpoint::OpenFolder(final_.value(), checkpoint::PartName(manifest.epoch));
  for (const auto* folder : {&from, &to})
    if (!folder->ok())
      return Status(folder->status().code(), std::string(folder->status().message()));
  for (const std::uint32_t rank : ranks)
    if (Status status = checkpoint::CopyRank(from->value(), to->value(), rank); !status.ok())
      return status;
  const std::vector<checkpoint::Manifest::Part> wanted = std::exchange(manifest.parts, {});
  manifest.apart = false;
  Status status = forwarded_->WritePlan(plan_, &manifest);
  for (std::size_t rank = 0; rank < manifest.ranks.size() && status.ok(); ++rank)
    status = forwarded_->Measure(static_cast<std::uint32_t>(rank), &manifest);
  if (status.ok() && manifest.parts != wanted)
    status = Error(Code::kInvalid, "the copy is not what it is a copy of");
  if (status.ok()) status = forwarded_->Commit(manifest);
  if (status.ok()) tidied_ = checkpoint::KeepNewest(final_.value(), kGenerationsKept, since_);
  return status;
}

// The local directory may be gone together with the machine, so a job does not end with a state
// that is there alone.
void Archive::SettleForwarding(const checkpoint::Manifest& manifest, Status status, bool ends) {
  forwarded_.reset();
  if (status.ok()) return;
  status = std::move(status).Within(final_path_);
  if (ends)
    outcome_ = std::move(status);
  else
    not_forwarded_ =
        Format("generation %u is in %s alone: ", Index(manifest.epoch), path_.c_str()) +
        std::string(status.message());
}

void Archive::OnReady() {
  if (!IsStoring()) return;
  const Epoch epoch = Join();
  moments_.stored(epoch, outcome_);
}

Epoch Archive::Join() {
  thread_.join();
  std::uint64_t times;
  static_cast<void>(!read(ready_.value(), &times, sizeof times));
  const Epoch epoch = storing_epoch_;
  generation_.reset();
  if (outcome_.ok())
    after_ = epoch;
  else
    moments_.warn(Format("generation %u could not be kept: ", Index(epoch)) +
                  std::string(outcome_.message()));
  if (!not_forwarded_.empty()) moments_.warn(not_forwarded_);
  if (!tidied_.ok())
    moments_.warn("older generations could not be deleted: " + std::string(tidied_.message()));
  return epoch;
}

}  // namespace lamina::launcher
