// SPDX-License-Identifier: BSD-3-Clause
// Rank files.
#include "launcher/plan/rankfile.h"
#include "runtime/base/check.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto entries = ParseRankfile({reinterpret_cast<const char*>(data), size}, "ranks");
  if (!entries.ok()) {
    for (const char letter : entries.status().message())
      CHECK(static_cast<unsigned char>(letter) >= ' ');
    return 0;
  }
  std::string text;
  for (const RankfileEntry& entry : *entries) {
    const auto places = ParseCpuPlaces(entry.slot);
    CHECK(entry.slot.empty() || places.ok());
    if (places.ok())
      for (const CpuPlace& place : *places) CHECK(place.first <= place.last);
    text += "rank " + std::to_string(entry.rank) + "=" + entry.host;
    text += (entry.slot.empty() ? "" : " slot=" + entry.slot) + "\n";
  }
  const auto again = ParseRankfile(text, "ranks");
  CHECK(again.ok() && again->size() == entries->size());
  for (std::size_t i = 0; i < entries->size(); ++i) {
    CHECK((*again)[i].rank == i && (*entries)[i].rank == i);
    CHECK((*again)[i].host == (*entries)[i].host && (*again)[i].slot == (*entries)[i].slot);
  }
  return 0;
}

}  // namespace lamina::launcher
