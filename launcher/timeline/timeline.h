// SPDX-License-Identifier: BSD-3-Clause
// Writes what ranks have recorded as a trace in Perfetto's format, piece by piece.
//
// Pure. The field numbers are those of the published protos/perfetto/trace/trace_packet.proto and
// of what it includes; README.md has them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/trace_table.h"

namespace lamina::launcher {

struct TimelineRank {
  std::uint32_t rank = 0;
  std::string host;
  // This is what the clock of its host is ahead of ours.
  std::int64_t clock_ahead_ns = 0;
  std::uint32_t ranks = 0;  // of the job; messages to and from other jobs are not followed
};

// What is kept of a rank from one piece of its records to the next.
struct TimelineState {
  // What the rank counts, as it was last written; nothing is written that has not changed.
  std::array<std::uint64_t, 5> levels{};
  // The flows that begin and end in the call that comes next, by thread.
  struct Ends {
    std::vector<std::uint64_t> begin, end;
  };
  std::map<std::uint32_t, Ends> flows;
  std::map<std::uint32_t, std::uint32_t> regions;  // how many are open, by thread
  std::uint64_t last_ns = 0;
};

// The packets that name a rank and its threads. They come before those of its records.
std::string TimelineHead(const TimelineRank& rank, const TraceCopy& copy);
// The packets of some of its records.
std::string TimelineSlices(const TimelineRank& rank, std::span<const TraceRecord> records,
                           TimelineState* state);
// The packets that end what is open when there are no more records.
std::string TimelineEnd(const TimelineRank& rank, const TimelineState& state);

}  // namespace lamina::launcher
