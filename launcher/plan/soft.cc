// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/soft.h"

#include <algorithm>

#include "launcher/plan/words.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::int64_t kNumberMax = INT32_MAX;

Result<SoftRange> ParseRange(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view piece : Split(text, ':')) {
    const auto number = ParseInteger(piece);
    if (number && *number >= -kNumberMax && *number <= kNumberMax) numbers.push_back(*number);
  }
  const std::size_t pieces = Split(text, ':').size();
  if (numbers.size() != pieces || pieces > 3)
    return Error(Code::kInvalid, "%s is neither a number nor first:last or first:last:step",
                 Quote(text).c_str());
  SoftRange range;
  range.first = numbers[0];
  range.last = pieces > 1 ? numbers[1] : numbers[0];
  range.step = pieces > 2 ? numbers[2] : 1;
  const bool is_up = range.step > 0 && range.last >= range.first;
  const bool is_down = range.step < 0 && range.last <= range.first;
  if (!is_up && !is_down)
    return Error(Code::kInvalid, "%s does not lead from its first number to its last",
                 Quote(text).c_str());
  return range;
}

}  // namespace

Result<std::vector<SoftRange>> ParseSoft(std::string_view text) {
  std::vector<SoftRange> ranges;
  for (const std::string_view piece : Split(text, ',')) {
    Result<SoftRange> range = ParseRange(Trim(piece));
    if (!range.ok())
      return std::move(range).status().Within(
          Format("character %td", Trim(piece).data() - text.data() + 1));
    ranges.push_back(*range);
  }
  return ranges;
}

std::optional<std::uint32_t> LargestSoft(const std::vector<SoftRange>& ranges, std::uint32_t most) {
  std::int64_t largest = 0;
  for (const SoftRange& range : ranges) {
    const std::int64_t step = range.step > 0 ? range.step : -range.step;
    // The range from its lowest number up; the last one that is reached is the first of those down.
    const std::int64_t low =
        range.step > 0 ? range.first : range.first - (range.first - range.last) / step * step;
    const std::int64_t high = std::min<std::int64_t>(most, std::max(range.first, range.last));
    if (high >= low) largest = std::max(largest, low + (high - low) / step * step);
  }
  if (largest < 1) return std::nullopt;
  return static_cast<std::uint32_t>(largest);
}

}  // namespace lamina::launcher
