// SPDX-License-Identifier: BSD-3-Clause
// What all ranks know of one collective access, and what they conclude from it. They conclude the
// same, because they have the same table and everything here is a pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/ids.h"

namespace lamina::io::exchange {

// What a hint says about collective buffering.
enum class Wish : std::int64_t { kAutomatic, kEnable, kDisable };

// What one rank has to write or read. Ranks send it as it is, because all are alike.
struct Entry {
  std::int64_t first = 0;         // offset of the first byte in the file
  std::int64_t end = 0;           // behind the last one
  std::int64_t bytes = 0;         // of data in between
  std::int64_t run_bytes = 0;     // of an average run
  std::int64_t error_class = 0;   // of an argument; then nothing is moved
  Wish wish = Wish::kAutomatic;   // that of rank 0 counts, so that all do the same
  std::int64_t buffer_bytes = 0;  // likewise
  std::int64_t nodes = 0;         // likewise: how many aggregators; 0: one on each node
  std::int64_t alone = 0;         // 1: has data that lies in the file more than once
};
static_assert(sizeof(Entry) == 9 * sizeof(std::int64_t));

// True if the ranks move their data better each for themselves: nobody else has data in between, or
// their runs are long, what lies in between is too much, or they are few readers of one node, which
// keeps what was read.
bool IsDirect(std::span<const Entry> table, bool writes, bool node_keeps);

// Chooses `wanted` ranks, or the first of each node if that is 0. `nodes` has the node of each
// rank.
std::vector<Rank> ChooseAggregators(std::span<const std::uint32_t> nodes, std::int64_t wanted);

// A domain is the part of the file that one aggregator moves. It does so window by window, from
// `first` on.
struct Domain {
  Rank aggregator = 0;
  std::int64_t first = 0;
  std::int64_t end = 0;
};
struct Windows {
  std::vector<Domain> domains;  // in ascending order
  std::int64_t window_bytes = 0;
  std::int64_t rounds = 0;  // windows of the domain that has most
};
// Cuts where the spans hold equal shares of the data, at whole blocks of `unit` bytes. There is at
// least one aggregator, and data.
Windows Cut(std::span<const Entry> table, std::span<const Rank> aggregators, std::int64_t unit);

struct Range {
  std::int64_t first = 0;
  std::int64_t end = 0;
  bool empty() const { return first >= end; }
};
// Returns window `round` of a domain, which may be empty.
Range WindowOf(const Windows& windows, const Domain& domain, std::int64_t round);
inline bool Meets(const Entry& entry, const Range& window) {
  return entry.bytes > 0 && entry.first < window.end && window.first < entry.end;
}

}  // namespace lamina::io::exchange
