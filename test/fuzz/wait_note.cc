// SPDX-License-Identifier: BSD-3-Clause
// What a rank has noted that it waits for, as a shepherd tells it, and what is said of it.
#include "runtime/base/wait_note.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "launcher/why/why.h"
#include "runtime/base/check.h"
#include "runtime/base/text.h"
#include "test/fuzz/input.h"

namespace lamina::launcher {

// Three ranks, of which one has not noted anything.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t first = input.Take<std::uint16_t>();
  const std::string_view rest = input.Rest();
  const std::size_t middle = std::min(first, rest.size());
  std::vector<RankView> views(3);
  for (RankView& view : views) {
    view.phase = Phase::kInitialized;
    view.call = "MPI_Testall";
    view.inside = true;
  }
  views[0].wait = DecodeWaitNote(rest.substr(0, middle));
  views[1].wait = DecodeWaitNote(rest.substr(middle));
  // A job that large takes its time and does nothing else.
  for (RankView& view : views)
    for (NotedComm& comm : view.wait.comms) comm.size = std::min(comm.size, 1024u);
  for (const RankView& view : views) {
    CHECK(view.wait.state <= WaitNote::kTests);
    for (const NotedEntry& entry : view.wait.entries)
      CHECK(entry.comm < view.wait.comms.size() || entry.comm == NotedEntry::kNoComm);
    CHECK(!DoesWords(view, views.size()).empty());
  }
  CHECK(!ExplainWaits(views, 1000, true).empty());
  return 0;
}

}  // namespace lamina::launcher
