// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/top/view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kColumns = static_cast<std::size_t>(TopColumn::kCount);
constexpr const char* kNames[kColumns] = {"RANK",  "HOST",   "PID",    "S",     "CPU%", "MEMORY",
                                          "MSG/s", "SENT/s", "RECV/s", "UNEXP", "FOR",  "DOES"};

std::uint64_t Number(std::string_view text) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(ParseInteger(text).value_or(0), 0));
}

// "rank RANK HOST PROCESS STATE TAKEN CPU MEMORY", and five numbers more where they are known.
RankSample DecodeRankLine(const std::vector<std::string_view>& words) {
  constexpr std::size_t kCounted = 8;
  RankSample sample;
  RankUsage& usage = sample.usage;
  usage.rank = static_cast<std::uint32_t>(Number(words[1]));
  sample.host = words[2];
  sample.process = ParseInteger(words[3]).value_or(0);
  usage.state = words[4].empty() ? '?' : words[4][0];
  usage.taken_ns = Number(words[5]);
  usage.cpu_ns = Number(words[6]);
  usage.memory_bytes = Number(words[7]);
  usage.counted = words.size() >= kCounted + 5;
  if (!usage.counted) return sample;
  usage.sent_messages = Number(words[kCounted]);
  usage.sent_bytes = Number(words[kCounted + 1]);
  usage.received_messages = Number(words[kCounted + 2]);
  usage.received_bytes = Number(words[kCounted + 3]);
  usage.unexpected = Number(words[kCounted + 4]);
  return sample;
}

// Writes how much memory is held or how many bytes are sent, in units that are powers of 1024.
std::string BytesText(double bytes) {
  static constexpr char kUnits[] = {'B', 'K', 'M', 'G', 'T', 'P'};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return Format(unit > 0 && bytes < 10 ? "%.1f%c" : "%.0f%c", bytes, kUnits[unit]);
}

std::string CountText(double count) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (count >= 10000 && unit + 1 < std::size(kUnits)) {
    count /= 1000;
    ++unit;
  }
  return Format("%.0f%s", count, kUnits[unit]);
}

std::string SinceText(std::uint64_t ms) {
  if (ms == 0) return "-";
  if (ms < 100'000) return Format("%.1f s", static_cast<double>(ms) / 1000);
  return Format("%llu:%02llu h", static_cast<unsigned long long>(ms / 3'600'000),
                static_cast<unsigned long long>(ms / 60'000 % 60));
}

template <class Text>
std::string IfKnown(const std::optional<double>& number, Text text) {
  return number ? text(*number) : "-";
}

std::vector<std::string> CellsOf(const RankRow& row) {
  const RankUsage& usage = row.now.usage;
  const auto percent = [](double cpu) { return Format("%.0f", cpu); };
  return {std::to_string(usage.rank),
          row.now.host,
          row.now.process > 0 ? std::to_string(row.now.process) : "-",
          usage.state == '?' ? "-" : std::string(1, usage.state),
          IfKnown(row.cpu, percent),
          usage.memory_bytes > 0 ? BytesText(static_cast<double>(usage.memory_bytes)) : "-",
          IfKnown(row.messages, CountText),
          IfKnown(row.sent_bytes, BytesText),
          IfKnown(row.received_bytes, BytesText),
          usage.counted ? std::to_string(usage.unexpected) : "-",
          SinceText(row.now.since_ms),
          row.now.does};
}

bool IsText(std::size_t column) {
  const auto it = static_cast<TopColumn>(column);
  return it == TopColumn::kHost || it == TopColumn::kState || it == TopColumn::kDoes;
}

bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::size_t WidthOf(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, Continues));
}

std::string FirstCharacters(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if (!Continues(text[end]) && count-- == 0) break;
  return std::string(text.substr(0, end));
}

// The key by which rows are sorted; the smallest comes first.
std::tuple<double, std::string> KeyOf(const RankRow& row, TopColumn column) {
  const RankUsage& usage = row.now.usage;
  const auto large_first = [](const std::optional<double>& number) {
    return std::tuple(-number.value_or(-1), std::string());
  };
  const auto first = [](auto number) { return -static_cast<double>(number); };
  switch (column) {
    case TopColumn::kHost:
      return {0, row.now.host};
    case TopColumn::kProcess:
      return {static_cast<double>(row.now.process), ""};
    case TopColumn::kState:
      return {0, std::string(1, usage.state)};
    case TopColumn::kCpu:
      return large_first(row.cpu);
    case TopColumn::kMemory:
      return {first(usage.memory_bytes), ""};
    case TopColumn::kMessages:
      return large_first(row.messages);
    case TopColumn::kSent:
      return large_first(row.sent_bytes);
    case TopColumn::kReceived:
      return large_first(row.received_bytes);
    case TopColumn::kUnexpected:
      return {first(usage.unexpected), ""};
    case TopColumn::kSince:
      return {first(row.now.since_ms), ""};
    case TopColumn::kDoes:
      return {0, row.now.does};
    default:
      return {static_cast<double>(usage.rank), ""};
  }
}

std::string Footer(const TopView& view, std::size_t shown) {
  if (!view.trouble.empty()) return view.trouble;
  const std::size_t last = std::min(view.rows.size(), view.first + shown);
  return Format("q quit  s sort: %s  r reverse  arrows scroll  %zu-%zu of %zu", NameOf(view.column),
                std::min(view.first + 1, last), last, view.rows.size());
}

}  // namespace

