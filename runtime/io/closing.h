// SPDX-License-Identifier: BSD-3-Clause
// How a nonblocking collective access ends: its ranks agree on the first failure, as in agree.h,
// but by messages of their own, because other collectives of the file may have begun meanwhile, not
// at the same moment on all ranks.
//
// Cost: a message to and from each rank but one, along a binomial tree.
#pragma once

#include <memory>
#include <vector>

#include "runtime/core/activity.h"
#include "runtime/core/comm.h"
#include "runtime/core/request.h"
#include "runtime/io/agree.h"

namespace lamina::io {

// Threads: the caller holds the library lock.
class Closing {
 public:
  // `tag` and the next one belong to this access alone. `watcher` is notified when a message ends.
  Closing(core::Comm* comm, int tag, const Failure& mine, core::Activity* watcher);
  // Goes on as far as it can, and returns true when it is over.
  bool Step();
  Failure result() const { return ResultOf(verdict_); }

 private:
  void Post(Rank peer, int tag, Verdict* verdict, bool sends);
  bool AllOver() const;
  void Clear();

  core::Comm* const comm_;
  const int tag_;
  core::Activity* const watcher_;
  enum class Stage { kBelow, kAbove, kTell, kOver } stage_ = Stage::kBelow;
  Verdict verdict_;
  std::vector<Rank> children_;
  std::vector<std::unique_ptr<Verdict>> theirs_;
  std::vector<core::Request*> requests_;
  Verdict above_;
};

}  // namespace lamina::io
