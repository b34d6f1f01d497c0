// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/hierarchical/segments.h"

#include <algorithm>

namespace lamina::collective::hierarchical {
namespace {

// Below this a message costs its latency, not its bytes.
constexpr std::int64_t kSegmentBytesMin = 16 << 10;

}  // namespace

Cut CutFor(std::int64_t bytes, const CutLimits& limits,
           const std::function<std::vector<StageTime>(std::int64_t bytes)>& stages) {
  Cut best;
  for (int segments = 1; segments <= limits.segments_max; segments *= 2) {
    if (segments > 1 && bytes / segments < kSegmentBytesMin) break;
    const bool last = segments * 2 > limits.segments_max;
    if (segments > 1 && !last && bytes / segments > limits.segment_bytes_max) continue;
    double all_us = 0, slowest_us = 0;
    for (const StageTime& stage : stages((bytes + segments - 1) / segments)) {
      all_us += stage.all_us;
      slowest_us = std::max(slowest_us, stage.busy_us);
    }
    const double cost_us = all_us + (segments - 1) * slowest_us;
    if (segments == 1 || cost_us < best.cost_us) best = {segments, cost_us};
  }
  return best;
}

}  // namespace lamina::collective::hierarchical
