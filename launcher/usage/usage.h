// SPDX-License-Identifier: BSD-3-Clause
// What a rank uses of its host, and how many bytes it has moved.
//
// A rank is measured from outside and need not help: the kernel tells its time and memory, with
// those of all that it has started, and its counters (runtime/base/counters.h) are read where they
// lie in its memory.
#pragma once

#include <cstdint>

namespace lamina::launcher {

struct RankUsage {
  std::uint32_t rank = 0;
  std::uint64_t taken_ns = 0;  // by the clock of its host, when this was so
  char state = '?';            // the kernel's letter
  std::uint64_t cpu_ns = 0;
  std::uint64_t memory_bytes = 0;
  bool counted = false;  // the numbers below are known
  std::uint64_t sent_messages = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_messages = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t unexpected = 0;  // messages that wait for their receive

  friend bool operator==(const RankUsage&, const RankUsage&) = default;
};

// Measures a rank of this host: its process, and the descriptor of its event ring. The state is '?'
// if it has ended.
RankUsage MeasureRank(std::uint32_t rank, std::int64_t process, int ring);

}  // namespace lamina::launcher