Result<std::vector<RankSample>> DecodeUsageAnswer(std::string_view text) {
  constexpr std::size_t kRankWords = 8;
  std::vector<RankSample> samples;
  for (const std::string_view line : Split(text, '\n')) {
    if (line == "end") return samples;
    const auto words = Split(line, ' ');
    if (words[0] == "rank" && words.size() >= kRankWords) {
      samples.push_back(DecodeRankLine(words));
    } else if (words[0] == "does" && words.size() > 3 && !samples.empty() &&
               samples.back().usage.rank == Number(words[1])) {
      samples.back().since_ms = Number(words[2]);
      samples.back().does = line.substr(static_cast<std::size_t>(words[3].data() - line.data()));
    }
  }
  return Error(Code::kInvalid, "an answer was cut short");
}

std::vector<RankRow> RowsOf(std::vector<RankSample> now, const std::vector<RankSample>& before) {
  std::map<std::uint32_t, const RankSample*> earlier;
  for (const RankSample& sample : before) earlier[sample.usage.rank] = &sample;
  std::vector<RankRow> rows;
  for (RankSample& sample : now) {
    RankRow row;
    row.now = std::move(sample);
    const RankUsage& usage = row.now.usage;
    const auto found = earlier.find(usage.rank);
    rows.push_back(std::move(row));
    if (found == earlier.end()) continue;
    const RankUsage& then = found->second->usage;
    if (then.taken_ns == 0 || rows.back().now.usage.taken_ns <= then.taken_ns) continue;
    RankRow& its = rows.back();
    const double seconds = static_cast<double>(its.now.usage.taken_ns - then.taken_ns) * 1e-9;
    // A process that has ended takes what it has used along.
    const auto rate = [seconds](std::uint64_t earlier_number, std::uint64_t number) {
      return number > earlier_number ? static_cast<double>(number - earlier_number) / seconds : 0;
    };
    its.cpu = rate(then.cpu_ns, its.now.usage.cpu_ns) * 1e-7;
    if (!then.counted || !its.now.usage.counted) continue;
    its.messages = rate(then.sent_messages, its.now.usage.sent_messages) +
                   rate(then.received_messages, its.now.usage.received_messages);
    its.sent_bytes = rate(then.sent_bytes, its.now.usage.sent_bytes);
    its.received_bytes = rate(then.received_bytes, its.now.usage.received_bytes);
  }
  return rows;
}

const char* NameOf(TopColumn column) { return kNames[static_cast<std::size_t>(column)]; }

void SortRows(TopColumn column, bool reverse, std::vector<RankRow>* rows) {
  std::ranges::sort(*rows, {}, [](const RankRow& row) { return row.now.usage.rank; });
  std::ranges::stable_sort(*rows, [&](const RankRow& one, const RankRow& other) {
    return reverse ? KeyOf(other, column) < KeyOf(one, column)
                   : KeyOf(one, column) < KeyOf(other, column);
  });
}

std::vector<std::string> TableOf(const std::vector<RankRow>& rows) {
  std::vector<std::vector<std::string>> cells = {{std::begin(kNames), std::end(kNames)}};
  for (const RankRow& row : rows) cells.push_back(CellsOf(row));
  std::size_t widths[kColumns] = {};
  for (const auto& row : cells)
    for (std::size_t column = 0; column < kColumns; ++column)
      widths[column] = std::max(widths[column], WidthOf(row[column]));
  std::vector<std::string> lines;
  for (const auto& row : cells) {
    std::string line;
    for (std::size_t column = 0; column < kColumns; ++column) {
      const std::string blanks(widths[column] - WidthOf(row[column]), ' ');
      const bool last = column + 1 == kColumns;
      line += IsText(column) ? row[column] + (last ? "" : blanks) : blanks + row[column];
      if (!last) line += "  ";
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::size_t RowsShown(std::size_t lines) {
  const std::size_t others = lines >= 4 ? 3 : lines >= 3 ? 2 : lines >= 2 ? 1 : 0;
  return lines - std::min(lines, others);
}

std::vector<std::string> ScreenOf(const TopView& view, std::size_t lines, std::size_t columns) {
  const std::size_t shown = RowsShown(lines);
  const std::vector<std::string> table = TableOf(view.rows);
  std::vector<std::string> screen;
  if (lines >= 3) screen.push_back(view.title);
  if (lines >= 2) screen.push_back(table[0]);
  for (std::size_t row = 0; row < shown; ++row) {
    const std::size_t at = view.first + row + 1;
    screen.push_back(at < table.size() ? table[at] : "");
  }
  if (lines >= 4) screen.push_back(Footer(view, shown));
  for (std::string& line : screen) line = FirstCharacters(line, columns);
  return screen;
}

std::string JsonOf(const std::string& head, const std::vector<RankRow>& rows) {
  const auto number = [](const std::optional<double>& value) {
    return value ? Format("%.1f", *value) : std::string("null");
  };
  std::string text = "{" + head + ", \"ranks\": [";
  for (const RankRow& row : rows) {
    const RankUsage& usage = row.now.usage;
    text += &row == &rows.front() ? "{" : ", {";
    text += Format("\"rank\": %u, \"host\": ", usage.rank) + JsonText(row.now.host) +
            Format(", \"process\": %lld, \"state\": ", static_cast<long long>(row.now.process)) +
            JsonText(std::string(1, usage.state)) + ", \"cpu_percent\": " + number(row.cpu) +
            ", \"memory_bytes\": " + std::to_string(usage.memory_bytes) +
            ", \"messages_per_s\": " + number(row.messages) +
            ", \"sent_bytes_per_s\": " + number(row.sent_bytes) +
            ", \"received_bytes_per_s\": " + number(row.received_bytes) +
            ", \"unexpected\": " + (usage.counted ? std::to_string(usage.unexpected) : "null") +
            ", \"waits_ms\": " + std::to_string(row.now.since_ms) +
            ", \"does\": " + JsonText(row.now.does) + "}";
  }
  return text + "]}";
}

}  // namespace lamina::launcher
