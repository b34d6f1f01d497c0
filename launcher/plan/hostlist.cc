// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/hostlist.h"

#include <algorithm>
#include <utility>

#include "launcher/plan/words.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kDigitsMax = 18;

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() <= kDigitsMax &&
         text.find_first_not_of("0123456789") == text.npos;
}

std::string Padded(std::int64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

// Expands a list of numbers and ranges like "01-16,20".
Result<std::vector<std::string>> ExpandNumbers(std::string_view inside, std::string_view name) {
  std::vector<std::string> numbers;
  for (const std::string_view piece : Split(inside, ',')) {
    const std::size_t dash = piece.find('-');
    const std::string_view first = piece.substr(0, dash);
    const std::string_view last = dash == piece.npos ? first : piece.substr(dash + 1);
    if (!IsNumber(first) || !IsNumber(last))
      return Error(Code::kInvalid, "%s: %s is not a number or a range", Quote(name).c_str(),
                   Quote(piece).c_str());
    const std::int64_t begin = *ParseInteger(first);
    const std::int64_t end = *ParseInteger(last);
    if (end < begin)
      return Error(Code::kInvalid, "%s: the range %s runs backwards", Quote(name).c_str(),
                   Quote(piece).c_str());
    if (static_cast<std::uint64_t>(end - begin) >= kHostsMax - numbers.size())
      return Error(Code::kInvalid, "%s stands for more than %zu hosts", Quote(name).c_str(),
                   kHostsMax);
    for (std::int64_t number = begin; number <= end; ++number)
      numbers.push_back(Padded(number, first.size()));
  }
  return numbers;
}

// The parts of a name are like "node", "007" and ".east". Without digits the number is empty.
struct Parts {
  std::string_view before;
  std::string_view number;
  std::string_view after;
};

Parts PartsOf(std::string_view name) {
  const std::size_t label = std::min(name.find('.'), name.size());
  const std::size_t last = name.substr(0, label).find_last_of("0123456789");
  if (last == name.npos) return {name, {}, {}};
  std::size_t first = last;
  while (first > 0 && IsNumber(name.substr(first - 1, 1)) && last - first + 2 <= kDigitsMax)
    --first;
  return {name.substr(0, first), name.substr(first, last + 1 - first), name.substr(last + 1)};
}

}  // namespace

std::string FoldHostNames(const std::vector<std::string>& names) {
  std::string folded;
  for (std::size_t i = 0; i < names.size();) {
    const Parts head = PartsOf(names[i]);
    std::string inside;
    std::size_t next = i;
    while (next < names.size()) {
      const Parts parts = PartsOf(names[next]);
      if (parts.number.empty() || parts.before != head.before || parts.after != head.after) break;
      std::size_t last = next;  // of a run of numbers that follow one another
      while (last + 1 < names.size()) {
        const Parts more = PartsOf(names[last + 1]);
        const std::string wanted =
            Padded(*ParseInteger(PartsOf(names[last]).number) + 1, parts.number.size());
        if (more.number != wanted || more.before != head.before || more.after != head.after) break;
        ++last;
      }
      inside += (inside.empty() ? "" : ",") + std::string(parts.number);
      if (last > next) inside += "-" + std::string(PartsOf(names[last]).number);
      next = last + 1;
    }
    folded += folded.empty() ? "" : ",";
    if (next <= i + 1) {
      folded += names[i];
      next = i + 1;
    } else {
      folded += std::string(head.before) + "[" + inside + "]" + std::string(head.after);
    }
    i = next;
  }
  return folded;
}

std::vector<std::string_view> SplitOutsideBrackets(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    inside = text[i] == '[' || (inside && text[i] != ']');
    if (text[i] != ',' || inside) continue;
    pieces.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

Result<std::vector<std::string>> ExpandHostName(std::string_view name) {
  std::vector<std::string> names = {""};
  std::string_view rest = name;
  while (!rest.empty()) {
    const std::size_t open = std::min(rest.find('['), rest.size());
    const std::string_view literal = rest.substr(0, open);
    if (literal.find(']') != literal.npos)
      return Error(Code::kInvalid, "%s: a ] without its [", Quote(name).c_str());
    for (std::string& each : names) each += literal;
    rest.remove_prefix(open);
    if (rest.empty()) break;
    const std::size_t close = rest.find(']');
    if (close == rest.npos)
      return Error(Code::kInvalid, "%s: a [ without its ]", Quote(name).c_str());
    Result<std::vector<std::string>> numbers = ExpandNumbers(rest.substr(1, close - 1), name);
    if (!numbers.ok()) return numbers;
    if (names.size() * numbers->size() > kHostsMax)
      return Error(Code::kInvalid, "%s stands for more than %zu hosts", Quote(name).c_str(),
                   kHostsMax);
    std::vector<std::string> longer;
    longer.reserve(names.size() * numbers->size());
    for (const std::string& each : names)
      for (const std::string& number : *numbers) longer.push_back(each + number);
    names = std::move(longer);
    rest.remove_prefix(close + 1);
  }
  return names;
}

Result<std::vector<std::string>> ExpandHostNames(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view piece : SplitOutsideBrackets(list)) {
    if (piece.empty()) return Error(Code::kInvalid, "an empty name in %s", Quote(list).c_str());
    Result<std::vector<std::string>> expanded = ExpandHostName(piece);
    if (!expanded.ok()) return expanded;
    if (names.size() + expanded->size() > kHostsMax)
      return Error(Code::kInvalid, "%s stands for more than %zu hosts", Quote(list).c_str(),
                   kHostsMax);
    names.insert(names.end(), expanded->begin(), expanded->end());
  }
  return names;
}

}  // namespace lamina::launcher
