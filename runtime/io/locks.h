// SPDX-License-Identifier: BSD-3-Clause
// Locks on ranges of one open file, between the processes that have opened it together and the
// threads of each.
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
  RangeLocks(std::unique_ptr<OpenFile> own, OpenFile* shared)
      : own_(std::move(own)), on_(own_ != nullptr ? own_.get() : shared) {}

  // Waits for the range. Returns a value of errno, and holds nothing if that is not 0.
  int Lock(const Run& range, bool exclusive) {
    turn_.lock();
    const int error = on_->Lock(range.offset, range.bytes, exclusive);
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

 private:
  const std::unique_ptr<OpenFile> own_;
  OpenFile* const on_;
  std::mutex turn_;  // held by the thread that holds the range
  Run held_{};       // guarded by turn_
};

}  // namespace lamina::io
