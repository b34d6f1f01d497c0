// SPDX-License-Identifier: BSD-3-Clause
// Takes the bytes of a fuzzer's input apart. When they are used up, numbers are 0 and texts empty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  // Takes the bytes of a plain value.
  template <class Value>
  Value Take() {
    Value value{};
    const std::string_view bytes = TakeBytes(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::string_view TakeBytes(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  // Takes a text with its length in front, in one byte.
  std::string_view TakeText() { return TakeBytes(Take<std::uint8_t>()); }
  // Takes everything up to the next `end`, which is dropped.
  std::string_view TakeUntil(char end) {
    const std::string_view taken = TakeBytes(std::min(rest_.find(end), rest_.size()));
    rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
    return taken;
  }
  std::string_view Rest() { return TakeBytes(rest_.size()); }
  // Takes the rest as lines.
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    while (!empty()) lines.emplace_back(TakeUntil('\n'));
    return lines;
  }

 private:
  std::string_view rest_;
};

inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace lamina::fuzz
