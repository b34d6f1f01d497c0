// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/limits.h"

#include <utility>

#include "launcher/supervise/tuning.h"
#include "runtime/base/clock.h"

namespace lamina::launcher {

Limits::Limits(event_base* loop, const SuperviseParams& params, std::uint64_t timeout_ms,
               Moments moments)
    : params_(params),
      timeout_(loop, std::move(moments.timed_out)),
      hint_(loop, std::move(moments.hint)),
      grace_(loop, std::move(moments.grace_over)),
      drain_(loop, [this, drain = std::move(moments.drain)] {
        drain_.Set(kDrainMs);
        drain();
      }) {
  if (timeout_ms > 0) timeout_.Set(timeout_ms);
}

void Limits::Interrupted() {
  if (params_.hint_ms > 0) hint_.Set(params_.hint_ms);
}

void Limits::ToldToEnd() { told_to_end_ms_ = MonotonicMs(); }

bool Limits::StillEnding() const {
  return told_to_end_ms_ != 0 && MonotonicMs() - told_to_end_ms_ <= params_.grace_ms;
}

void Limits::EndingBegins() { grace_.Set(params_.grace_ms); }

void Limits::DrainingBegins() {
  timeout_.Clear();
  hint_.Clear();
  grace_.Clear();
  drain_.Set(kDrainMs);
}

}  // namespace lamina::launcher
