// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/exec/template.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lamina::launcher::exec {
namespace {

Result<std::vector<std::string>> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;  // a word has begun, though it may be empty
  char quote = 0;
  for (const char letter : text) {
    if (quote != 0 ? letter == quote : letter == '\'' || letter == '"') {
      quote = quote != 0 ? '\0' : letter;
    } else if (quote == 0 && (letter == ' ' || letter == '\t')) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    const bool is_quote = letter == '\'' || letter == '"';
    if (!is_quote || (quote != 0 && letter != quote)) words.back().push_back(letter);
  }
  if (quote != 0)
    return Error(Code::kInvalid, "the agent \"%s\" has a quote that does not end",
                 std::string(text).c_str());
  return words;
}

std::string ForShell(std::span<const std::string> command) {
  std::string text;
  for (const std::string& word : command) {
    text += text.empty() ? "'" : " '";
    for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
    text += "'";
  }
  return text;
}

}  // namespace

Result<Template> Template::Parse(std::string_view text) {
  Result<std::vector<std::string>> words = WordsOf(text);
  if (!words.ok()) return std::move(words).status();
  if (text.find("{host}") == std::string_view::npos)
    return Error(Code::kInvalid, "the agent \"%s\" does not say where {host} goes",
                 std::string(text).c_str());
  Template made;
  made.words_ = *std::move(words);
  return made;
}

std::vector<std::string> Template::Fill(const Host& host,
                                        std::span<const std::string> command) const {
  const std::pair<std::string_view, std::string> holes[] = {
      {"{host}", host.name},
      {"{user}", host.user},
      {"{port}", host.port == 0 ? "" : std::to_string(host.port)},
      {"{command}", ForShell(command)}};
  std::vector<std::string> filled;
  bool placed = false;
  for (const std::string& word : words_) {
    placed = placed || word.find("{command}") != std::string::npos;
    // What is filled in is not looked at again, so a host's name may have any letters.
    std::string& text = filled.emplace_back();
    for (std::string_view rest = word; !rest.empty();) {
      const auto hole = std::ranges::find_if(
          holes, [rest](const auto& each) { return rest.starts_with(each.first); });
      const bool is_hole = hole != std::end(holes);
      text += is_hole ? std::string_view(hole->second) : rest.substr(0, 1);
      rest.remove_prefix(is_hole ? hole->first.size() : 1);
    }
  }
  if (!placed) filled.insert(filled.end(), command.begin(), command.end());
  return filled;
}

}  // namespace lamina::launcher::exec
