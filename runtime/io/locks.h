// SPDX-License-Identifier: BSD-3-Clause
// Locks on ranges of one open file, between the processes that have opened it together and the
// threads of each: for atomic mode, and for those who write back what lies between their pieces.
//
// The system's locks belong to an opening of a file and not to a thread, so threads of one process
// take turns. A lock is held around system calls only, never while somebody waits for a message.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "runtime/io/cursor.h"
#include "runtime/io/open_file.h"

namespace lamina::io {

class RangeLocks {
 public:
  // The locks are taken on `own` if it is not null, else on `shared`, which must live as long.
  // Locks that several hold are only for files that can be read.
  RangeLocks(std::unique_ptr<OpenFile> own, OpenFile* shared, bool reads)
      : own_(std::move(own)),
        on_(own_ != nullptr ? own_.get() : shared),
        shares_(own_ != nullptr || reads) {}

  // Waits for the range. Returns a value of errno, and holds nothing if that is not 0.
  int Lock(const Run& range, bool exclusive) {
    turn_.lock();
    const int error = on_->Lock(range.offset, range.bytes, exclusive || !shares_);
    if (error == 0)
      held_ = range;
    else
      turn_.unlock();
    return error;
  }
  int Unlock() {
    const int error = on_->Unlock(held_.offset, held_.bytes);
    turn_.unlock();
    return error;
  }
  // Finds whether another process that has opened the file has locked some of the range.
  int IsLocked(const Run& range, bool* locked) {
    return on_->IsLocked(range.offset, range.bytes, locked);
  }

 private:
  const std::unique_ptr<OpenFile> own_;
  OpenFile* const on_;
  const bool shares_;
  std::mutex turn_;  // held by the thread that holds the range
  Run held_{};       // guarded by turn_
};

}  // namespace lamina::io
