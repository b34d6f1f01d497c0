// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/parcel.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

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

// The part of a share that lies in a window, in positions of the view.
struct Part {
  std::int64_t first;
  std::int64_t bytes;
};
Part PartOf(const Share& share, const Range& window) {
  const std::int64_t end_position = share.position + share.memory.bytes();
  const std::int64_t first = std::max(share.position, share.view->PositionAt(window.first));
  const std::int64_t end = std::min(end_position, share.view->PositionAt(window.end));
  return {first, std::max<std::int64_t>(0, end - first)};
}

// Calls `act` with the place in the window and the bytes of each run, in order. Returns false at
// the first one that goes beyond the window, or if all do not add up to the data.
template <class Act>
bool ForEachRun(std::span<const std::byte> parcel, std::int64_t window_first,
                std::int64_t window_bytes, const Act& act) {
  Header header;
  if (parcel.size() < sizeof header) return false;
  std::memcpy(&header, parcel.data(), sizeof header);
  parcel = parcel.subspan(sizeof header);
  const auto room = static_cast<std::int64_t>(parcel.size() / sizeof(Strip));
  if (header.strips < 0 || header.strips > room) return false;
  std::int64_t left = header.data_bytes;
  for (std::int64_t i = 0; i < header.strips; ++i) {
    Strip strip;
    std::memcpy(&strip, parcel.data() + static_cast<std::size_t>(i) * sizeof strip, sizeof strip);
    if (strip.bytes <= 0 || strip.count <= 0 || strip.stride < 0) return false;
    std::int64_t at = 0;
    if (__builtin_sub_overflow(strip.offset, window_first, &at)) return false;
    if (strip.count > 1 && strip.stride > window_bytes) return false;
    for (std::int64_t k = 0; k < strip.count; ++k, at += strip.stride) {
      if (at < 0 || strip.bytes > left || at > window_bytes - strip.bytes) return false;
      act(at, strip.bytes);
      left -= strip.bytes;
    }
  }
  return left == 0;
}

// Copies a run. Many are as short as a number.
inline void Copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes == 4)
    std::memcpy(to, from, 4);
  else if (bytes == 8)
    std::memcpy(to, from, 8);
  else
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

void Bytes::Resize(std::size_t bytes, std::size_t kept) {
  if (bytes > room_) {
    auto data = std::make_unique_for_overwrite<std::byte[]>(bytes);
    if (kept > 0) std::memcpy(data.get(), data_.get(), kept);
    data_ = std::move(data);
    room_ = bytes;
  }
  bytes_ = bytes;
}

std::int64_t MakeParcel(const Share& share, const Range& window, bool writes, Bytes* parcel) {
  const Part part = PartOf(share, window);
  const std::vector<Strip> strips = StripsOf(*share.view, part.first, part.bytes);
  const Header header{static_cast<std::int64_t>(strips.size()), part.bytes};
  const std::size_t strip_bytes = strips.size() * sizeof(Strip);
  const std::size_t data_bytes = writes ? static_cast<std::size_t>(part.bytes) : 0;
  parcel->Resize(sizeof header + strip_bytes + data_bytes);
  std::memcpy(parcel->all().data(), &header, sizeof header);
  if (part.bytes == 0) return 0;
  std::memcpy(parcel->all().data() + sizeof header, strips.data(), strip_bytes);
  if (writes)
    datatype::Pack(share.memory, part.first - share.position,
                   parcel->all().subspan(sizeof header + strip_bytes));
  return part.bytes;
}

std::size_t ParcelBytes(std::span<const std::byte> head, bool writes, std::int64_t window_bytes) {
  Header header;
  if (head.size() < sizeof header) return 0;
  std::memcpy(&header, head.data(), sizeof header);
  const bool good = header.strips >= 0 && header.strips <= header.data_bytes &&
                    header.data_bytes >= 0 && header.data_bytes <= window_bytes;
  if (!good) return 0;
  return sizeof header + static_cast<std::size_t>(header.strips) * sizeof(Strip) +
         (writes ? static_cast<std::size_t>(header.data_bytes) : 0);
}

bool TakeParcel(std::span<const std::byte> parcel, std::int64_t window_first,
                std::span<std::byte> window, Coverage* coverage) {
  const auto window_bytes = static_cast<std::int64_t>(window.size());
  if (ParcelBytes(parcel, true, window_bytes) != parcel.size() || parcel.empty()) return false;
  Header header;
  std::memcpy(&header, parcel.data(), sizeof header);
  const std::byte* data = parcel.data() + parcel.size() - header.data_bytes;
  return ForEachRun(parcel, window_first, window_bytes, [&](std::int64_t at, std::int64_t bytes) {
    Copy(window.data() + at, data, bytes);
    coverage->Mark(at, bytes);
    data += bytes;
  });
}

bool MarkParcel(std::span<const std::byte> parcel, std::int64_t window_first,
                std::int64_t window_bytes, Coverage* coverage) {
  if (ParcelBytes(parcel, false, window_bytes) != parcel.size() || parcel.empty()) return false;
  return ForEachRun(parcel, window_first, window_bytes,
                    [coverage](std::int64_t at, std::int64_t bytes) { coverage->Mark(at, bytes); });
}

void MakeAnswer(std::span<const std::byte> parcel, std::int64_t window_first,
                std::span<const std::byte> window, std::int64_t end, Bytes* answer) {
  Header header;
  std::memcpy(&header, parcel.data(), sizeof header);
  const AnswerHeader about{0, end};
  answer->Resize(sizeof about + static_cast<std::size_t>(header.data_bytes));
  std::memcpy(answer->all().data(), &about, sizeof about);
  std::byte* const first = answer->all().data() + sizeof about;
  std::byte* to = first;
  const auto window_bytes = static_cast<std::int64_t>(window.size());
  const std::int64_t there = std::clamp<std::int64_t>(end - window_first, 0, window_bytes);
  ForEachRun(parcel, window_first, window_bytes, [&](std::int64_t at, std::int64_t bytes) {
    bytes = std::min(bytes, there - at);
    if (bytes <= 0) return;
    Copy(to, window.data() + at, bytes);
    to += bytes;
  });
  answer->Resize(sizeof about + static_cast<std::size_t>(to - first));
}

void MakeErrorAnswer(int error_class, Bytes* answer) {
  const AnswerHeader about{error_class, INT64_MAX};
  answer->Resize(sizeof about);
  std::memcpy(answer->all().data(), &about, sizeof about);
}

bool TakeAnswer(std::span<const std::byte> answer, const Share& share, const Range& window,
                std::int64_t* position) {
  AnswerHeader about;
  if (answer.size() < sizeof about) return false;
  std::memcpy(&about, answer.data(), sizeof about);
  answer = answer.subspan(sizeof about);
  const Part part = PartOf(share, window);
  std::int64_t there = 0;
  if (about.error_class == 0) {
    const std::int64_t end = std::clamp(about.end, window.first, window.end);
    there = std::clamp<std::int64_t>(share.view->PositionAt(end) - part.first, 0, part.bytes);
  }
  if (static_cast<std::int64_t>(answer.size()) != there) return false;
  if (there > 0) datatype::Unpack(answer, part.first - share.position, share.memory);
  if (there < part.bytes) *position = std::min(*position, part.first + there);
  return true;
}

}  // namespace lamina::io::exchange
