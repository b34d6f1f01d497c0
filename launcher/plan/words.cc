// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/words.h"

#include <algorithm>

namespace lamina::launcher {

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t\r\f\v";
  while (true) {
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == line.npos) return words;
    line.remove_prefix(first);
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string Quote(std::string_view text) {
  constexpr std::size_t kLettersMax = 60;
  std::string quoted = "\"";
  for (const char letter : text.substr(0, kLettersMax))
    quoted += letter >= ' ' && letter != 127 ? letter : '?';
  return quoted + (text.size() > kLettersMax ? "...\"" : "\"");
}

}  // namespace lamina::launcher
