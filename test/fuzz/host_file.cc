// SPDX-License-Identifier: BSD-3-Clause
// Hosts as a user names them: in a file, or, behind a first byte '-', on the command line.
#include "launcher/plan/hosts.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto hosts =
      text.starts_with('-') ? ParseHostList(text.substr(1)) : ParseHostFile(text, "hosts");
  if (!hosts.ok()) {
    // A message is for a terminal, whatever was in the file.
    CHECK(!hosts.status().message().empty());
    for (const char letter : hosts.status().message())
      CHECK(static_cast<unsigned char>(letter) >= ' ');
    return 0;
  }
  for (const HostEntry& host : *hosts) {
    CHECK(!host.name.empty() && host.name.front() != '-');
    CHECK(host.name.find_first_of(" \t\r\n@[]=#,") == std::string::npos);
    CHECK(!host.slots || (*host.slots >= 1 && *host.slots <= kSlotsMax));
  }
  const std::vector<HostEntry> merged = MergeHosts(*hosts);
  CHECK(!merged.empty() && merged.size() <= hosts->size());
  CHECK(MergeHosts(merged).size() == merged.size());
  for (const std::string& remark : UnknownKeys(*hosts))
    for (const char letter : remark) CHECK(static_cast<unsigned char>(letter) >= ' ');
  return 0;
}

}  // namespace lamina::launcher
