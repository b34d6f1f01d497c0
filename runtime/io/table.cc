// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/table.h"

#include <algorithm>
#include <set>

namespace lamina::io::exchange {
namespace {

// An average run of this size is moved as fast without help.
constexpr std::int64_t kLongRunBytes = 256 << 10;
// Data that is a smaller part than this of what the spans cover is not worth gathering.
constexpr std::int64_t kSparse = 16;
// Readers find such runs in the node's memory as fast as another rank can hand them out.
constexpr std::int64_t kReadRunBytes = 4096;
// So many ranks of a node read short runs sooner each out of all that lies between them.
constexpr std::int64_t kReadersMax = 8;

struct Totals {
  std::int64_t bytes = 0;
  std::int64_t parts = 0;
  std::int64_t shortest_run = INT64_MAX;
  Range span{INT64_MAX, 0};
};

Totals Add(std::span<const Entry> table) {
  Totals totals;
  for (const Entry& entry : table) {
    if (entry.bytes == 0) continue;
    totals.bytes += entry.bytes;
    ++totals.parts;
    totals.shortest_run = std::min(totals.shortest_run, entry.run_bytes);
    totals.span.first = std::min(totals.span.first, entry.first);
    totals.span.end = std::max(totals.span.end, entry.end);
  }
  return totals;
}

std::vector<Entry> InOrder(std::span<const Entry> table) {
  std::vector<Entry> entries;
  for (const Entry& entry : table)
    if (entry.bytes > 0) entries.push_back(entry);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& one, const Entry& two) { return one.first < two.first; });
  return entries;
}

bool AreApart(std::span<const Entry> table) {
  const std::vector<Entry> entries = InOrder(table);
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (entries[i].first < entries[i - 1].end) return false;
  return true;
}

bool AreDense(std::span<const Entry> table) {
  return std::all_of(table.begin(), table.end(),
                     [](const Entry& entry) { return entry.bytes == entry.end - entry.first; });
}

// Returns how many data bytes lie in front of `offset` if each span's data is spread evenly.
double DataBefore(std::span<const Entry> table, std::int64_t offset) {
  double sum = 0;
  for (const Entry& entry : table) {
    if (entry.bytes == 0 || offset <= entry.first) continue;
    const double part = static_cast<double>(std::min(offset, entry.end) - entry.first) /
                        static_cast<double>(entry.end - entry.first);
    sum += part * static_cast<double>(entry.bytes);
  }
  return sum;
}

// Returns the least multiple of `unit` within `span` with at least this much data before it.
std::int64_t CutAt(std::span<const Entry> table, double data, const Range& span,
                   std::int64_t unit) {
  std::int64_t low = span.first / unit, high = (span.end + unit - 1) / unit;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (DataBefore(table, middle * unit) >= data)
      high = middle;
    else
      low = middle + 1;
  }
  return std::clamp(low * unit, span.first, span.end);
}

}  // namespace

bool IsDirect(std::span<const Entry> table, bool writes, bool node_keeps) {
  const Totals totals = Add(table);
  const bool is_alone =
      std::any_of(table.begin(), table.end(), [](const Entry& entry) { return entry.alone != 0; });
  if (totals.parts == 0 || is_alone || table.front().wish == Wish::kDisable) return true;
  if (totals.parts > 1 && table.front().wish == Wish::kEnable) return false;
  if (totals.parts == 1 || totals.shortest_run >= kLongRunBytes) return true;
  // Readers of the same bytes disturb nobody.
  if (AreDense(table) && (!writes || AreApart(table))) return true;
  if (!writes && node_keeps &&
      (totals.shortest_run >= kReadRunBytes || totals.parts <= kReadersMax))
    return true;
  return totals.bytes < (totals.span.end - totals.span.first) / kSparse;
}

std::vector<Rank> ChooseAggregators(std::span<const std::uint32_t> nodes, std::int64_t wanted) {
  std::vector<Rank> chosen;
  std::vector<Rank> others;
  std::set<std::uint32_t> seen;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    (seen.insert(nodes[i]).second ? chosen : others).push_back(static_cast<Rank>(i));
  if (wanted <= 0) return chosen;
  chosen.insert(chosen.end(), others.begin(), others.end());
  chosen.resize(std::min(chosen.size(), static_cast<std::size_t>(wanted)));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Windows Cut(std::span<const Entry> table, std::span<const Rank> aggregators, std::int64_t unit) {
  const Totals totals = Add(table);
  Windows windows;
  windows.window_bytes = std::max<std::int64_t>(1, table.front().buffer_bytes);
  const auto count = static_cast<double>(aggregators.size());
  std::int64_t first = totals.span.first;
  for (std::size_t i = 0; i < aggregators.size(); ++i) {
    const double share = static_cast<double>(totals.bytes) * static_cast<double>(i + 1) / count;
    const bool last = i + 1 == aggregators.size();
    const std::int64_t end =
        last ? totals.span.end : std::max(first, CutAt(table, share, totals.span, unit));
    windows.domains.push_back({aggregators[i], first, end});
    const std::int64_t rounds = (end - first + windows.window_bytes - 1) / windows.window_bytes;
    windows.rounds = std::max(windows.rounds, rounds);
    first = end;
  }
  return windows;
}

Range WindowOf(const Windows& windows, const Domain& domain, std::int64_t round) {
  if (round >= (domain.end - domain.first + windows.window_bytes - 1) / windows.window_bytes)
    return {};
  const std::int64_t first = domain.first + round * windows.window_bytes;
  return {first, std::min(domain.end, first + windows.window_bytes)};
}

}  // namespace lamina::io::exchange
