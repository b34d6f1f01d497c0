// SPDX-License-Identifier: BSD-3-Clause
// Long data go through the stages in segments, so that one stage moves a segment while the next one
// moves the segment before. Segments are dealt out to a few strands.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/collective.h"
#include "collectives/hierarchical/tuning.h"
#include "collectives/pieces/blocks.h"

namespace lamina::collective::hierarchical {

// Whoever waits at a board does nothing else meanwhile.
inline int StrandsOf(const Call& call) { return call.board ? 1 : kStrandsMax; }

struct CutLimits {
  int segments_max;
  std::int64_t segment_bytes_max;  // as long as segments_max allows
};

struct Cut {
  int segments = 1;
  double cost_us = 0;
};

// What a stage takes for one segment.
struct StageTime {
  double all_us;   // until it has passed
  double busy_us;  // until the next one may follow
};
inline StageTime Whole(double us) { return {us, us}; }
// One rank, or the CPUs of one node, work for both.
inline StageTime operator+(const StageTime& a, const StageTime& b) {
  return {a.all_us + b.all_us, a.busy_us + b.busy_us};
}

// The number of segments with which `bytes` pass the stages soonest. The first segment passes all
// stages; each further one follows as soon as the slowest stage is free.
Cut CutFor(std::int64_t bytes, const CutLimits& limits,
           const std::function<std::vector<StageTime>(std::int64_t bytes)>& stages);

// Calls `plan(first, count, strand)` for each segment of `elements`, strand by strand.
template <class PlanSegment>
void EachSegment(std::int64_t elements, int segments, int strands_max, Schedule* schedule,
                 PlanSegment plan) {
  const int strands = segments < strands_max ? segments : strands_max;
  const Blocks blocks(elements, segments);
  for (int strand = 0; strand < strands; ++strand) {
    for (int segment = strand; segment < segments; segment += strands)
      if (const std::int64_t count = blocks.Count(segment, segment + 1); count > 0)
        plan(blocks.Begin(segment), count, strand);
    if (strands > 1) schedule->EndStrand();
  }
}

}  // namespace lamina::collective::hierarchical
