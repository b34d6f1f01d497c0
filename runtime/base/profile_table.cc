// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/profile_table.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "runtime/base/clock.h"

namespace lamina {

ProfileRow* FindProfileRow(ProfileTable* table, Call call, const void* place) {
  const std::uint64_t placed = table->rows_placed.load(std::memory_order_relaxed);
  const std::uint64_t key = ProfileKey(call, place);
  // The upper bits of a product depend on all bits of its factors.
  std::uint64_t at = key * 0x9e3779b97f4a7c15 >> 53;
  static_assert(ProfileTable::kRows == 1u << (64 - 53));
  for (;; at = (at + 1) % ProfileTable::kRows) {
    ProfileRow& row = table->rows[at];
    const std::uint64_t found = row.key.load(std::memory_order_relaxed);
    if (found == key) return &row;
    if (found != 0) continue;
    if (place != nullptr) {
      if (placed >= ProfileTable::kRowsWithPlace) return FindProfileRow(table, call, nullptr);
      table->rows_placed.store(placed + 1, std::memory_order_relaxed);
    }
    row.key.store(key, std::memory_order_relaxed);
    return &row;
  }
}

std::string CopyProfile(int ring) {
  const auto table = std::make_unique<ProfileTable>();
  if (pread(ring, table.get(), sizeof *table, kEventRingBytes) != sizeof *table) return "";
  if (table->magic != ProfileTable::kMagic) return "";
  const std::uint64_t now_ns = MonotonicNs();
  const std::uint64_t end_ns = table->finalized != 0 ? table->last_ns.load() : now_ns;
  const bool open = table->open_call != 0 && table->finalized == 0;
  std::string copy;
  const auto put = [&copy](std::uint64_t value) {
    for (int i = 0; i < 64; i += 8) copy.push_back(static_cast<char>(value >> i));
  };
  put(end_ns - std::min(end_ns, table->began_ns.load()));
  put(open ? table->open_call.load() : 0);
  put(open ? now_ns - std::min(now_ns, table->open_since_ns.load()) : 0);
  for (const ProfileRow& row : table->rows) {
    if (row.key == 0) continue;
    for (const ProfileWord* word : {&row.key, &row.calls, &row.inside_ns, &row.waited_ns,
                                    &row.longest_ns, &row.sent_bytes, &row.received_bytes})
      put(*word);
  }
  return copy;
}

}  // namespace lamina
