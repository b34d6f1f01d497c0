// SPDX-License-Identifier: BSD-3-Clause
// These are small helpers for text that people read or wrote.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...);
std::string FormatV(const char* format, va_list arguments);

// Returns the pieces between `separator`s. Empty pieces are kept, so "" gives one empty piece.
std::vector<std::string_view> Split(std::string_view text, char separator);
std::string_view Trim(std::string_view text);  // without blanks and tabs at both ends

// Two lower-case digits a byte, and back. What is no such digit counts as 0.
std::string HexOf(std::string_view bytes);
std::string FromHex(std::string_view digits);

// Returns the longest beginning of `text` that has at most so many bytes and ends with a whole
// character of UTF-8.
std::string_view WholeCharacters(std::string_view text, std::size_t bytes_max);
// The text as a string of JSON, in quotation marks. What is no UTF-8 becomes the replacement
// character. It may stand in HTML.
std::string JsonText(std::string_view text);

// Reads the whole of `text` as a decimal number; returns nothing on any other character or
// overflow.
std::optional<std::int64_t> ParseInteger(std::string_view text);

// Returns the candidate that `word` most likely meant, or "" if none is near. Near means that at
// most a third of its letters are inserted, deleted, replaced or swapped with a neighbour.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

// Numbers of ranks as people write them: "rank 3", "ranks 0-2, 5 and 7".
std::string RankWords(std::vector<std::uint32_t> ranks);

}  // namespace lamina
