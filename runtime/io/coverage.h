// SPDX-License-Identifier: BSD-3-Clause
// Remembers which bytes of a window have been given, one bit each, so that holes are told exactly
// whoever has given what.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/io/cursor.h"

namespace lamina::io::exchange {

class Coverage {
 public:
  // Begins a window of this many bytes, of which none has been given.
  void Reset(std::int64_t bytes);
  void Mark(std::int64_t first, std::int64_t bytes);
  // Returns the first run of given bytes that ends behind `from`; it has no bytes if there is none.
  Run Next(std::int64_t from) const;

  // Returns the run from the first given byte to the last one.
  Run Span() const;

 private:
  std::int64_t Find(bool given, std::int64_t from) const;

  std::int64_t bytes_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace lamina::io::exchange
