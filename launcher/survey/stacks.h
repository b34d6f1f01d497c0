// SPDX-License-Identifier: BSD-3-Clause
// The call stacks of a job's ranks, as eu-stack or gdb show them, and what they have in common.
// Only ShowStacksHere() touches the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/survey/leftovers.h"

namespace lamina::launcher {

using Frames = std::vector<std::string>;  // the outermost call first

struct Stack {
  std::uint32_t rank = 0;
  Frames frames;
  std::string why_not;  // there are no frames
  friend bool operator==(const Stack&, const Stack&) = default;
};

// Returns the processes of `job` that are its ranks: of each rank those with our library in memory
// or, if none has it, those without a child.
std::vector<ProcessSeen> RanksOf(std::span<const ProcessSeen> seen, std::string_view job);

// Returns the stack of a process's first thread from what eu-stack or gdb has printed about the
// process. Empty means that there is none in it.
Frames FirstStackIn(std::string_view printed, pid_t process);

// The stacks as a tree: what several ranks have in common stands once, and each branch begins with
// its ranks, as "0-3,5". Ranks without frames follow, with the reason.
std::string Merged(std::span<const Stack> stacks);

// What the errand sends, and what the command reads of it.
std::string Encode(const Stack& stack);
std::vector<Stack> DecodeStacks(std::string_view text);

// Prints the encoded stacks of all ranks of `job` on this host. Returns 1 if there is none.
int ShowStacksHere(const std::string& job);

}  // namespace lamina::launcher
