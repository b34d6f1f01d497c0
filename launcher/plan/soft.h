// SPDX-License-Identifier: BSD-3-Clause
// Understands -soft, by which a program says with how many ranks it would be content.
//
// Source: MPI-5.0, section 11.8.4 (info key "soft") and 11.5.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

// The numbers from `first` on in steps of `step`, up or down to `last`.
struct SoftRange {
  std::int64_t first = 1;
  std::int64_t last = 1;
  std::int64_t step = 1;

  friend bool operator==(const SoftRange&, const SoftRange&) = default;
};

// Understands "2,4:16:4,64": commas part numbers and Fortran triplets a:b or a:b:c.
Result<std::vector<SoftRange>> ParseSoft(std::string_view text);

// Returns the largest number of `ranges` from 1 to `most`, or nothing if there is none.
std::optional<std::uint32_t> LargestSoft(const std::vector<SoftRange>& ranges, std::uint32_t most);

}  // namespace lamina::launcher
