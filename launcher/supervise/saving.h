// SPDX-License-Identifier: BSD-3-Clause
// The launcher's part in saving a job whose program says what its state is: it begins a generation
// when rank 0 asks for one, and makes it valid when all ranks have written their files.
//
//   idle ── kTogether ──> begun ── kSaved ──> storing ──> idle
//                           └── kNotSaved, or rank 0 ends ──> idle, nothing is kept
//
// The ranks compute while files are stored. What rank 0 asks for meanwhile waits.
//
// Threads: the event loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/store/claim.h"
#include "checkpoint/store/manifest.h"
#include "launcher/plan/plan.h"
#include "launcher/spawn/spawner.h"
#include "launcher/supervise/archive.h"
#include "runtime/base/checkpoint_word.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"

struct event;
struct event_base;

namespace lamina::launcher {

class Saving {
 public:
  struct Moments {
    std::function<void(const std::string& message)> say;
    std::function<void()> stored;  // what was being stored is, or has failed
  };

  // `plan` must outlive it; its options name the directory, which `claim` keeps for it. `job` is
  // the job's name.
  static Result<std::unique_ptr<Saving>> Make(event_base* loop, const Plan& plan, std::string job,
                                              const Archive::Local& local, checkpoint::Claim* claim,
                                              Moments moments);
  // Waits for what is being stored, and drops what is not complete.
  ~Saving();
  Saving(const Saving&) = delete;
  Saving& operator=(const Saving&) = delete;

  // Adds what the rank needs.
  void Equip(RankStart* start) const;
  // The ranks have been started, so their ends of the pipes are theirs alone.
  void RanksStarted();
  // All ranks have ended, so rank 0 has said its last word.
  void RanksEnded();
  bool IsStoring() const { return archive_->IsStoring(); }

 private:
  Saving(const Plan& plan, std::string job, Moments moments)
      : plan_(plan), job_(std::move(job)), moments_(std::move(moments)) {}
  Status Open(event_base* loop, const Archive::Local& local, checkpoint::Claim* claim);
  void OnReports();
  void OnWord(const CheckpointWord& word);
  void Order(std::uint32_t kind, const std::string& path);
  std::vector<std::uint32_t> AllRanks() const;
  void Store();
  checkpoint::Manifest NewManifest() const;

  const Plan& plan_;
  const std::string job_;
  const Moments moments_;
  std::unique_ptr<Archive> archive_;
  Descriptor orders_;
  Descriptor reports_;
  Descriptor rank_ends_[2];  // orders to read, reports to write
  event* reporting_ = nullptr;
};

}  // namespace lamina::launcher
