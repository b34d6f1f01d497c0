// SPDX-License-Identifier: BSD-3-Clause
// What a rank has recorded, as a shepherd tells it. What is understood is written as a trace, which
// is read again.
#include "launcher/timeline/reader.h"
#include "launcher/timeline/timeline.h"
#include "runtime/base/check.h"
#include "runtime/base/trace_table.h"
#include "test/fuzz/input.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const TraceCopy copy = DecodeTrace(input.Rest());
  const TraceCopy again = DecodeTrace(Encode(copy));
  CHECK(again.lost == copy.lost && again.keeps_first == copy.keeps_first &&
        again.regions == copy.regions && again.records.size() == copy.records.size());
  const TimelineRank rank{3, "node", 77, 8};
  TimelineState state;
  std::string written = TimelineHead(rank, copy) + TimelineSlices(rank, copy.records, &state);
  written += TimelineEnd(rank, state);
  std::size_t begun = 0;
  std::size_t ended = 0;
  TraceReader reader({[](const TraceTrack&) {},
                      [&](const TraceTrack&, const TraceEvent& event) {
                        if (event.kind == TraceEvent::Kind::kBegin) ++begun;
                        if (event.kind == TraceEvent::Kind::kEnd) ++ended;
                      }});
  const auto taken = reader.Take(written);
  CHECK(taken.ok() && *taken == written.size());
  CHECK(begun == ended && begun <= copy.records.size());
  return 0;
}

}  // namespace lamina::launcher
