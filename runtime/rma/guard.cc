// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/guard.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "runtime/base/read_file.h"

namespace lamina::rma {

// A line is "BEGIN-END rwxp ...", with addresses without 0x.
void Guard::Take(std::string_view maps) {
  Forget();
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    Range range{};
    const char* const stop = line.data() + line.size();
    const auto begin = std::from_chars(line.data(), stop, range.begin, 16);
    if (begin.ptr == stop || *begin.ptr != '-') continue;
    const auto end = std::from_chars(begin.ptr + 1, stop, range.end, 16);
    if (stop - end.ptr < 3 || *end.ptr != ' ') continue;
    const auto add = [&range](std::vector<Range>* ranges) {
      if (!ranges->empty() && ranges->back().end == range.begin)
        ranges->back().end = range.end;
      else
        ranges->push_back(range);
    };
    if (end.ptr[1] == 'r') add(&readable_);
    if (end.ptr[2] == 'w') add(&writable_);
  }
}

bool Guard::Holds(std::uint64_t begin, std::uint64_t end, Right right) const {
  const std::vector<Range>& ranges = right == Right::kRead ? readable_ : writable_;
  const auto behind = std::ranges::upper_bound(ranges, begin, {}, &Range::begin);
  return behind != ranges.begin() && end <= std::prev(behind)->end;
}

bool Guard::Allows(const void* address, std::size_t bytes, Right right) {
  const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(address), end = begin + bytes;
  if (Holds(begin, end, right)) return true;
  const std::optional<std::string> maps = ReadFile("/proc/self/maps");
  if (!maps || maps->empty()) return true;
  Take(*maps);
  return Holds(begin, end, right);
}

}  // namespace lamina::rma
