// SPDX-License-Identifier: BSD-3-Clause
// The roster describes the job of one node in memory that its launcher shares with the ranks: who
// they are, and the cards they publish for each other.
//
// It replaces PMIx where all ranks are on one node, because a PMIx client costs each rank time and
// memory at the start. The launcher makes it as an anonymous file, so that nothing is left behind,
// and passes its descriptor, which the ranks map.
//
// Threads: Any thread may read; each entry is written by its rank alone.
// Layout:  The layout is pinned by roster_test.cc, because processes share it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace lamina {

// Ranks find the roster by this variable: the process id of its maker, a colon, and the number of
// the descriptor there, which they have inherited under the same number.
inline constexpr char kRosterVariable[] = "LAMINA_ROSTER";

struct RosterEntry {
  static constexpr std::size_t kBytes = 16384;  // pages that nobody touches take no memory

  // This word is 0 while there is no card, and else the number, from 1, of the program whose card
  // it is. Other ranks wait for it with a futex.
  std::atomic<std::uint32_t> published;
  // This counts the programs that this rank has run so far, as a script may run several.
  std::atomic<std::uint32_t> programs;
  std::uint32_t app;  // which of the job's programs it was started as
  std::uint32_t card_bytes;
  std::atomic<std::int32_t> process;  // the process that is this rank now; 0: none
  std::atomic<std::int32_t> left;     // the process that was it and has finalized MPI; 0: none
  std::uint32_t unused[2];
  std::byte card[kBytes - 32];
};
static_assert(sizeof(RosterEntry) == RosterEntry::kBytes);

struct Roster {
  static constexpr std::uint32_t kMagic = 0x524d414c;  // "LAMR"
  static constexpr std::size_t kHeadBytes = 4096;

  std::uint32_t magic;
  std::uint32_t ranks;
  std::uint32_t universe_ranks;
  std::uint32_t pid_namespace;  // of the launcher; 0: not known
  char job[256];                // terminated, as is
  char node[256];               // the host's name

  RosterEntry* entries() {
    return reinterpret_cast<RosterEntry*>(reinterpret_cast<std::byte*>(this) + kHeadBytes);
  }
  static std::size_t Bytes(std::size_t ranks) { return kHeadBytes + ranks * sizeof(RosterEntry); }
};

// Makes a new roster, whose descriptor the caller closes. `apps` is indexed by rank.
Result<int> MakeRoster(std::string_view job, std::string_view node, std::uint32_t universe_ranks,
                       std::span<const std::uint32_t> apps);
// Returns the number of this process's pid namespace, or 0 if it is not known.
std::uint32_t OwnPidNamespace();
// Returns the same, or 0 if /proc shows the processes of another namespace, so that /proc/PID is
// not the process that has this number here.
std::uint32_t PidNamespaceOfProc();
// Returns what ranks are told: "LAMINA_ROSTER=...".
std::string RosterAssignment(int fd);
// Opens the roster of `job` that `place`, the variable's value, leads to. It stays mapped, and an
// inherited descriptor is closed. The error is kNotFound if there is no roster or it belongs to
// another job.
Result<Roster*> OpenRoster(std::string_view place, std::string_view job);

}  // namespace lamina
