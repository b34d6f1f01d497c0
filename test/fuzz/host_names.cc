// SPDX-License-Identifier: BSD-3-Clause
// Ranges in host names.
#include "launcher/plan/hostlist.h"
#include "runtime/base/check.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 48) return 0;  // a million long names would only be slow
  const auto names = ExpandHostNames({reinterpret_cast<const char*>(data), size});
  if (!names.ok()) {
    CHECK(!names.status().message().empty());
    return 0;
  }
  CHECK(!names->empty() && names->size() <= kHostsMax);
  if (names->size() > 1000) return 0;
  for (const std::string& name : *names)
    CHECK(!name.empty() && name.find_first_of("[],") == std::string::npos);
  const auto again = ExpandHostNames(FoldHostNames(*names));
  CHECK(again.ok() && *again == *names);
  return 0;
}

}  // namespace lamina::launcher
