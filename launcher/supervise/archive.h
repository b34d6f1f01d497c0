// SPDX-License-Identifier: BSD-3-Clause
// The directory in which a job keeps its generations, and the one that is being written.
//
//   idle ── Begin ──> begun ── Store ──> storing ──> idle, and `stored` is called
//                       └── Drop ──> idle, nothing is kept
//
// Where there is a faster local directory, a generation is written there, and once it is complete
// it is copied into the final one, that of --checkpoint-dir. Hosts whose local directory is their
// own copy their images themselves, between BeginForwarding() and Forward().
//
// Files are read for their checksums and written through to the disk by a thread, while the ranks
// compute and the event loop turns.
//
// Threads: the event loop's, but for the storing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "checkpoint/store/claim.h"
#include "checkpoint/store/generation.h"
#include "checkpoint/store/manifest.h"
#include "launcher/plan/plan.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"

struct event;
struct event_base;

namespace lamina::launcher {

class Archive {
 public:
  // `options` must outlive it and names the directory, which is kept for this job by `claim`; null:
  // by nobody. kExists: another job has it. `warn` is told what could not be kept or deleted;
  // `stored` that storing has ended, unless the archive ends first.
  struct Moments {
    std::function<void(Epoch epoch, const Status& outcome)> stored;
    std::function<void(const std::string& warning)> warn;
  };
  // See the parameters checkpoint.store.local and every.
  struct Local {
    std::string where;  // "": nowhere
    std::uint32_t every = 1;
  };
  static Result<std::unique_ptr<Archive>> Open(event_base* loop, const CheckpointOptions& options,
                                               const Local& local, checkpoint::Claim* claim,
                                               Moments moments);
  // Waits for what is being stored, and drops what is not complete.
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  // The directory into which generations are written. The path is absolute.
  const std::string& path() const { return path_; }
  int directory() const { return directory_.value(); }
  // Begins a generation with a folder for each of these ranks.
  Status Begin(std::span<const std::uint32_t> ranks);
  // Null: none is being written.
  checkpoint::Generation* generation() { return generation_.get(); }
  void Drop() { generation_.reset(); }
  // Fills in what the manifest does not tell of engine and ranks.
  void Complete(checkpoint::Manifest* manifest) const;
  const std::string& plan() const { return plan_; }
  // `manifest` is complete but for its parts, and for those too where its images lie apart. The job
  // `ends` with it.
  void Store(checkpoint::Manifest manifest, bool ends);
  // The generation is to be copied into the final directory as well. Store() has done so where it
  // does not lie apart.
  bool IsForwarded(Epoch epoch, bool ends) const;
  const std::string& final_path() const { return final_path_; }
  Status BeginForwarding(const checkpoint::Manifest& manifest);
  // Copies the images of `ranks`, which are in this process's directory. `so_far` says what has
  // become of the others. `stored` is called once more.
  void Forward(checkpoint::Manifest manifest, std::vector<std::uint32_t> ranks, Status so_far,
               bool ends);
  bool IsStoring() const { return thread_.joinable(); }
  std::uint64_t stored_bytes() const { return stored_bytes_; }  // of the newest generation

 private:
  Archive(const CheckpointOptions& options, Moments moments)
      : options_(options), moments_(std::move(moments)) {}
  Status OpenLocal(const Local& local);
  void Start(std::function<void()> work);
  Status FinishForwarding(checkpoint::Manifest manifest, std::span<const std::uint32_t> ranks);
  void SettleForwarding(const checkpoint::Manifest& manifest, Status status, bool ends);
  void OnReady();
  Epoch Join();

  const CheckpointOptions& options_;
  const Moments moments_;
  std::string path_;
  std::string plan_;
  Descriptor directory_;
  std::string final_path_;  // where there is a local directory: that of --checkpoint-dir
  Descriptor final_;
  Epoch final_newest_{};
  std::uint32_t every_ = 1;
  std::unique_ptr<checkpoint::Generation> forwarded_;
  Descriptor ready_;  // an event fd
  event* storing_ = nullptr;
  std::unique_ptr<checkpoint::Generation> generation_;
  Epoch after_{};
  Epoch since_{};  // the first generation of this job
  std::thread thread_;
  Status outcome_;  // of the thread
  Epoch storing_epoch_{};
  Status tidied_;                   // likewise: deleting older generations
  std::string not_forwarded_;       // likewise: why the generation is in the local directory alone
  std::uint64_t stored_bytes_ = 0;  // likewise
  std::uint64_t bytes_here_ = 0;    // likewise: what of them is in this directory
};

}  // namespace lamina::launcher
