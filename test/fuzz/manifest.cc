// SPDX-License-Identifier: BSD-3-Clause
// Manifests of checkpoints, as they are and with the end that fits what stands before it.
#include "checkpoint/store/manifest.h"

#include <algorithm>

#include "checkpoint/store/checksum.h"
#include "runtime/base/check.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint {
namespace {

void Look(std::string_view text) {
  const Result<Manifest> manifest = ParseManifest(text);
  CHECK(manifest.ok() == manifest.status().message().empty());
  if (!manifest.ok()) return;
  const Result<Manifest> again = ParseManifest(Encode(*manifest));
  CHECK(again.ok() && *again == *manifest);
  static_cast<void>(manifest->Bytes());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Look(text);
  const std::string lines(text.substr(0, text.rfind("end ")));
  Look(lines + Format("end %zu %08x\n", static_cast<std::size_t>(std::ranges::count(lines, '\n')),
                      Checksum(lines)));
  return 0;
}

}  // namespace lamina::checkpoint
