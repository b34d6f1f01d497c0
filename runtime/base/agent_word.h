// SPDX-License-Identifier: BSD-3-Clause
// What mpiexec and the agent of a rank say to each other while a job is saved from outside.
//
// Each rank inherits two pipes, and the variable LAMINA_AGENT of its environment is
// "ORDERS:REPORTS", their descriptors. E is the epoch, the number of the checkpoint.
//
//   agent ── kHere ───────────────> mpiexec   MPI has been initialised
//         <── kStop E, count, ranks ──        the ranks that have ended, 4 bytes each
//         ── kStopped E, markers ──>          no thread is inside the library; so many were sent
//         ── kReceived E, markers ─>          whenever more have been received
//         <── kLetGo E ──                     all that were sent in the job have been received
//         ── kBare E ──────────────>          endpoints and transports are gone
//         <── kGoOn E, bytes, text ──         may come at any point after kStop
//         ── kGoing E ─────────────>          the program goes on
//         ── kTrouble E, bytes, text ─>       instead of kStopped, kBare or kGoing
//         ── kGone ────────────────>          the process ends, or another program follows
//
// The text of kGoOn is empty, but for a process that was revived: then it has what its new launcher
// says in place of what stands in its environment, as "NAME=value" with a zero byte behind each.
#pragma once

#include <cstdint>

namespace lamina {

inline constexpr char kAgentVariable[] = "LAMINA_AGENT";

struct AgentWord {
  enum Kind : std::uint32_t {
    kHere = 1,
    kStopped,
    kReceived,
    kBare,
    kGoing,
    kTrouble,
    kGone,
    kStop = 33,
    kLetGo,
    kGoOn,
  };
  std::uint32_t kind = 0;
  std::uint32_t epoch = 0;
  std::uint64_t number = 0;
};
static_assert(sizeof(AgentWord) == 16);

// A text behind kTrouble is not longer, so that a pipe takes both at once.
inline constexpr std::uint64_t kTroubleBytesMax = 512;
inline constexpr std::uint64_t kChangesBytesMax = 1 << 16;  // behind kGoOn, likewise

}  // namespace lamina
