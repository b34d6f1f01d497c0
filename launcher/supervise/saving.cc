// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/saving.h"

#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "checkpoint/store/folder.h"
#include "checkpoint/store/listing.h"
#include "checkpoint/store/manifest.h"
#include "launcher/supervise/tuning.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

Status MakePipe(Descriptor* to_read, Descriptor* to_write) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SystemError(Code::kResource, errno, "cannot make a pipe");
  *to_read = Descriptor(ends[0]);
  *to_write = Descriptor(ends[1]);
  return {};
}

// What `lamina restart` starts: the directory that mpiexec was called in, then its words, each with
// a zero byte behind it.
std::string PlanText(const CheckpointOptions& options) {
  std::error_code error;
  std::string text = std::filesystem::current_path(error).string() + '\0';
  for (const std::string& word : options.words) text += word + '\0';
  return text;
}

}  // namespace

Result<std::unique_ptr<Saving>> Saving::Make(event_base* loop, const Plan& plan, std::string job,
                                             Moments moments) {
  std::unique_ptr<Saving> saving(new Saving(plan, std::move(job), std::move(moments)));
  if (Status status = saving->Open(loop); !status.ok()) return status;
  return saving;
}

Status Saving::Open(event_base* loop) {
  const CheckpointOptions& options = plan_.options.checkpoint;
  std::error_code error;
  path_ = std::filesystem::absolute(options.directory, error).lexically_normal().string();
  after_ = options.restored;
  Result<Descriptor> directory = checkpoint::MakeStore(path_);
  if (!directory.ok()) return std::move(directory).status().Within("checkpoint directory");
  directory_ = *std::move(directory);
  if (Status status = MakePipe(&rank_ends_[0], &orders_); !status.ok()) return status;
  if (Status status = MakePipe(&reports_, &rank_ends_[1]); !status.ok()) return status;
  fcntl(reports_.value(), F_SETFL, O_NONBLOCK);
  stored_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (stored_.value() < 0) return SystemError(Code::kResource, errno, "eventfd");
  reporting_ = event_new(
      loop, reports_.value(), EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Saving*>(self)->OnReports(); }, this);
  storing_ = event_new(
      loop, stored_.value(), EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Saving*>(self)->OnStored(); }, this);
  event_add(reporting_, nullptr);
  event_add(storing_, nullptr);
  return {};
}

Saving::~Saving() {
  Finish();
  if (reporting_ != nullptr) event_free(reporting_);
  if (storing_ != nullptr) event_free(storing_);
}

void Saving::Equip(RankStart* start) const {
  const bool speaks = start->rank == 0;
  if (speaks) start->checkpoint_fds = {rank_ends_[0].value(), rank_ends_[1].value()};
  const Epoch restored = plan_.options.checkpoint.restored;
  const std::string folder =
      Index(restored) == 0 ? "" : path_ + "/" + checkpoint::FolderName(restored);
  start->own_environment.push_back(Format("%s=%d:%d:%s", kCheckpointVariable,
                                          speaks ? rank_ends_[0].value() : -1,
                                          speaks ? rank_ends_[1].value() : -1, folder.c_str()));
}

void Saving::RanksStarted() {
  rank_ends_[0] = Descriptor();
  rank_ends_[1] = Descriptor();
}

void Saving::RanksEnded() {
  if (!IsStoring()) OnReports();
}

void Saving::OnReports() {
  CheckpointWord word;
  const ssize_t got = read(reports_.value(), &word, sizeof word);
  if (got == sizeof word) return OnWord(word);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  event_del(reporting_);  // rank 0 has ended
  generation_.reset();
}

void Saving::OnWord(const CheckpointWord& word) {
  switch (word.kind) {
    case CheckpointWord::kTogether:
      if (Status status = Begin(); !status.ok()) {
        generation_.reset();
        moments_.say("the job cannot be saved: " + std::string(status.message()));
        Order(CheckpointWord::kRefused, "");
      }
      return;
    case CheckpointWord::kSaved:
      if (generation_ != nullptr) Store();
      return;
    default:
      generation_.reset();
      return;
  }
}

Status Saving::Begin() {
  Result<std::unique_ptr<checkpoint::Generation>> begun =
      checkpoint::Generation::Begin(directory_.value(), last_bytes_);
  if (!begun.ok()) return std::move(begun).status();
  generation_ = *std::move(begun);
  for (const RankPlan& rank : plan_.ranks)
    if (Result<int> folder = generation_->FolderOf(rank.rank); !folder.ok())
      return std::move(folder).status();
  Order(CheckpointWord::kSave, path_ + "/" + checkpoint::PartName(generation_->epoch()));
  return {};
}

// Rank 0 reads while it waits for this, so the pipe takes it at once. If it has died, its end is
// told otherwise.
void Saving::Order(std::uint32_t kind, const std::string& path) {
  const CheckpointWord word{kind, generation_ != nullptr ? Index(generation_->epoch()) : 0,
                            path.size()};
  std::string bytes(reinterpret_cast<const char*>(&word), sizeof word);
  bytes += path;
  if (write(orders_.value(), bytes.data(), bytes.size()) < 0) generation_.reset();
}

checkpoint::Manifest Saving::NewManifest() const {
  checkpoint::Manifest manifest;
  manifest.epoch = generation_->epoch();
  manifest.after = after_;
  manifest.job = job_;
  manifest.user = geteuid();
  manifest.taken_s = std::time(nullptr);
  manifest.engine = "self";
  manifest.engine_version = kVersion;
  utsname system;
  if (uname(&system) == 0) {
    manifest.kernel = system.release;
    manifest.machine = system.machine;
  }
  for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host)
    manifest.nodes.push_back({host, plan_.hosts[host].name});
  for (const RankPlan& rank : plan_.ranks)
    manifest.ranks.push_back({rank.rank, {}, rank.host, 0, {}});
  return manifest;
}

void Saving::Store() {
  event_del(reporting_);
  const auto work = [this, manifest = NewManifest()]() mutable {
    outcome_ = generation_->WritePlan(PlanText(plan_.options.checkpoint), &manifest);
    for (std::size_t rank = 0; rank < manifest.ranks.size() && outcome_.ok(); ++rank)
      outcome_ = generation_->Measure(static_cast<std::uint32_t>(rank), &manifest);
    if (outcome_.ok()) outcome_ = generation_->Commit(manifest);
    stored_bytes_ = manifest.Bytes();
    const std::uint64_t one = 1;
    static_cast<void>(!write(stored_.value(), &one, sizeof one));
  };
  // Signals are for the thread of the event loop.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread(work);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Saving::OnStored() {
  Finish();
  event_add(reporting_, nullptr);
  moments_.stored();
}

void Saving::Finish() {
  if (!thread_.joinable()) return;
  thread_.join();
  std::uint64_t times;
  static_cast<void>(!read(stored_.value(), &times, sizeof times));
  const Epoch epoch = generation_->epoch();
  generation_.reset();
  if (!outcome_.ok()) {
    moments_.say(Format("generation %u could not be kept: ", Index(epoch)) +
                 std::string(outcome_.message()));
  } else {
    after_ = epoch;
    last_bytes_ = stored_bytes_;
    if (Status status = checkpoint::KeepNewest(directory_.value(), kGenerationsKept); !status.ok())
      moments_.say("older generations could not be deleted: " + std::string(status.message()));
  }
}

}  // namespace lamina::launcher
