// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/layout.h"

#include <algorithm>

#include "runtime/memory/sealed_memory.h"

namespace lamina::rma {

SharedLayout LayOut(std::span<const std::int64_t> sizes, Arrangement arrangement,
                    std::size_t alignment) {
  const std::int64_t grain =
      arrangement == Arrangement::kPages
          ? static_cast<std::int64_t>(std::max(memory::kPageBytes, alignment))
          : 1;
  SharedLayout layout;
  std::int64_t end = 0;
  for (const std::int64_t size : sizes) {
    layout.offsets.push_back(static_cast<std::size_t>(end));
    std::int64_t rounded = 0;
    layout.fits = layout.fits && !__builtin_add_overflow(size, grain - 1, &rounded) &&
                  !__builtin_add_overflow(end, rounded / grain * grain, &end);
    if (!layout.fits) return layout;
  }
  layout.bytes = static_cast<std::size_t>(end);
  return layout;
}

}  // namespace lamina::rma
