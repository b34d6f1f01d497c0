// SPDX-License-Identifier: BSD-3-Clause
// A file that `lamina trace` is given.
#include "launcher/timeline/reader.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view bytes = input.Rest();
  std::size_t open = 0;
  TraceReader reader({[](const TraceTrack&) {},
                      [&open](const TraceTrack&, const TraceEvent& event) {
                        if (event.kind == TraceEvent::Kind::kBegin) ++open;
                        if (event.kind != TraceEvent::Kind::kEnd) return;
                        CHECK(open > 0);
                        --open;
                      }});
  const auto taken = reader.Take(bytes);
  CHECK(!taken.ok() || *taken <= bytes.size());
  return 0;
}

}  // namespace lamina::launcher
