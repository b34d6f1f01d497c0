// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/criu/words.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::checkpoint::criu {
namespace {

constexpr std::string_view kVersionWord = "Version: ";
using Number = std::pair<std::int64_t, std::int64_t>;  // the first two of a version
constexpr Number kGood = {4, 2};

// Returns the first two numbers of "6.18.44-amd64".
Number NumberIn(std::string_view version) {
  const auto numbers = Split(version, '.');
  const auto at = [&numbers](std::size_t place) -> std::int64_t {
    if (place >= numbers.size()) return 0;
    const std::string_view digits =
        numbers[place].substr(0, numbers[place].find_first_not_of("0123456789"));
    return ParseInteger(digits).value_or(0);
  };
  return {at(0), at(1)};
}

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

bool IsOld(std::string_view version) { return NumberIn(version) < kGood; }

std::string TooOldFor(std::string_view version, std::string_view kernel) {
  struct Change {
    Number kernel, criu;
    const char* what;
  };
  constexpr Change kChanges[] = {{{6, 13}, {4, 1}, "the memory of the vDSO lies"},
                                 {{6, 16}, {4, 2}, "the options of sockets are asked for"}};
  for (const Change& change : kChanges)
    if (NumberIn(kernel) >= change.kernel && NumberIn(version) < change.criu)
      return Format(
          "criu %s is too old for kernel %s, in which %s in another way; 4.2 or later is "
          "needed",
          std::string(version).c_str(), std::string(kernel).c_str(), change.what);
  return "";
}

std::vector<std::string> InstructionsIn(std::string_view flags) {
  constexpr std::string_view kBeginnings[] = {
      "3dnow",      "abm",      "adx",   "aes",        "amx",       "avx", "bmi",
      "clflushopt", "clwb",     "cx16",  "erms",       "f16c",      "fma", "fsr",
      "gfni",       "mmx",      "movb",  "movdir",     "pclmulqdq", "pku", "pni",
      "popcnt",     "prefetch", "rdpid", "rdrand",     "rdseed",    "rtm", "sha",
      "sse",        "ssse3",    "vaes",  "vpclmulqdq", "waitpkg",   "xop", "xsave"};
  std::vector<std::string> found;
  for (const std::string_view word : Split(Trim(flags), ' '))
    for (const std::string_view beginning : kBeginnings)
      if (word.starts_with(beginning)) {
        found.emplace_back(word);
        break;
      }
  return found;
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

bool HasBug(std::string_view printed) { return printed.find("BUG at criu/") != printed.npos; }

std::string_view Meaning(std::string_view error) {
  struct Row {
    std::string_view piece, meaning;
  };
  // The first row that fits counts.
  constexpr Row kRows[] = {
      {"link remap for /dev/shm/sem.",
       "it uses a named semaphore (sem_open), which criu cannot save"},
      {"doesn't live in IPC ns", "it uses System V shared memory (shmget), which criu cannot save"},
      {"Can't lookup mount=",
       "it has something open that lies in no file system it can see, as a POSIX message queue "
       "(mq_open) does, which criu cannot save"},
  };
  for (const Row& row : kRows)
    if (error.find(row.piece) != error.npos) return row.meaning;
  return "";
}

}  // namespace lamina::checkpoint::criu
