// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of `lamina tune` print, and behind a zero byte the parameter file it goes into.
#include "launcher/tune/tune.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const auto values = ParseMeasured(input.TakeUntil('\0'));
  if (!values.ok()) {
    CHECK(!values.status().message().empty());
    return 0;
  }
  CHECK(!values->empty());
  const std::string merged = Merge(input.Rest(), *values);
  CHECK(Merge(merged, *values) == merged);  // a second time changes nothing
  return 0;
}

}  // namespace lamina::launcher
