// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/saving.h"

#include <event2/event.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "checkpoint/store/generation.h"
#include "checkpoint/store/manifest.h"
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

}  // namespace

Result<std::unique_ptr<Saving>> Saving::Make(event_base* loop, const Plan& plan, std::string job,
                                             const Archive::Local& local, checkpoint::Claim* claim,
                                             Moments moments) {
  std::unique_ptr<Saving> saving(new Saving(plan, std::move(job), std::move(moments)));
  if (Status status = saving->Open(loop, local, claim); !status.ok()) return status;
  return saving;
}

Status Saving::Open(event_base* loop, const Archive::Local& local, checkpoint::Claim* claim) {
  Result<std::unique_ptr<Archive>> archive =
      Archive::Open(loop, plan_.options.checkpoint, local, claim,
                    {[this](Epoch, const Status&) {
                       event_add(reporting_, nullptr);
                       moments_.stored();
                     },
                     moments_.say});
  if (!archive.ok()) return std::move(archive).status();
  archive_ = *std::move(archive);
  if (Status status = MakePipe(&rank_ends_[0], &orders_); !status.ok()) return status;
  if (Status status = MakePipe(&reports_, &rank_ends_[1]); !status.ok()) return status;
  fcntl(reports_.value(), F_SETFL, O_NONBLOCK);
  reporting_ = event_new(
      loop, reports_.value(), EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Saving*>(self)->OnReports(); }, this);
  event_add(reporting_, nullptr);
  return {};
}

Saving::~Saving() {
  if (reporting_ != nullptr) event_free(reporting_);
}

void Saving::Equip(RankStart* start) const {
  const bool speaks = start->rank == 0;
  if (speaks) start->checkpoint_fds = {rank_ends_[0].value(), rank_ends_[1].value()};
  const Epoch restored = plan_.options.checkpoint.restored;
  const std::string folder = Index(restored) == 0 ? ""
                                                  : plan_.options.checkpoint.restored_in + "/" +
                                                        checkpoint::FolderName(restored);
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
  archive_->Drop();
}

void Saving::OnWord(const CheckpointWord& word) {
  switch (word.kind) {
    case CheckpointWord::kTogether:
      if (Status status = archive_->Begin(AllRanks()); status.ok()) {
        Order(CheckpointWord::kSave,
              archive_->path() + "/" + checkpoint::PartName(archive_->generation()->epoch()));
      } else {
        moments_.say("the job cannot be saved: " + std::string(status.message()));
        Order(CheckpointWord::kRefused, "");
      }
      return;
    case CheckpointWord::kSaved:
      if (archive_->generation() == nullptr) return;
      event_del(reporting_);
      Store();
      return;
    default:
      archive_->Drop();
      return;
  }
}

// Rank 0 reads while it waits for this, so the pipe takes it at once. If it has died, its end is
// told otherwise.
void Saving::Order(std::uint32_t kind, const std::string& path) {
  const checkpoint::Generation* generation = archive_->generation();
  const CheckpointWord word{kind, generation != nullptr ? Index(generation->epoch()) : 0,
                            path.size()};
  std::string bytes(reinterpret_cast<const char*>(&word), sizeof word);
  bytes += path;
  if (write(orders_.value(), bytes.data(), bytes.size()) < 0) archive_->Drop();
}

std::vector<std::uint32_t> Saving::AllRanks() const {
  std::vector<std::uint32_t> ranks;
  for (const RankPlan& rank : plan_.ranks) ranks.push_back(rank.rank);
  return ranks;
}

void Saving::Store() {
  checkpoint::Manifest manifest = NewManifest();
  archive_->Complete(&manifest);
  archive_->Store(std::move(manifest), false);
}

checkpoint::Manifest Saving::NewManifest() const {
  checkpoint::Manifest manifest;
  manifest.job = job_;
  manifest.engine = "self";
  manifest.engine_version = kVersion;
  for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host)
    manifest.nodes.push_back({host, plan_.hosts[host].name});
  for (const RankPlan& rank : plan_.ranks)
    manifest.ranks.push_back({rank.rank, {}, rank.host, 0, {}});
  return manifest;
}

}  // namespace lamina::launcher
