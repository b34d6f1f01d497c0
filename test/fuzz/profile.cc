// SPDX-License-Identifier: BSD-3-Clause
// What a rank has counted, as a shepherd tells it. What is understood becomes a page and its files.
#include "launcher/profile/profile.h"

#include "launcher/profile/report.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  JobProfile profile;
  profile.ranks.resize(2);
  if (!DecodeRank(input.Rest(), &profile.ranks[0])) {
    CHECK(!profile.ranks[0].uses_mpi);
    return 0;
  }
  CHECK(ProfilePage(profile).ends_with("</html>\n"));
  CHECK(ProfileJson(profile).ends_with("}\n"));
  // Whatever a rank says, a line has seven columns.
  std::size_t columns = 0;
  for (const char letter : MatrixCsv(profile)) {
    if (letter == ',') ++columns;
    if (letter != '\n') continue;
    CHECK(columns == 6);
    columns = 0;
  }
  return 0;
}

}  // namespace lamina::launcher
