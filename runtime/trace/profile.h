// SPDX-License-Identifier: BSD-3-Clause
// Counts the MPI calls of this process for the launcher, if the job is profiled: how often, how
// long, how much of that was waiting, how many bytes.
//
// A profiled process takes the library lock as at MPI_THREAD_MULTIPLE, and the profile is kept
// where the lock is taken and given up. A process that is not profiled pays nothing for it on that
// path.
//
// Threads:    The caller holds the library lock, except in BeginCall.
// Allocation: Nothing is allocated.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/base/call_names.h"
#include "runtime/base/clock.h"
#include "runtime/base/profile_table.h"
#include "runtime/base/trace_table.h"

namespace lamina::trace {

extern ProfileTable* profile;  // null: this process is not profiled

// Begins to count if the launcher has made room for that.
void StartProfile();
// MPI is not up any more, or (false) is up again.
void SetProfileFinalized(bool finalized);

// The processor's own clock, which is read in less than half the time. It is used once it is known
// how fast it goes, where the kernel trusts it and the job is not traced.
struct FastClock {
  std::uint64_t scale;  // ns a tick, in units of 2^-32; 0: it is not used
  std::uint64_t base_ticks;
  std::uint64_t base_ns;
};
extern FastClock fast_clock;

// MonotonicNs(), to within some microseconds.
inline std::uint64_t ProfileNs() {
#if defined(__x86_64__)
  __extension__ using Wide = unsigned __int128;
  if (fast_clock.scale != 0) [[likely]]
    return fast_clock.base_ns +
           static_cast<std::uint64_t>(
               static_cast<Wide>(__builtin_ia32_rdtsc() - fast_clock.base_ticks) *
                   fast_clock.scale >>
               32);
#endif
  return MonotonicNs();
}

// Returns the time at which a call began, which EnterCall is told once the lock is taken; 0: the
// process is not profiled.
inline std::uint64_t BeginCall() { return profile != nullptr ? ProfileNs() : 0; }
// A function that another one calls counts as part of that. `place` is where the program called.
void EnterCall(Call call, const void* place, std::uint64_t began_ns);
void LeaveCall();
// A message has left to a peer, given by its PeerId.
struct SentMessage {
  std::uint32_t peer;
  std::uint64_t bytes;
  bool rendezvous;
  bool own;  // the library sends it for a collective or of its own
};
void NoteSent(const SentMessage& message);

// Messages to a peer are carried by that transport from now on.
void NoteCarrier(std::uint32_t peer, std::string_view carrier);

// A collective call: where it takes place, and how many bytes it is given and gives back, whichever
// way they go.
struct CollectiveCall {
  std::uint64_t context;
  std::uint64_t members;
  std::string_view name;  // of the communicator
  std::uint64_t sent_bytes;
  std::uint64_t received_bytes;
};
void NoteCollective(const CollectiveCall& call);
// The collective call under way was carried out by that algorithm.
void NoteAlgorithm(std::string_view name);
// The call under way has made this request of a collective. Waiting for it counts as part of that.
void NoteCollectiveRequest(const void* request);

// True if the process is traced, and so also profiled.
bool IsTraced();
// Something has happened on this thread that the timeline is to have. Does nothing if the process
// is not traced.
void NoteMark(TraceMark mark, std::uint64_t first, std::uint64_t second = 0);

// A part of the program begins or ends, on this thread.
void BeginRegion(std::string_view name);
void EndRegion(std::string_view name);
// 0: nothing is counted until another level is set.
void SetProfileLevel(int level);

// Says for whom the call under way waits from now on. A call of a collective waits for its members
// anyway.
enum class Awaits : std::uint8_t { kUnknown, kSender, kReceiver, kMembers };
void NoteAwaited(Awaits awaits, const void* request = nullptr);

// A wait, as part of a call. What has to be waited for within another wait counts once.
class Waiting {
 public:
  Waiting() = default;
  ~Waiting() { Busy(); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  // Nothing has arrived.
  void Idle() {
    if (profile != nullptr && since_ns_ == 0) [[unlikely]]
      Begin();
  }
  void Busy() {
    if (since_ns_ != 0) [[unlikely]]
      End();
  }

 private:
  void Begin();
  void End();
  std::uint64_t since_ns_ = 0;
};

}  // namespace lamina::trace
