// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/hang_watch.h"

#include <cstddef>

#include "launcher/supervise/tuning.h"

namespace lamina::launcher {

HangWatch::Hang HangWatch::Look(std::uint64_t now_ms, std::span<const RankView> ranks) {
  // This process was stopped as well, perhaps with the whole job, or has had no CPU.
  if (now_ms - last_ms_ > kHangLookLateMs) Forget();
  last_ms_ = now_ms;
  seen_.resize(ranks.size());
  bool any = false;
  bool all = true;
  bool some_test = false;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankView& view = ranks[rank];
    Seen& seen = seen_[rank];
    const bool waits = view.running && view.wait.state != WaitNote::kNone;
    if (!seen.waits || !waits || seen.since_ms != view.wait.since_ms)
      seen = {.waits = waits, .since_ms = view.wait.since_ms, .first_ms = now_ms};
    some_test = some_test || (waits && view.wait.state == WaitNote::kTests);
    if (waits && !view.stopped && now_ms - seen.first_ms >= limit_ms_)
      any = true;
    else if (view.running && view.phase != Phase::kFinalized)
      all = false;
  }
  if (!any || !all) return Hang::kNot;
  return some_test ? Hang::kSeems : Hang::kSurely;
}

}  // namespace lamina::launcher
