// SPDX-License-Identifier: BSD-3-Clause
// The rounds by which a job is brought to rest, saved, and let go on. Pure: it is told what the
// ranks' agents report (runtime/base/agent_word.h) and says what they are to be ordered.
//
//   idle ──> awaiting ──> stopping ──> baring ──> saving ──> going ──> idle
//               └─────────────┴───────────┴───────────┴───────^  whatever fails: the job goes on
//
// awaiting: not every rank that runs has initialised MPI; stopping: threads leave the library and
// markers are under way; baring: transports are let go; saving: an engine works; going: transports
// are taken up again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/agent_word.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// What is to be done now.
struct RoundStep {
  AgentWord::Kind order = AgentWord::kGone;  // for every rank that was ordered to stop; kGone: none
  bool save = false;                         // the members of the round are to be saved
  bool over = false;    // the round has ended, after that order: see Rounds::outcome()
  bool broken = false;  // a rank cannot go on, so the job cannot
};

class Rounds {
 public:
  explicit Rounds(std::size_t ranks) : ranks_(ranks) {}

  enum class Phase : std::uint8_t { kIdle, kAwaiting, kStopping, kBaring, kSaving, kGoing };
  Phase phase() const { return phase_; }
  std::uint32_t epoch() const { return epoch_; }  // of the round; 0 before the first
  // The ranks of the round, from its kStop order on, and those that had ended before it.
  std::vector<std::uint32_t> members() const;
  std::vector<std::uint32_t> ended() const;
  // Why the job was not saved; ok if it was.
  const Status& outcome() const { return outcome_; }

  // Takes up round `epoch` of a job that was revived: its ranks are ordered to go on, but for
  // those that had ended. Precondition: phase() is kIdle and epoch() is 0.
  RoundStep Revived(std::uint32_t epoch, std::span<const std::uint32_t> ended);
  // Begins a round. Precondition: phase() is kIdle.
  RoundStep Begin();
  // `text` is what stands behind kTrouble.
  RoundStep Report(std::uint32_t rank, const AgentWord& word, std::string_view text);
  RoundStep Ended(std::uint32_t rank);
  RoundStep Saved(const Status& status);
  // The patience for the phase is over. Not while saving, which has limits of its own.
  RoundStep TimedOut();

 private:
  struct Rank {
    bool here = false;  // its agent takes orders
    bool ended = false;
    bool member = false;
    bool arrived = false;  // it has done what the last order said
    bool excused = false;  // it had not stopped when the round was given up, and need not arrive
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  RoundStep Advance();
  RoundStep Order(AgentWord::Kind order, Phase phase);
  RoundStep GiveUp(std::string why);
  RoundStep Left(std::uint32_t rank);
  RoundStep End();
  bool AllArrived() const;
  std::string Missing() const;

  std::vector<Rank> ranks_;
  Phase phase_ = Phase::kIdle;
  std::uint32_t epoch_ = 0;
  Status outcome_;
};

}  // namespace lamina::launcher
