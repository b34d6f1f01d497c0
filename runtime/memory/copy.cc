// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/memory/copy.h"

namespace lamina::memory {

void CopyFromEnd(std::byte* to, const std::byte* from, std::size_t bytes) {
  typedef std::uint64_t Word __attribute__((vector_size(16)));
  constexpr std::size_t kWord = sizeof(Word);
  const auto load = [from](std::size_t at) {
    Word word;
    std::memcpy(&word, from + at, kWord);
    return word;
  };
  const auto store = [to](std::size_t at, Word word) { std::memcpy(to + at, &word, kWord); };
  std::size_t left = bytes;  // at the front
  while (left >= 4 * kWord) {
    left -= 4 * kWord;
    const Word first = load(left), second = load(left + kWord);
    const Word third = load(left + 2 * kWord), last = load(left + 3 * kWord);
    store(left + 3 * kWord, last);
    store(left + 2 * kWord, third);
    store(left + kWord, second);
    store(left, first);
  }
  std::memcpy(to, from, left);
}

}  // namespace lamina::memory
