// SPDX-License-Identifier: BSD-3-Clause
// A parcel is what one rank sends to an aggregator for one window: a header, strips that say where
// the data goes, and the data. README.md of this folder has its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/datatype/datatype.h"
#include "runtime/io/coverage.h"
#include "runtime/io/table.h"
#include "runtime/io/view.h"

namespace lamina::io::exchange {

// A strip is a regular row of equal runs.
struct Strip {
  std::int64_t offset;  // of the first run, in the file
  std::int64_t bytes;   // of each run
  std::int64_t stride;  // from one run to the next
  std::int64_t count;   // of runs
};
struct Header {
  std::int64_t strips;
  std::int64_t data_bytes;
};

// Says what a rank writes: the data of `memory` from `position` of the view on. Memory is in the
// representation of the file.
struct Share {
  const View* view;
  std::int64_t position;
  datatype::Buffer memory;
};

// Makes the parcel for a window; it has no strips if the share has no data there.
std::vector<std::byte> MakeParcel(const Share& share, const Range& window);

// Puts the data of a parcel into a window that begins at `window_first`, and marks it. Returns
// false, having done what it could, if the parcel does not make sense or goes beyond the window.
bool TakeParcel(std::span<const std::byte> parcel, std::int64_t window_first,
                std::span<std::byte> window, Coverage* coverage);

}  // namespace lamina::io::exchange
