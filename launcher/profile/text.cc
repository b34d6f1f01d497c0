// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/profile/text.h"

#include <iterator>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// How many bytes at the beginning of `text` are one character of UTF-8; 0: they are none.
std::size_t CharacterBytes(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  // Neither longer than need be, nor half of a pair, nor beyond what there is.
  const bool odd = (first == 0xe0 && at(1) < 0xa0) || (first == 0xed && at(1) > 0x9f) ||
                   (first == 0xf0 && at(1) < 0x90) || (first == 0xf4 && at(1) > 0x8f);
  return odd ? 0 : bytes;
}

template <class Translate>
std::string Each(std::string_view text, const Translate& translate) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = CharacterBytes(text);
    if (bytes == 1)
      result += translate(text.front());
    else
      result += bytes == 0 ? kReplacement : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

// The largest unit of which there is at least one.
std::string InUnits(double number, double step, const char* const* units, std::size_t count) {
  std::size_t unit = 0;
  for (; number >= step && unit + 1 < count; ++unit) number /= step;
  return Format("%.4g %s", number, units[unit]);
}

}  // namespace

std::string JsonText(std::string_view text) {
  return '"' +
         Each(text,
              [](char letter) -> std::string {
                if (letter == '"' || letter == '\\') return std::string("\\") + letter;
                const auto code = static_cast<unsigned char>(letter);
                if (code < ' ' || code == 0x7f || letter == '<' || letter == '>' || letter == '&')
                  return Format("\\u%04x", static_cast<unsigned>(code));
                return std::string(1, letter);
              }) +
         '"';
}

std::string HtmlText(std::string_view text) {
  return Each(text, [](char letter) -> std::string {
    switch (letter) {
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '&':
        return "&amp;";
      case '"':
        return "&quot;";
      default:
        return std::string(1, static_cast<unsigned char>(letter) < ' ' ? '?' : letter);
    }
  });
}

std::string SizeName(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return InUnits(static_cast<double>(bytes), 1024, kUnits, std::size(kUnits));
}

std::string DurationName(std::uint64_t ns) {
  static constexpr const char* kUnits[] = {"ns", "µs", "ms", "s"};
  return InUnits(static_cast<double>(ns), 1000, kUnits, std::size(kUnits));
}

std::string Seconds(std::uint64_t ns) { return Format("%.4g", static_cast<double>(ns) * 1e-9); }

std::string Percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0";
  return Format("%.1f", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace lamina::launcher
