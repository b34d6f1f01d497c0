// SPDX-License-Identifier: BSD-3-Clause
// Small helpers for text that people read and text that people wrote.
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

// Pieces between `separator`s; empty pieces are kept. "" gives one empty piece.
std::vector<std::string_view> Split(std::string_view text, char separator);
std::string_view Trim(std::string_view text);  // without blanks and tabs at both ends

// The whole of `text` as a decimal number; nothing on any other character or overflow.
std::optional<std::int64_t> ParseInteger(std::string_view text);

// The candidate that `word` most likely meant, or empty if none is near: at most a third of its
// letters inserted, deleted, replaced or swapped with a neighbour.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lamina
