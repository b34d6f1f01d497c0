// SPDX-License-Identifier: BSD-3-Clause
// The first bytes of whoever connects to the launcher's door.
#include "launcher/pmix/gatekeeper.h"
#include "runtime/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using lamina::launcher::pmix::Greeting;
  const std::string name = "5e1f0c9a2b7d4e68";
  // Once it is judged, nothing that comes later changes the judgment.
  Greeting before = Greeting::kIncomplete;
  for (std::size_t bytes = 0; bytes <= size; bytes += 1 + bytes / 16) {
    const Greeting now = lamina::launcher::pmix::Judge(data, bytes, name);
    CHECK(before == Greeting::kIncomplete || now == before);
    before = now;
  }
  return 0;
}
