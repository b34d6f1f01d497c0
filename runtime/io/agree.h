// SPDX-License-Identifier: BSD-3-Clause
// What the ranks that opened a file together agree on. All of them make these calls in the same
// order, whatever has failed on one of them, so an error hangs nobody.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/core/comm.h"
#include "runtime/core/request.h"
#include "runtime/io/failure.h"

namespace lamina::io {

// Makes the failure of the lowest rank that has one everybody's. Its text names that rank. Nobody
// returns before all have come.
Failure Agree(core::Comm* comm, Failure mine);

// A failure as ranks tell it one another.
struct Verdict {
  std::int64_t word = 0;  // the less, the lower the rank that failed
  char text[400] = {};
};
Verdict VerdictOf(const core::Comm& comm, const Failure& failure);
Failure ResultOf(const Verdict& verdict);
// Returns the one of the lower rank.
inline const Verdict& FirstOf(const Verdict& one, const Verdict& other) {
  return other.word < one.word ? other : one;
}
Failure LostRank(int error);

// Gives everybody the bytes of rank 0.
Failure Share(core::Comm* comm, std::span<std::byte> bytes);

// Finds whether some rank says so.
Failure AskAll(core::Comm* comm, bool mine, bool* any);

// Finds whether rank 0 has the same number. `what` names it in the failure of class
// MPI_ERR_NOT_SAME.
Failure SameAsFirst(core::Comm* comm, const char* what, std::int64_t mine);

// Gives everybody the bytes of all ranks, which are as many on each, in the order of ranks.
Failure Gather(core::Comm* comm, std::span<const std::byte> mine, std::span<std::byte> all);

// Does the same without waiting: makes a request, or fails and makes none.
Failure StartGather(core::Comm* comm, std::span<const std::byte> mine, std::span<std::byte> all,
                    core::Request** request);

// Adds up what the ranks below this one have, and what all have.
Failure AddUp(core::Comm* comm, std::int64_t mine, std::int64_t* below, std::int64_t* all);

}  // namespace lamina::io
