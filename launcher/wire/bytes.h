// SPDX-License-Identifier: BSD-3-Clause
// Turns numbers and texts into bytes and back: little endian, lengths in front, every length
// checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lamina::launcher::wire {

class Writer {
 public:
  Writer& U8(std::uint8_t value) { return Number(value, 1); }
  Writer& U16(std::uint16_t value) { return Number(value, 2); }
  Writer& U32(std::uint32_t value) { return Number(value, 4); }
  Writer& U64(std::uint64_t value) { return Number(value, 8); }
  // Writes a 32-bit count of bytes, and the bytes.
  Writer& Text(std::string_view text) {
    U32(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  Writer& Raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  Writer& Number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
    return *this;
  }
  std::string bytes_;
};

// Reads what a Writer wrote. Once something does not fit, everything further is 0 or empty and
// ok() is false for ever; so a decoder reads on and looks once, at the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t U8() { return static_cast<std::uint8_t>(Number(1)); }
  std::uint16_t U16() { return static_cast<std::uint16_t>(Number(2)); }
  std::uint32_t U32() { return static_cast<std::uint32_t>(Number(4)); }
  std::uint64_t U64() { return Number(8); }
  // The result points into what is read.
  std::string_view Text() { return Take(U32()); }
  std::string_view Rest() { return Take(rest_.size()); }
  // Returns how many elements follow, each of at least `bytes_min` bytes. A count that cannot be
  // true is an error before anybody reserves memory for it.
  std::uint32_t Count(std::size_t bytes_min) {
    const std::uint32_t count = U32();
    if (count <= rest_.size() / bytes_min) return count;
    ok_ = false;
    return 0;
  }
  bool ok() const { return ok_; }
  // True if all of it was understood and nothing is left over.
  bool complete() const { return ok_ && rest_.empty(); }

 private:
  std::string_view Take(std::size_t bytes) {
    if (!ok_ || bytes > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::uint64_t Number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::string_view taken = Take(bytes);
    for (std::size_t i = 0; i < taken.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
    return value;
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace lamina::launcher::wire
