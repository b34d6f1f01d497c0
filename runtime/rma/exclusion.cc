// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/exclusion.h"

#include "runtime/memory/sealed_memory.h"
#include "runtime/rma/tuning.h"
#include "runtime/trace/trace.h"
#include "runtime/waiting/waiting.h"

namespace lamina::rma {

bool Exclusion::TakeAmongOthers(std::uint32_t zone) {
  trace::Count(trace::Counter::kZoneWaits);
  for (std::uint32_t looks = 1;; ++looks) {
    std::uint32_t holder = zones_[zone].load(std::memory_order_relaxed);
    if (holder == 0 &&
        zones_[zone].compare_exchange_weak(holder, Mark(), std::memory_order_acquire))
      return true;
    if (looks < kZoneLooksBeforeYield) {
      waiting::Pause();
      continue;
    }
    waiting::Yield();
    if (looks % kYieldsPerLookAround == 0 && holder != 0 && holder <= block_->members() &&
        !memory::IsRunning(block_->member(holder - 1).pid))
      return false;
  }
}

}  // namespace lamina::rma
