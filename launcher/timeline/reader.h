// SPDX-License-Identifier: BSD-3-Clause
// Reads a trace that TimelineHead and TimelineSlices have written, packet by packet, in memory that
// does not grow with the trace.
//
// A TraceReader is pure; nothing in what it reads is believed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

// A rank (thread 0), one of its threads, or one of its counters.
struct TraceTrack {
  enum class Kind : std::uint8_t { kRank, kThread, kCounter };
  Kind kind = Kind::kRank;
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
  std::string name;
};

struct TraceEvent {
  enum class Kind : std::uint8_t { kBegin, kEnd, kCounter };
  Kind kind = Kind::kBegin;
  std::uint64_t time_ns = 0;
  std::string_view name;   // of what begins or ends, or of the counter
  std::int64_t value = 0;  // of the counter
  std::vector<std::pair<std::string_view, std::uint64_t>> notes;
  // Messages that leave in what begins, or that have been received in what ends.
  std::vector<std::uint64_t> flows;
};

class TraceReader {
 public:
  struct Outlets {
    std::function<void(const TraceTrack&)> track;
    std::function<void(const TraceTrack&, const TraceEvent&)> event;
  };
  explicit TraceReader(Outlets outlets) : outlets_(std::move(outlets)) {}

  // Takes whole packets from the front of `bytes` and says how many bytes these were. kInvalid:
  // that is no such trace.
  Result<std::size_t> Take(std::string_view bytes);

 private:
  bool TakePacket(std::string_view packet);
  bool TakeNames(std::uint64_t sequence, std::string_view interned);
  bool TakeTrack(std::string_view descriptor);
  bool TakeEvent(std::uint64_t sequence, std::uint64_t time_ns, std::string_view event);

  const Outlets outlets_;
  std::map<std::uint64_t, TraceTrack> tracks_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> names_;  // by sequence and number
  std::map<std::uint64_t, std::vector<std::string>> open_;  // by track: what has begun
};

// Reads all of a file. Errors name it.
Status ReadTrace(const std::string& path, TraceReader* reader);

}  // namespace lamina::launcher
