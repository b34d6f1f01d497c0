// SPDX-License-Identifier: BSD-3-Clause
// The ties of this process to the launchers that it has started (runtime/base/dynamic_words.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/descriptor.h"
#include "runtime/base/ids.h"

namespace lamina::dynamic {

// Reads what the launcher says. Returns false once it has nothing more to say; `why` then tells why
// its ranks could not run, and is empty if they have ended.
bool HearTie(int tie, std::string* heard, std::string* why);

// The job has been met, so it shares this job's fate until PartFrom() or the end.
void KeepTie(Descriptor tie, std::uint32_t job_hash);
// Parts with those jobs that no communicator leads to any more, beside one that is about to end and
// whose members are `ending`.
void LoosenTies(std::span<const PeerId> ending);
// This process has finalized, so its end is no failure.
void LeaveAllTies();

}  // namespace lamina::dynamic
