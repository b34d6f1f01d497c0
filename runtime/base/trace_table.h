// SPDX-License-Identifier: BSD-3-Clause
// The trace table keeps when a process was in which function of MPI, in memory that outlives the
// process.
//
// Where a job is traced, its launcher makes the file of the event ring longer once more, and the
// table lies behind the profile. When it is full, the oldest records go, or no new ones come.
//
// Threads: Whoever writes holds the library lock.
// Layout:  It is pinned by trace_table_test.cc, because two processes share it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/profile_table.h"

namespace lamina {

// One call of a function, from entering it to leaving it; or a mark, whose fields TraceMark gives.
struct TraceRecord {
  std::uint64_t began_ns;  // CLOCK_MONOTONIC
  std::uint64_t ended_ns;
  std::uint64_t sent_bytes;
  std::uint64_t received_bytes;
  std::uint32_t call;
  std::uint32_t thread;  // threads of the process are numbered as they come
  // How much there was when the call was left.
  std::uint32_t unexpected;  // messages that wait for their receive
  std::uint32_t posted;      // receives that wait
  std::uint64_t unexpected_bytes;
};
static_assert(sizeof(TraceRecord) == 56);

// What a mark says in `call`. Its time is in began_ns, and further numbers are in sent_bytes and
// received_bytes. Marks of a call come before it, and those whose thread is in no call have
// kNoThread.
enum class TraceMark : std::uint32_t {
  kSent = 1024,  // a message has left: the receiver's rank in the job, the message's number
  kReceived,     // a message has met its receive: the sender's rank in the job, the number
  kRegionBegin,  // a region begins: its place among ProfileTable::regions
  kRegionEnd,    // the innermost region of the thread ends
  kMemory,       // bytes that the process has
  kInFlight,     // bytes of long messages that have left and not arrived
};
inline constexpr std::uint32_t kNoThread = UINT32_MAX;
constexpr bool IsMark(const TraceRecord& record) {
  return record.call >= static_cast<std::uint32_t>(TraceMark::kSent);
}

struct TraceTable {
  static constexpr std::uint64_t kMagic = 0x3274616e696d614c;  // "Laminat2"

  std::uint64_t magic;              // the launcher has made the table
  std::uint64_t capacity;           // records
  std::atomic<std::uint64_t> next;  // grows on when there is no more room
  std::atomic<std::uint64_t> calls;
  std::uint64_t keeps_first;  // 1: what comes when there is no more room is lost
  std::uint64_t unused;
  // The records follow.
  TraceRecord* records() { return reinterpret_cast<TraceRecord*>(this + 1); }
};
static_assert(sizeof(TraceTable) == 48);

// How long the file of a ring is. `trace_bytes` are for records; 0: the job is not traced.
std::size_t RingFileBytes(bool profiled, std::uint64_t trace_bytes);
// Gives the file `ring` that length, and says in it how many records there is room for, and which
// are kept. False: that failed, and errno says why.
bool SizeRingFile(int ring, bool profiled, std::uint64_t trace_bytes, bool keeps_first);
// The table behind the ring that this process has adopted; null if there is none.
TraceTable* AdoptedTrace();

// What is in the table of a ring, the oldest record first.
struct TraceCopy {
  std::uint64_t lost = 0;            // calls that had no room
  bool keeps_first = false;          // these came later than the records, and not earlier
  std::vector<std::string> regions;  // names, by place; "": the place is free
  std::vector<TraceRecord> records;
};
// Besides whole calls it has the one that the process was in when it ended.
TraceCopy CopyTrace(int ring);
std::string Encode(const TraceCopy& copy);
TraceCopy DecodeTrace(std::string_view bytes);

}  // namespace lamina
