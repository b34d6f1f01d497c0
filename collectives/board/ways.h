// SPDX-License-Identifier: BSD-3-Clause
// Which ways a call at a board could take, and which of them it takes.
//
// Everything here is decided from what all members know alike, so all decide alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "collectives/board/params.h"
#include "collectives/board/trial.h"
#include "collectives/collective.h"
#include "runtime/base/sharing.h"

namespace lamina::collective::board {

enum class Way : std::uint8_t {
  kBoard,     // through the slots of the board
  kDirect,    // straight between the members' buffers
  kMessages,  // by messages, as if there were no board
};
const char* Name(Way way);

// What the choice depends on.
struct Situation {
  Operation operation;
  Sharing sharing = Sharing::kExclusive;
  bool in_place = false;
  bool named = false;        // a parameter asks for the board
  bool reaches = false;      // all members can reach each other's memory
  bool element_fits = true;  // an element of the reduction fits a piece between the buffers
};

// The ways that are worth trying; at least one. The first is taken until the others were tried.
struct Candidates {
  std::array<Way, Trial::kWaysMax> ways{Way::kBoard};
  std::size_t count = 1;

  void Add(Way way) { ways[count++] = way; }
};
Candidates CandidatesFor(const Situation& situation);

// Does one call write at least twice the memory of the board?
bool IsLong(Operation operation, std::int64_t bytes, Rank ranks, std::uint64_t area_bytes);

// The trials of one communicator. Calls of one operation, of about one length and with equally many
// ways share a trial.
class Trials {
 public:
  Trials(const Params& params, Rank ranks) : params_(params), ranks_(ranks) {}
  Trial& Of(Operation operation, std::int64_t bytes, std::size_t ways);

 private:
  struct Kept {
    Operation operation;
    int magnitude;  // bits of the number of bytes
    std::size_t ways;
    Trial trial;
  };
  Trial::Pace PaceOf(Operation operation, std::int64_t bytes) const;

  const Params& params_;
  const Rank ranks_;
  std::deque<Kept> kept_;
};

// Says it for people, as in "the board 1200 ns, the buffers themselves 900 ns".
std::string Weights(const Candidates& candidates, const Trial& trial);

}  // namespace lamina::collective::board
