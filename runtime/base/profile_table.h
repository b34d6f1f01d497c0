// SPDX-License-Identifier: BSD-3-Clause
// The profile table counts what a process does in MPI, in memory that outlives the process.
//
// Where a job is profiled, its launcher makes the file of the event ring longer, and the table lies
// behind the ring. A row stands for one MPI function called from one place. So the launcher reads
// what a rank has counted however the rank has ended, and no other descriptor is needed.
//
// Threads: Whoever writes holds the library lock. A reader in another process sees whole words,
// each
//          a little old.
// Layout:  It is pinned by profile_table_test.cc, because two processes share it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/call_names.h"
#include "runtime/base/event_ring.h"

namespace lamina {

using ProfileWord = std::atomic<std::uint64_t>;

struct ProfileRow {
  ProfileWord key;  // the function and where it was called; 0: the row is free
  ProfileWord calls;
  ProfileWord inside_ns;   // from entering the function to leaving it
  ProfileWord waited_ns;   // the part of it in which nothing arrived
  ProfileWord longest_ns;  // of one call
  ProfileWord sent_bytes;
  ProfileWord received_bytes;
  ProfileWord unused;
};
static_assert(sizeof(ProfileRow) == 64);

struct ProfileTable {
  static constexpr std::uint64_t kMagic = 0x3170616e696d614c;  // "Laminap1"
  static constexpr std::uint32_t kRows = 2048;
  // So many rows tell the place of the call; what is called from further places shares a row with
  // the calls of that function from anywhere, for which the other rows suffice.
  static constexpr std::uint32_t kRowsWithPlace = 1024;
  static_assert(kRows - kRowsWithPlace > static_cast<std::uint32_t>(Call::kCount));

  ProfileWord magic;
  ProfileWord began_ns;   // CLOCK_MONOTONIC, when MPI was first initialised
  ProfileWord last_ns;    // when a function was left last
  ProfileWord open_call;  // the function that the process is in; 0: none
  ProfileWord open_since_ns;
  ProfileWord finalized;    // 1: MPI is not up any more
  ProfileWord rows_placed;  // rows that tell the place of the call
  ProfileWord unused;
  ProfileRow rows[kRows];
};
inline constexpr std::size_t kProfiledRingBytes = kEventRingBytes + sizeof(ProfileTable);

// Returns the key of a row. `place` is an address in the program, or null for any.
inline std::uint64_t ProfileKey(Call call, const void* place) {
  return reinterpret_cast<std::uintptr_t>(place) << 10 | static_cast<std::uint64_t>(call);
}
inline Call CallOfProfileKey(std::uint64_t key) { return static_cast<Call>(key & 1023); }
static_assert(static_cast<std::uint32_t>(Call::kCount) < 1024);

// The table behind the ring that this process has adopted; null if there is none.
ProfileTable* AdoptedProfile();

// Returns the row for calls of a function from a place, which is made if there is none yet.
ProfileRow* FindProfileRow(ProfileTable* table, Call call, const void* place);

// Copies what is in use of the table behind the ring `ring`, in the format of launcher/profile.
// Returns "" if the process has not come to MPI. It is called on the host of the process, whose
// clock tells how long a function has lasted that was not left.
std::string CopyProfile(int ring);

}  // namespace lamina
