// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/rankfile.h"

#include <algorithm>
#include <utility>

#include "launcher/plan/words.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::int64_t kIndexMax = 1 << 20;

// "rank 3=node07 slot=0-3"
Result<RankfileEntry> ParseLine(const std::vector<std::string_view>& words) {
  RankfileEntry entry;
  const std::size_t equals = words.size() < 2 ? std::string_view::npos : words[1].find('=');
  const std::int64_t rank =
      equals == std::string_view::npos ? -1 : ParseInteger(words[1].substr(0, equals)).value_or(-1);
  if (words.empty() || words[0] != "rank" || rank < 0 || rank >= INT32_MAX ||
      equals + 1 == words[1].size())
    return Error(Code::kInvalid, "expected: rank NUMBER=HOST slot=CORES");
  entry.rank = static_cast<std::uint32_t>(rank);
  entry.host = words[1].substr(equals + 1);
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (!words[i].starts_with("slot=") || !entry.slot.empty())
      return Error(Code::kInvalid, "%s: expected slot=CORES once", Quote(words[i]).c_str());
    entry.slot = words[i].substr(5);
    Result<std::vector<CpuPlace>> places = ParseCpuPlaces(entry.slot);
    if (!places.ok()) return std::move(places).status();
  }
  return entry;
}

bool ParseIndex(std::string_view text, std::uint32_t* index) {
  const std::optional<std::int64_t> number = ParseInteger(text);
  if (!number || *number < 0 || *number > kIndexMax) return false;
  *index = static_cast<std::uint32_t>(*number);
  return true;
}

bool ParseCores(std::string_view text, CpuPlace* place) {
  if (text == "*") return true;
  const std::size_t dash = text.find('-');
  if (!ParseIndex(text.substr(0, dash), &place->first)) return false;
  place->last = place->first;
  return dash == text.npos ||
         (ParseIndex(text.substr(dash + 1), &place->last) && place->last >= place->first);
}

}  // namespace

Result<std::vector<CpuPlace>> ParseCpuPlaces(std::string_view slot) {
  std::vector<CpuPlace> places;
  if (slot == "*" || slot == "*:*") return places;
  std::uint32_t socket = CpuPlace::kAll;  // holds on: "1:0-1,4" is all of socket 1
  for (std::string_view piece : Split(slot, ',')) {
    CpuPlace place;
    if (const std::size_t colon = piece.find(':'); colon != piece.npos) {
      if (!ParseIndex(piece.substr(0, colon), &socket))
        return Error(Code::kInvalid, "slot: %s is not SOCKET:CORES", Quote(piece).c_str());
      piece.remove_prefix(colon + 1);
    }
    place.socket = socket;
    if (!ParseCores(piece, &place) || (piece == "*" && socket == CpuPlace::kAll))
      return Error(Code::kInvalid, "slot: %s is not a core or a range of cores",
                   Quote(piece).c_str());
    places.push_back(place);
  }
  return places;
}

Result<std::vector<RankfileEntry>> ParseRankfile(std::string_view text, std::string_view path) {
  std::vector<RankfileEntry> entries;
  std::uint32_t line_number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++line_number;
    const std::vector<std::string_view> words = Words(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    const std::string where = Format("%s:%u", std::string(path).c_str(), line_number);
    Result<RankfileEntry> entry = ParseLine(words);
    if (!entry.ok()) return std::move(entry).status().Within(where);
    entry->where = where;
    entries.push_back(std::move(*entry));
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const RankfileEntry& a, const RankfileEntry& b) { return a.rank < b.rank; });
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (entries[i].rank == i) continue;
    if (i > 0 && entries[i].rank == entries[i - 1].rank)
      return Error(Code::kInvalid, "%s: rank %u is there twice", entries[i].where.c_str(),
                   entries[i].rank);
    return Error(Code::kInvalid, "%s: there is no line for rank %u", std::string(path).c_str(), i);
  }
  if (entries.empty()) return Error(Code::kInvalid, "%s names no rank", std::string(path).c_str());
  return entries;
}

}  // namespace lamina::launcher
