// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/shared/participant.h"

namespace lamina::collective::shared {

bool Participant::AwaitLaggards(Number needed) {
  Number least = number_ - 1;
  for (Rank other = 0; other < ranks(); ++other) {
    if (other == rank_) continue;
    const std::atomic<Number>& finished = board_.member(other).finished;
    if (!Await(finished, needed)) return false;
    least = std::min(least, finished.load(std::memory_order_acquire));
  }
  finished_by_all_ = std::max(finished_by_all_, least);
  return true;
}

void Participant::WakeSleepers() {
  for (Rank other = 0; other < ranks(); ++other)
    if (other != rank_ && board_.member(other).asleep.load(std::memory_order_relaxed) != 0)
      patience_.Wake(other);
}

}  // namespace lamina::collective::shared
