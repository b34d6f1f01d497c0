// SPDX-License-Identifier: BSD-3-Clause
// What `lamina top` shows: what the ranks of a job do and use, as rows of a table.
//
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/usage/usage.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// One rank, as an answer to "usage" tells (launcher/control/README.md).
struct RankSample {
  RankUsage usage;
  std::string host;
  std::int64_t process = 0;    // 0: not known
  std::uint64_t since_ms = 0;  // so long it has waited; 0: it does not
  std::string does;
};

// kInvalid means that the answer is not whole.
Result<std::vector<RankSample>> DecodeUsageAnswer(std::string_view text);

struct RankRow {
  RankSample now;
  // In percent of a CPU, and a second, between two samples; nothing where that is not known.
  std::optional<double> cpu;
  std::optional<double> messages;
  std::optional<double> sent_bytes;
  std::optional<double> received_bytes;
};

// `before`: earlier samples of the same job; none at first.
std::vector<RankRow> RowsOf(std::vector<RankSample> now, const std::vector<RankSample>& before);

// What `rows` are sorted by.
enum class TopColumn : std::uint8_t {
  kRank,
  kHost,
  kProcess,
  kState,
  kCpu,
  kMemory,
  kMessages,
  kSent,
  kReceived,
  kUnexpected,
  kSince,
  kDoes,
  kCount,
};
const char* NameOf(TopColumn column);
// Numbers begin with the largest one but for those of ranks and processes. Equal rows keep the
// order of ranks.
void SortRows(TopColumn column, bool reverse, std::vector<RankRow>* rows);

// The head of the table and its rows, in columns of their widths.
std::vector<std::string> TableOf(const std::vector<RankRow>& rows);

struct TopView {
  std::string title;
  std::vector<RankRow> rows;  // sorted
  TopColumn column = TopColumn::kRank;
  bool reverse = false;
  std::size_t first = 0;  // of the rows that are shown
  std::string trouble;    // "": none
};
// How many rows a window of so many lines shows.
std::size_t RowsShown(std::size_t lines);
// Exactly fits into the window, which has less of it the smaller it is.
std::vector<std::string> ScreenOf(const TopView& view, std::size_t lines, std::size_t columns);

// One object of JSON on one line. `head` is put in front of the ranks.
std::string JsonOf(const std::string& head, const std::vector<RankRow>& rows);

}  // namespace lamina::launcher
