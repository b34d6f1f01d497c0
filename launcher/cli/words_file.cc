// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/words_file.h"

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// Appends the words of one line.
Status Divide(std::string_view line, std::vector<std::string>* words) {
  char quote = 0;
  bool in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (quote == 0 && (letter == ' ' || letter == '\t' || letter == '\r')) {
      in_word = false;
      continue;
    }
    if (!in_word) words->emplace_back();
    in_word = true;
    if (quote != 0 ? letter == quote : letter == '\'' || letter == '"')
      quote = quote != 0 ? '\0' : letter;
    else if (letter == '\\' && quote != '\'' && i + 1 < line.size())
      words->back() += line[++i];
    else
      words->back() += letter;
  }
  if (quote != 0) return Error(Code::kInvalid, "a %c does not end", quote);
  return {};
}

// Returns the lines without comments, those that are continued joined.
std::vector<std::string> WholeLines(std::string_view text) {
  std::vector<std::string> lines;
  bool continued = false;
  for (const std::string_view line : Split(text, '\n')) {
    if (!continued && Trim(line).starts_with('#')) continue;
    if (!continued) lines.emplace_back();
    lines.back() += line;
    continued = line.ends_with('\\');
    if (continued) lines.back().back() = ' ';
  }
  return lines;
}

}  // namespace

Result<std::vector<std::string>> WordsOfFile(std::string_view text, bool colons) {
  std::vector<std::string> words;
  for (const std::string& line : WholeLines(text)) {
    const std::size_t before = words.size();
    if (Status status = Divide(line, &words); !status.ok()) return status;
    if (colons && before > 0 && words.size() > before)
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(before), ":");
  }
  return words;
}

}  // namespace lamina::launcher
