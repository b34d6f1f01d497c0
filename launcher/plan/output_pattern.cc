// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/output_pattern.h"

namespace lamina::launcher {

Status CheckPattern(std::string_view pattern) {
  if (pattern.empty()) return Error(Code::kInvalid, "no file named");
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    ++i;
    if (i == pattern.size() || std::string_view("rhpg%").find(pattern[i]) == std::string_view::npos)
      return Error(Code::kInvalid,
                   "%.*s is none of %%r (rank), %%h (host), %%p (its number) and %%%%",
                   i == pattern.size() ? 1 : 2, pattern.data() + i - 1);
  }
  return {};
}

std::string FillPattern(std::string_view pattern, const PatternWords& words) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      text += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'r':
        text += words.rank;
        break;
      case 'h':
        text += words.host;
        break;
      case 'p':
        text += words.host_number;
        break;
      case 'g':
        text += '0';
        break;
      default:
        text += pattern[i];
        break;
    }
  }
  return text;
}

std::string FileOf(std::string_view pattern, const Plan& plan, const RankPlan& rank) {
  return FillPattern(
      pattern, {std::to_string(rank.rank), plan.hosts[rank.host].name, std::to_string(rank.host)});
}

std::string LiteralPattern(std::string_view text) {
  std::string pattern;
  for (const char letter : text) {
    if (letter == '%') pattern += '%';
    pattern += letter;
  }
  return pattern;
}

}  // namespace lamina::launcher
