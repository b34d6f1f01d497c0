// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/criu/words.h"

#include "runtime/base/text.h"

namespace lamina::checkpoint::criu {
namespace {

constexpr std::string_view kVersionWord = "Version: ";
constexpr int kGoodMajor = 4;
constexpr int kGoodMinor = 2;

// criu reports these as errors and goes on well without: as a user, or as root without all rights.
constexpr std::string_view kHarmless[] = {"rlimit: Can't setup RLIMIT_NOFILE for self",
                                          "net: Unexpected error: -1(Operation not permitted)"};

bool IsHarmless(std::string_view error) {
  for (const std::string_view harmless : kHarmless)
    if (error.starts_with(harmless)) return true;
  return false;
}

// Returns what follows "(criu/file.c:123): " in a line, or "" if the line is no error.
std::string_view ErrorIn(std::string_view line) {
  const std::size_t error = line.find("Error (");
  if (error == line.npos) return {};
  const std::size_t text = line.find("): ", error);
  return text == line.npos ? line.substr(error) : Trim(line.substr(text + 3));
}

}  // namespace

std::optional<std::string> VersionIn(std::string_view printed) {
  for (const std::string_view line : Split(printed, '\n')) {
    if (!line.starts_with(kVersionWord)) continue;
    const std::string_view version = Trim(line.substr(kVersionWord.size()));
    if (!version.empty() && version.find_first_not_of("0123456789.") == version.npos)
      return std::string(version);
  }
  return std::nullopt;
}

bool IsOld(std::string_view version) {
  const auto numbers = Split(version, '.');
  const auto major = ParseInteger(numbers[0]).value_or(0);
  const auto minor = numbers.size() > 1 ? ParseInteger(numbers[1]).value_or(0) : 0;
  return major < kGoodMajor || (major == kGoodMajor && minor < kGoodMinor);
}

std::string FirstError(std::string_view printed) {
  std::string_view last = "it printed nothing";
  for (const std::string_view line : Split(printed, '\n')) {
    const std::string_view error = ErrorIn(line);
    if (IsHarmless(error)) continue;
    if (!error.empty()) return std::string(error);
    if (!Trim(line).empty()) last = Trim(line);
  }
  return std::string(last);
}

}  // namespace lamina::checkpoint::criu
