// SPDX-License-Identifier: BSD-3-Clause
// Long data go through the stages in segments, so that one stage moves a segment while the next one
// moves the segment before it. Segments are dealt out to a few strands.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/collective.h"
#include "collectives/hierarchical/tuning.h"
#include "collectives/pieces/blocks.h"

namespace lamina::collective::hierarchical {

// A rank that waits at a board cannot work on another strand, so plans with boards have only one.
inline int StrandsOf(const Call& call) { return call.board ? 1 : kStrandsMax; }

struct CutLimits {
  int segments_max;
  std::int64_t segment_bytes_max;  // gives way if there would be more segments than that
};

struct Cut {
  int segments = 1;
  double cost_us = 0;
};

// How long a stage works on one segment.
struct StageTime {
  double all_us;   // until the segment has passed
  double busy_us;  // until the next one may follow
};
inline StageTime Whole(double us) { return {us, us}; }
// The time of two stages that the same rank, or the same CPUs, work for one after the other.
inline StageTime operator+(const StageTime& a, const StageTime& b) {
  return {a.all_us + b.all_us, a.busy_us + b.busy_us};
}

// Finds the number of segments with which `bytes` pass the stages soonest. `stages` predicts the
// time of each stage for a segment of the given length. The first segment passes all stages; each
// further one follows as soon as the slowest stage is free.
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
