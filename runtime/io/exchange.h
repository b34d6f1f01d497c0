// SPDX-License-Identifier: BSD-3-Clause
// Access together: aggregators write or read what lies side by side in the file, window by window,
// in long runs, for all ranks.
//
//   writing:  parcels with data ──> window ──> file
//   reading:  parcels without ──> file ──> window ──> answers
//
// Everybody knows from the table who sends whom a parcel in which round, so nothing is negotiated,
// and an error stops no round: an aggregator that cannot write or read goes on with its messages.
//
// Cost:   in each round a message for each pair of an aggregator and a rank that its window meets,
//         a second one for a long parcel, and one back for a read.
// Memory: a window and its parcels on an aggregator; elsewhere the parcels of a round.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/core/activity.h"
#include "runtime/core/comm.h"
#include "runtime/core/request.h"
#include "runtime/io/coverage.h"
#include "runtime/io/failure.h"
#include "runtime/io/locks.h"
#include "runtime/io/open_file.h"
#include "runtime/io/parcel.h"
#include "runtime/io/table.h"

namespace lamina::io::exchange {

struct Task {
  core::Comm* comm;
  OpenFile* body;
  const std::string& path;
  RangeLocks* locks;  // null if writes need none
  bool writes;
  Share share;
  int tag;                  // this one and the next belong to this access alone
  core::Activity* watcher;  // is notified when a message has ended; may be null
};

// The rounds of one access on one rank. All ranks make it with the same table. They go on to their
// end whatever fails.
//
// Threads: the caller holds the library lock, but for UseFile.
class Rounds {
 public:
  enum class Next { kWait, kUseFile, kDone };

  Rounds(const Task& task, std::vector<Entry> table);

  // Goes on as far as it can. kWait: until CanStep. kUseFile: UseFile is called before the next
  // step, and nothing else meanwhile.
  Next Step();
  // Says whether a message has ended that a step would look at. It is quick.
  bool CanStep() const;
  // Writes or reads a window. Any thread may call it; there are system calls and memory here.
  void UseFile();

  // What this rank has itself seen fail. Nobody has agreed on that yet.
  Failure failure() const;
  // How much of the share has been moved: all, or what lies in front of the end of the file.
  std::int64_t bytes() const { return end_position_ - task_.share.position; }

 private:
  // A parcel that an aggregator has got or will get.
  struct Letter {
    Rank from = 0;
    Bytes parcel;
    Bytes answer;
    core::Request* request = nullptr;  // null: it is whole
    bool begun = false;                // its first part is there
    bool good = false;
  };
  struct Awaited {
    Rank from;
    Range window;
    Bytes answer;
    core::Request* request;
  };

  void BeginRound();
  void SendParcel(const Domain& domain, const Range& window);
  void Expect(Rank from);
  void Collect();
  void Go(Letter* letter);
  void SendAnswers();
  void EndRound();
  void Post(core::Request* request, Rank peer, int tag, std::span<std::byte> bytes, bool sends,
            core::Request::Mode mode = core::Request::Mode::kStandard);
  int End(core::Request* request);
  void WriteWindow();
  void ReadWindow();
  void Fails(const char* call, const Run& range, int error);
  Letter* NewLetter(Rank from);
  std::span<std::byte> Window() {
    return {window_.get(), static_cast<std::size_t>(mine_.end - mine_.first)};
  }

  const Task task_;
  const std::vector<Entry> table_;
  const Windows windows_;
  enum class Stage { kBegin, kCollect, kFile, kEnd } stage_ = Stage::kBegin;
  std::int64_t round_ = 0;

  // On an aggregator.
  Range mine_;  // its window of this round
  std::unique_ptr<std::byte[]> window_;
  Coverage coverage_;
  std::vector<std::unique_ptr<Letter>> letters_;  // the first `used_` belong to this round
  std::size_t used_ = 0;
  std::vector<Letter*> open_;  // those that are not whole
  Failure file_failure_;

  // On every rank.
  std::vector<std::unique_ptr<Bytes>> parcels_;  // sent in this round, as many as are used
  std::size_t sent_ = 0;
  std::vector<core::Request*> sends_;
  std::vector<Awaited> awaited_;
  std::int64_t end_position_;
  int error_ = 0;  // of messages
};

}  // namespace lamina::io::exchange
