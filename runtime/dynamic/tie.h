// SPDX-License-Identifier: BSD-3-Clause
// The ties of this process to the launchers that it has started (runtime/base/dynamic_words.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/ids.h"

namespace lamina::dynamic {

// What a launcher has said.
struct TieWords {
  std::string heard;       // the beginning of the next line
  std::string why;         // its ranks could not run; empty at the end: they have ended
  std::vector<int> ranks;  // how many each program has, once it says so
};

// Reads what the launcher says. Returns false once it has nothing more to say.
bool HearTie(int tie, TieWords* words);

// The job has been met, so it shares this job's fate until PartFrom() or the end.
void KeepTie(Descriptor tie, std::uint32_t job_hash);
// Parts with those jobs that no communicator leads to any more, beside one that is about to end and
// whose members are `ending`.
void LoosenTies(std::span<const PeerId> ending);
// This process has finalized, so its end is no failure.
void LeaveAllTies();

}  // namespace lamina::dynamic
