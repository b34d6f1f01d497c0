// SPDX-License-Identifier: BSD-3-Clause
// Writes what ranks have recorded as a trace in Perfetto's format, piece by piece.
//
// Pure. The field numbers are those of the published protos/perfetto/trace/trace_packet.proto and
// of what it includes; README.md has them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/trace_table.h"

namespace lamina::launcher {

struct TimelineRank {
  std::uint32_t rank = 0;
  std::string host;
  // This is what the clock of its host is ahead of ours.
  std::int64_t clock_ahead_ns = 0;
  std::uint64_t lost = 0;  // records
};

// What a rank counts, as it was last written; nothing is written that has not changed.
using TimelineLevels = std::array<std::uint64_t, 3>;

// The packets that name a rank and its threads. They come before those of its records.
std::string TimelineHead(const TimelineRank& rank, std::span<const TraceRecord> records);
// The packets of some of its records. `levels` is kept from one call to the next, and zero at
// first.
std::string TimelineSlices(const TimelineRank& rank, std::span<const TraceRecord> records,
                           TimelineLevels* levels);

}  // namespace lamina::launcher
