// SPDX-License-Identifier: BSD-3-Clause
// How numbers and other people's words stand in a page and in a file. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lamina::launcher {

// A string of JSON, quotes included. It may stand in a page as well. Bytes that are no UTF-8 become
// the replacement character, as in HtmlText().
std::string JsonText(std::string_view text);
// Text of HTML, which may also stand within double quotes.
std::string HtmlText(std::string_view text);

// "4 KiB": a number of bytes with at most four digits, however many there are.
std::string SizeName(std::uint64_t bytes);
// "250 ms", with at most four digits.
std::string DurationName(std::uint64_t ns);
// Seconds with four digits, and a part of a whole in percent with one behind the point.
std::string Seconds(std::uint64_t ns);
std::string Percent(std::uint64_t part, std::uint64_t whole);

}  // namespace lamina::launcher
