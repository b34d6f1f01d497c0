// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/parcel.h"

#include <algorithm>
#include <cstring>

namespace lamina::io::exchange {
namespace {

// Appends a run, which may continue the last strip.
void Append(const Run& run, std::vector<Strip>* strips) {
  if (!strips->empty()) {
    Strip& last = strips->back();
    const std::int64_t gap = run.offset - (last.offset + (last.count - 1) * last.stride);
    if (run.bytes == last.bytes && (last.count == 1 || gap == last.stride)) {
      last.stride = gap;
      ++last.count;
      return;
    }
  }
  strips->push_back({run.offset, run.bytes, 0, 1});
}

std::vector<Strip> StripsOf(const View& view, std::int64_t position, std::int64_t bytes) {
  std::vector<Strip> strips;
  if (bytes == 0) return strips;
  if (view.dense) {
    strips.push_back({view.OffsetAt(position), bytes, 0, 1});
    return strips;
  }
  Cursor cursor = view.Begin(position);
  while (bytes > 0) {
    const Run run = cursor.Next(bytes);
    Append(run, &strips);
    bytes -= run.bytes;
  }
  return strips;
}

}  // namespace

std::vector<std::byte> MakeParcel(const Share& share, const Range& window) {
  const std::int64_t end_position = share.position + share.memory.bytes();
  const std::int64_t first = std::max(share.position, share.view->PositionAt(window.first));
  const std::int64_t end = std::min(end_position, share.view->PositionAt(window.end));
  const std::int64_t bytes = std::max<std::int64_t>(0, end - first);
  const std::vector<Strip> strips = StripsOf(*share.view, first, bytes);
  const Header header{static_cast<std::int64_t>(strips.size()), bytes};
  const std::size_t strip_bytes = strips.size() * sizeof(Strip);
  std::vector<std::byte> parcel(sizeof header + strip_bytes + static_cast<std::size_t>(bytes));
  std::memcpy(parcel.data(), &header, sizeof header);
  if (bytes == 0) return parcel;
  std::memcpy(parcel.data() + sizeof header, strips.data(), strip_bytes);
  datatype::Pack(share.memory, first - share.position,
                 std::span(parcel).subspan(sizeof header + strip_bytes));
  return parcel;
}

bool TakeParcel(std::span<const std::byte> parcel, std::int64_t window_first,
                std::span<std::byte> window, Coverage* coverage) {
  Header header;
  if (parcel.size() < sizeof header) return false;
  std::memcpy(&header, parcel.data(), sizeof header);
  parcel = parcel.subspan(sizeof header);
  const auto room = static_cast<std::int64_t>(parcel.size());
  if (header.strips < 0 || header.strips > room / static_cast<std::int64_t>(sizeof(Strip)))
    return false;
  const std::size_t strip_bytes = static_cast<std::size_t>(header.strips) * sizeof(Strip);
  const std::byte* data = parcel.data() + strip_bytes;
  std::int64_t left = room - static_cast<std::int64_t>(strip_bytes);
  if (left != header.data_bytes) return false;
  const auto window_bytes = static_cast<std::int64_t>(window.size());
  for (std::int64_t i = 0; i < header.strips; ++i) {
    Strip strip;
    std::memcpy(&strip, parcel.data() + static_cast<std::size_t>(i) * sizeof strip, sizeof strip);
    if (strip.bytes <= 0 || strip.count <= 0 || strip.stride < 0) return false;
    std::int64_t at = strip.offset - window_first;
    for (std::int64_t k = 0; k < strip.count; ++k, at += strip.stride) {
      if (at < 0 || strip.bytes > left || at > window_bytes - strip.bytes) return false;
      std::memcpy(window.data() + at, data, static_cast<std::size_t>(strip.bytes));
      coverage->Mark(at, strip.bytes);
      data += strip.bytes;
      left -= strip.bytes;
    }
  }
  return left == 0;
}

}  // namespace lamina::io::exchange
