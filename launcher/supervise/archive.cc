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
#include <system_error>

#include "checkpoint/store/checksum.h"
#include "checkpoint/store/folder.h"
#include "checkpoint/store/listing.h"
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
                                               checkpoint::Claim* claim, Moments moments) {
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
  archive->ready_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (archive->ready_.value() < 0) return SystemError(Code::kResource, errno, "eventfd");
  archive->storing_ = event_new(
      loop, archive->ready_.value(), EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Archive*>(self)->OnReady(); }, archive.get());
  event_add(archive->storing_, nullptr);
  return archive;
}

Archive::~Archive() {
  if (IsStoring()) Join();
  if (storing_ != nullptr) event_free(storing_);
}

Status Archive::Begin(std::span<const std::uint32_t> ranks) {
  Result<std::unique_ptr<checkpoint::Generation>> begun =
      checkpoint::Generation::Begin(directory_.value(), bytes_here_);
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

void Archive::Store(checkpoint::Manifest manifest) {
  const auto work = [this, manifest = std::move(manifest)]() mutable {
    outcome_ = generation_->WritePlan(plan_, &manifest);
    for (std::size_t rank = 0; !manifest.apart && rank < manifest.ranks.size() && outcome_.ok();
         ++rank)
      outcome_ = generation_->Measure(static_cast<std::uint32_t>(rank), &manifest);
    if (outcome_.ok()) outcome_ = generation_->Commit(manifest);
    tidied_ = outcome_.ok() ? checkpoint::KeepNewest(directory_.value(), kGenerationsKept, since_)
                            : Status();
    if (outcome_.ok()) stored_bytes_ = manifest.Bytes();
    bytes_here_ = manifest.apart ? 0 : stored_bytes_;
    const std::uint64_t one = 1;
    static_cast<void>(!write(ready_.value(), &one, sizeof one));
  };
  const SignalsBlocked blocked;
  thread_ = std::thread(work);
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
  const Epoch epoch = generation_->epoch();
  generation_.reset();
  if (outcome_.ok())
    after_ = epoch;
  else
    moments_.warn(Format("generation %u could not be kept: ", Index(epoch)) +
                  std::string(outcome_.message()));
  if (!tidied_.ok())
    moments_.warn("older generations could not be deleted: " + std::string(tidied_.message()));
  return epoch;
}

}  // namespace lamina::launcher
