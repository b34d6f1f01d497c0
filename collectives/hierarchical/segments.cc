// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/hierarchical/segments.h"

#include <algorithm>

namespace lamina::collective::hierarchical {

Cut CutFor(std::int64_t bytes, const CutLimits& limits,
           const std::function<std::vector<StageTime>(std::int64_t bytes)>& stages) {
  Cut best{0, 0};
  const auto consider = [&](std::int64_t segments) {
    double all_us = 0, slowest_us = 0;
    for (const StageTime& stage : stages((bytes + segments - 1) / segments)) {
      all_us += stage.all_us;
      slowest_us = std::max(slowest_us, stage.busy_us);
    }
    const double cost_us = all_us + static_cast<double>(segments - 1) * slowest_us;
    if (best.segments == 0 || cost_us < best.cost_us) best = {static_cast<int>(segments), cost_us};
  };
  const std::int64_t fewest =
      std::min<std::int64_t>((bytes - 1) / limits.segment_bytes_max + 1, limits.segments_max);
  consider(fewest);
  for (std::int64_t segments = 2 * fewest;
       segments <= limits.segments_max && bytes / segments >= kSegmentBytesMin; segments *= 2)
    consider(segments);
  return best;
}

}  // namespace lamina::collective::hierarchical
