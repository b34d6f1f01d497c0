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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/call_names.h"
#include "runtime/base/event_ring.h"

namespace lamina {

struct ProfileRow {
  std::uint64_t key;  // the function and where it was called; 0: the row is free
  std::uint64_t calls;
  std::uint64_t inside_ns;   // from entering the function to leaving it
  std::uint64_t waited_ns;   // the part of it in which nothing arrived
  std::uint64_t longest_ns;  // of one call
  std::uint64_t sent_bytes;
  std::uint64_t received_bytes;
  // Parts of the time waited.
  std::uint64_t for_senders_ns;    // for messages
  std::uint64_t for_receivers_ns;  // for somebody to take what was sent
  std::uint64_t for_members_ns;    // for others in a collective
};
static_assert(sizeof(ProfileRow) == 80);

// What was sent to one process.
struct ProfileTraffic {
  std::uint64_t peer;  // its rank in the job, plus 1; 0: the entry is free
  std::uint64_t messages;
  std::uint64_t bytes;
  std::uint64_t own_messages;  // those that the library sends for collectives and of its own
  std::uint64_t own_bytes;
  char carrier[24];  // the transport that carries them, terminated
};
static_assert(sizeof(ProfileTraffic) == 64);

// Messages of so many bytes that the number has a certain count of digits in binary.
struct ProfileSize {
  std::uint64_t eager;
  std::uint64_t eager_bytes;
  std::uint64_t rendezvous;
  std::uint64_t rendezvous_bytes;
};
static_assert(sizeof(ProfileSize) == 32);

// A collective function called on one communicator.
struct ProfileCollective {
  std::uint64_t call;     // 0: the row is free
  std::uint64_t context;  // of the communicator; kOtherContexts: any other
  std::uint64_t members;
  std::uint64_t calls;
  std::uint64_t inside_ns;  // and waiting for it later on
  std::uint64_t waited_ns;
  std::uint64_t sent_bytes;
  std::uint64_t received_bytes;
  char name[64];  // of the communicator, terminated
  // How calls were carried out. It is looked at once for each bit count of the bytes of a call,
  // because an algorithm is chosen by the size; those sizes have a bit here.
  std::uint64_t sizes_seen;
  char algorithms[120];  // their names with commas between, terminated
};
static_assert(sizeof(ProfileCollective) == 256);

// A program or library that MPI was called from.
struct ProfileModule {
  std::uint64_t begin;  // its addresses in the process; 0: the entry is free
  std::uint64_t end;
  std::uint64_t moved_by;    // what its addresses have more than in its file
  std::uint64_t file_bytes;  // how long its file is; 0: that is not known
  char path[224];            // terminated
};
static_assert(sizeof(ProfileModule) == 256);

// A part of the program that it has named (lamina/region.h).
struct ProfileRegion {
  char name[64];  // terminated; "": the row is free
  std::uint64_t times;
  std::uint64_t inside_ns;
  std::uint64_t in_mpi_ns;
  std::uint64_t waited_ns;
  std::uint64_t longest_ns;
  std::uint64_t open;           // threads that are in it
  std::uint64_t open_since_ns;  // when the first of them came
  std::uint64_t unused;
};
static_assert(sizeof(ProfileRegion) == 128);

struct ProfileTable {
  static constexpr std::uint64_t kMagic = 0x3370616e696d614c;  // "Laminap3"
  static constexpr std::uint32_t kRows = 2048;
  // So many rows tell the place of the call; what is called from further places shares a row with
  // the calls of that function from anywhere, for which the other rows suffice.
  static constexpr std::uint32_t kRowsWithPlace = 1024;
  static_assert(kRows - kRowsWithPlace > static_cast<std::uint32_t>(Call::kCount));
  static constexpr std::uint32_t kModules = 64;
  // The last entry counts what is sent to all other processes.
  static constexpr std::uint32_t kPeers = 4096;
  static constexpr std::uint32_t kSizes = 65;
  // As with rows, some are kept for functions on communicators that have no row of their own.
  static constexpr std::uint32_t kCollectives = 512;
  static constexpr std::uint32_t kCollectivesWithContext = 256;
  static constexpr std::uint64_t kOtherContexts = ~std::uint64_t{0};
  static constexpr std::uint32_t kRegions = 256;

  std::uint64_t magic;
  std::uint64_t began_ns;   // CLOCK_MONOTONIC, when MPI was first initialised
  std::uint64_t last_ns;    // when a function was left last
  std::uint64_t open_call;  // the function that the process is in; 0: none
  std::uint64_t open_since_ns;
  std::uint64_t open_place;   // where that was called
  std::uint64_t finalized;    // 1: MPI is not up any more
  std::uint64_t rows_placed;  // rows that tell the place of the call
  ProfileRow rows[kRows];
  ProfileModule modules[kModules];
  ProfileTraffic traffic[kPeers];
  ProfileSize sizes[kSizes];
  std::uint64_t collectives_placed;
  ProfileCollective collectives[kCollectives];
  ProfileRegion regions[kRegions];
  std::uint64_t paused_ns;        // for so long the program had the profile pause
  std::uint64_t paused_since_ns;  // 0: it does not pause
  std::uint64_t peak_kib;         // the most memory the process had
  std::uint64_t cpus[16];         // a bit for each that the process may use
};
inline constexpr std::size_t kProfiledRingBytes = kEventRingBytes + sizeof(ProfileTable);

// Returns the key of a row. `place` is an address in the program, or null for any.
inline std::uint64_t ProfileKey(Call call, const void* place) {
  return reinterpret_cast<std::uintptr_t>(place) << 10 | static_cast<std::uint64_t>(call);
}
inline Call CallOfProfileKey(std::uint64_t key) { return static_cast<Call>(key & 1023); }
inline std::uint64_t PlaceOfProfileKey(std::uint64_t key) { return key >> 10; }
static_assert(static_cast<std::uint32_t>(Call::kCount) < 1024);

// The table behind the ring that this process has adopted; null if there is none.
ProfileTable* AdoptedProfile();

// Returns the row for calls of a function from a place, which is made if there is none yet.
ProfileRow* FindProfileRow(ProfileTable* table, Call call, const void* place);

// Returns the row for a collective function on a communicator, which is made if there is none yet.
ProfileCollective* FindProfileCollective(ProfileTable* table, Call call, std::uint64_t context,
                                         std::uint64_t members, std::string_view name);

// Returns the row for a region. When there are too many, the rest share one.
ProfileRegion* FindProfileRegion(ProfileTable* table, std::string_view name);

// What is in use of a table.
struct ProfileHead {
  std::uint64_t wall_ns;  // since MPI was first initialised, without pauses
  std::uint64_t open_call;
  std::uint64_t open_place;
  std::uint64_t open_ns;
  std::uint64_t peak_kib;
  std::uint64_t cpus[16];
};
struct ProfileCopy {
  ProfileHead head{};
  std::vector<ProfileRow> rows;
  std::vector<ProfileModule> modules;
  std::vector<ProfileTraffic> traffic;
  std::vector<ProfileSize> sizes;  // all of them, or none if nothing was sent
  std::vector<ProfileCollective> collectives;
  std::vector<ProfileRegion> regions;
};
std::string Encode(const ProfileCopy& copy);
// Returns nothing if the bytes make no sense. Every text in what it returns is terminated.
std::optional<ProfileCopy> DecodeProfile(std::string_view bytes);

// Copies what is in use of the table behind the ring `ring`, and encodes it. Returns "" if the
// process has not come to MPI. It is called on the host of the process, whose clock tells how long
// a function has lasted that was not left.
std::string CopyProfile(int ring);

}  // namespace lamina
