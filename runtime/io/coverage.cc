// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/coverage.h"

#include <algorithm>
#include <bit>

namespace lamina::io::exchange {
namespace {

constexpr std::int64_t kBits = 64;

}  // namespace

void Coverage::Reset(std::int64_t bytes) {
  bytes_ = bytes;
  words_.assign(static_cast<std::size_t>((bytes + kBits - 1) / kBits), 0);
}

void Coverage::Mark(std::int64_t first, std::int64_t bytes) {
  const std::int64_t end = first + bytes;
  while (first < end) {
    const std::int64_t bit = first % kBits;
    const std::int64_t count = std::min(kBits - bit, end - first);
    const std::uint64_t ones = count == kBits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    words_[static_cast<std::size_t>(first / kBits)] |= ones << bit;
    first += count;
  }
}

// Returns the first byte from `from` on that has been given or not, or the end of the window.
std::int64_t Coverage::Find(bool given, std::int64_t from) const {
  while (from < bytes_) {
    const std::uint64_t word = words_[static_cast<std::size_t>(from / kBits)];
    const std::uint64_t rest = (given ? word : ~word) >> (from % kBits);
    if (rest != 0) return std::min(bytes_, from + std::countr_zero(rest));
    from += kBits - from % kBits;
  }
  return bytes_;
}

Run Coverage::Next(std::int64_t from) const {
  const std::int64_t first = Find(true, from);
  return {first, Find(false, first) - first};
}

Run Coverage::Span() const {
  const std::int64_t first = Find(true, 0);
  auto word = static_cast<std::int64_t>(words_.size());
  while (word > 0 && words_[static_cast<std::size_t>(word - 1)] == 0) --word;
  if (word == 0) return {first, 0};
  const int behind = std::countl_zero(words_[static_cast<std::size_t>(word - 1)]);
  return {first, word * kBits - behind - first};
}

}  // namespace lamina::io::exchange
