// SPDX-License-Identifier: BSD-3-Clause
// The wait note says for what a process waits in MPI, in memory that others can read while it
// waits.
//
// It lies at the end of the event ring, so the launcher finds it without any preparation and
// without the help of a process that is stuck. A process writes it before it goes to sleep in a
// wait, so a wait that is soon over costs nothing. It lists all that is open: receives, sends,
// messages that nobody has received, and the operation at a board.
//
// Threads: Whoever writes holds the library lock. A reader tells by `sequence` whether the note
//          changed while it was read.
// Layout:  It is pinned by wait_note_test.cc, because two processes share it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

// A communicator in which something is open. Its members are processes of the job: member i is
// first + i * stride or, with kListed, what stands in WaitNote::members from `first` on.
struct NotedComm {
  static constexpr std::uint32_t kListed = 0xffffffff;
  static constexpr std::uint32_t kUnlisted = 0xfffffffe;  // there was no room for them

  std::uint64_t context;  // for point-to-point
  std::uint32_t size;
  std::uint32_t first;
  std::uint32_t stride;
  char name[28];  // terminated; "" if it has none
};
static_assert(sizeof(NotedComm) == 48);

// Something that is open.
struct NotedEntry {
  enum Kind : std::uint8_t {
    kReceive = 1,
    kSend,
    kProbe,
    kBoard,       // an operation among members that share memory; `rank` is whom it waits for
    kUnexpected,  // a message that has arrived and nobody has asked for
  };
  // What belongs to one communicator travels apart, in planes; see core::Comm.
  enum Plane : std::uint8_t { kPointToPoint, kCollective, kMaking, kPartitioned };
  static constexpr std::int32_t kAny = -1;  // `rank` or `tag` may be anything
  static constexpr std::uint32_t kNobody = 0xffffffff;
  // `flags`
  static constexpr std::uint8_t kAwaited = 1;    // the wait is for this one
  static constexpr std::uint8_t kAskedBack = 2;  // MPI_Cancel wants the send back
  static constexpr std::uint8_t kNotReady = 4;   // a partitioned send: partition `tag` is the first
                                                 // that MPI_Pready has not been called for

  std::uint8_t kind;
  std::uint8_t plane;
  std::uint8_t flags;
  std::uint8_t comm;     // index among the communicators; kNoComm: they had no room
  std::int32_t rank;     // the other side's in the communicator
  std::uint32_t peer;    // the other side as a process of the job; kNobody: any
  std::int32_t tag;      // of a collective by messages, its number
  std::uint64_t bytes;   // that are offered, or for which there is room
  std::uint64_t number;  // of the operation at the board
  static constexpr std::uint8_t kNoComm = 0xff;
};
static_assert(sizeof(NotedEntry) == 32);

struct WaitNote {
  static constexpr std::uint32_t kComms = 16;
  static constexpr std::uint32_t kMembers = 512;
  static constexpr std::uint32_t kEntries = 96;
  enum State : std::uint32_t {
    kNone,
    kWaits,  // within the MPI call that the event ring names
    kTests,  // nothing is waited for, but tests in a row have found nothing
  };

  std::atomic<std::uint64_t> sequence;  // odd while the note is written
  std::atomic<std::uint32_t> state;
  std::uint32_t comms;
  std::uint32_t entries;
  std::uint32_t left_out;  // entries that had no room
  std::uint32_t members;   // in use
  std::uint32_t call;      // the MPI function that waits, see call_names.h
  std::uint64_t since_ms;  // CLOCK_REALTIME, so that it can be told on another host
  NotedComm comm[kComms];
  NotedEntry entry[kEntries];
  std::uint32_t member[kMembers];
};

// A note as a reader has it.
struct WaitSeen {
  WaitNote::State state = WaitNote::kNone;
  std::uint32_t left_out = 0;
  std::uint32_t call = 0;
  std::uint64_t since_ms = 0;
  std::vector<NotedComm> comms;
  std::vector<NotedEntry> entries;
  std::vector<std::uint32_t> members;

  // The processes that are members of a communicator; none if they are not known.
  std::vector<std::uint32_t> MembersOf(const NotedComm& comm) const;
};

// Copies what is in use of the note in the ring `ring`. Returns "" if there is none, or it changes
// all the time.
std::string CopyWaitNote(int ring);
// Nothing in a copy is believed; what makes no sense is no note.
WaitSeen DecodeWaitNote(std::string_view copy);

}  // namespace lamina
