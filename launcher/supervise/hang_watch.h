// SPDX-License-Identifier: BSD-3-Clause
// Finds out that a job hangs: each rank that runs waits in MPI, and none has gone on for so long.
//
// A wait is measured by the looks that saw it, because clocks of hosts may differ and the job may
// have been stopped in the meantime.
//
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "launcher/why/why.h"

namespace lamina::launcher {

class HangWatch {
 public:
  explicit HangWatch(std::uint64_t limit_ms) : limit_ms_(limit_ms) {}

  // kSeems: some rank only tests again and again, and may compute between its tests.
  enum class Hang : std::uint8_t { kNot, kSeems, kSurely };
  // To be called every kLookForHangMs.
  Hang Look(std::uint64_t now_ms, std::span<const RankView> ranks);
  // The ranks stand still because somebody wants that, so what was seen does not count.
  void Forget() { seen_.clear(); }

 private:
  struct Seen {
    bool waits = false;
    std::uint64_t since_ms = 0;  // what the rank says, by the clock of its host
    std::uint64_t first_ms = 0;  // the look that saw this wait first
  };
  const std::uint64_t limit_ms_;
  std::uint64_t last_ms_ = 0;  // the last look
  std::vector<Seen> seen_;     // by rank
};

}  // namespace lamina::launcher
