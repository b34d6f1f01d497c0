// SPDX-License-Identifier: BSD-3-Clause
// What a launcher answers `lamina top`, as it is shown.
#include "launcher/top/view.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t lines = input.Take<std::uint8_t>();
  const std::size_t columns = input.Take<std::uint8_t>();
  const auto column =
      static_cast<TopColumn>(input.Take<std::uint8_t>() % static_cast<unsigned>(TopColumn::kCount));
  const auto samples = DecodeUsageAnswer(input.Rest());
  if (!samples.ok()) return 0;
  TopView view;
  view.rows = RowsOf(*samples, *samples);
  SortRows(column, lines % 2 == 0, &view.rows);
  view.column = column;
  CHECK(ScreenOf(view, lines, columns).size() == lines);
  CHECK(JsonOf("\"a\": 1", view.rows).find('\n') == std::string::npos);
  return 0;
}

}  // namespace lamina::launcher
