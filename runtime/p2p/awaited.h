// SPDX-License-Identifier: BSD-3-Clause
// Says for what this thread waits, where no request tells: a probe, or an operation at a board. It
// stands in the wait note (runtime/base/wait_note.h) if the wait becomes long.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/base/ids.h"
#include "runtime/core/comm.h"

namespace lamina::p2p {

struct Awaited {
  enum class Kind : std::uint8_t {
    kProbe,
    kBoard,
    kNothing,  // the thread only looks after the others' work, which is no wait of the program's
  };
  Kind kind;
  const core::Comm* comm;
  Rank rank;                         // for whom; MPI_ANY_SOURCE for anybody or all
  int tag;                           // of a probe
  std::uint64_t number;              // of an operation at a board
  std::span<const Rank> board = {};  // who is at the board
};

// While it lives, this thread waits for that. `awaited` outlives it.
class Awaiting {
 public:
  explicit Awaiting(const Awaited& awaited);
  ~Awaiting();
  Awaiting(const Awaiting&) = delete;
  Awaiting& operator=(const Awaiting&) = delete;

 private:
  const Awaited* const before_;
};

// Null: what is waited for are requests.
const Awaited* AwaitedNow();

// While it lives, all waits of this thread are parts of one, which began with it.
class OneWait {
 public:
  OneWait();
  ~OneWait();
  OneWait(const OneWait&) = delete;
  OneWait& operator=(const OneWait&) = delete;

 private:
  const std::uint64_t before_;
};

// When the wait that this thread is in began, by the clock of the notes.
std::uint64_t WaitingSinceMs();

}  // namespace lamina::p2p
