// SPDX-License-Identifier: BSD-3-Clause
// The job of one node in memory that its launcher shares with the ranks: who they are, and the
// cards they publish for each other.
//
// It stands in for PMIx where all ranks are on one node: a PMIx client takes each rank 3 ms and 1
// to 1.6 MB, the roster 4 kB. The launcher makes it (an anonymous file, so that nothing is left
// behind) and passes its descriptor; ranks map it.
//
// Threads: any; each entry is written by its rank alone.
// Layout:  pinned by roster_test.cc, because processes share it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace lamina {

// The variable ranks find it by: process id of whoever made it, a colon, the descriptor there,
// which they have inherited under the same number.
inline constexpr char kRosterVariable[] = "LAMINA_ROSTER";

struct RosterEntry {
  static constexpr std::size_t kBytes = 16384;  // pages that nobody touches take no memory

  // 0: no card is there; else the number, from 1, of the program whose card it is. A futex.
  std::atomic<std::uint32_t> published;
  // That this rank has run so far, one after another: its script may.
  std::atomic<std::uint32_t> programs;
  std::uint32_t app;  // which of the job's programs it was started as
  std::uint32_t card_bytes;
  std::atomic<std::int32_t> process;  // who is this rank now; 0: nobody
  std::atomic<std::int32_t> left;     // who was it and has finalized MPI; 0: nobody
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

// A new roster, to be closed by the caller. `apps`: by rank.
Result<int> MakeRoster(std::string_view job, std::string_view node, std::uint32_t universe_ranks,
                       std::span<const std::uint32_t> apps);
// The number of this process's pid namespace; 0: not known.
std::uint32_t OwnPidNamespace();
// What ranks are told: "LAMINA_ROSTER=...".
std::string RosterAssignment(int fd);
// The roster of `job` that `place`, the variable's value, leads to; stays mapped. An inherited
// descriptor is closed. kNotFound: it is not there, or the roster of another job is.
Result<Roster*> OpenRoster(std::string_view place, std::string_view job);

}  // namespace lamina
