// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/trace/profile.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/base/trace_table.h"
#include "runtime/trace/trace.h"

namespace lamina::trace {

constinit ProfileTable* profile = nullptr;

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

struct Bytes {
  std::uint64_t sent;
  std::uint64_t received;
};

// The MPI function that a thread is in.
struct Inside {
  std::uint32_t depth = 0;  // functions that it has called within it, and itself
  Call call = Call{};
  const void* place = nullptr;
  std::uint64_t began_ns = 0;
  std::uint64_t waited_ns = 0;
  bool waiting = false;
  bool collective = false;
  Bytes before = {};  // of the process
  Bytes noted = {};   // of a collective
};
constinit thread_local Inside inside;

constinit TraceTable* timeline = nullptr;                // null: this process is not traced
constinit std::uint32_t threads = 0;                     // that have been in MPI
constinit thread_local std::uint32_t thread_number = 0;  // from 1 on

// The oldest record gives way.
void Record(const TraceRecord& record) {
  const std::uint64_t next = timeline->next.load(kRelaxed);
  timeline->records()[next % timeline->capacity] = record;
  timeline->next.store(next + 1, std::memory_order_release);
}

// Messages that are copied once are among those that go by rendezvous.
Bytes Moved() {
  const auto sum = [](Counter eager, Counter rendezvous) {
    return numbers.counters[Index(eager)] + numbers.counters[Index(rendezvous)];
  };
  return {sum(Counter::kEagerSentBytes, Counter::kRendezvousSentBytes),
          sum(Counter::kEagerReceivedBytes, Counter::kRendezvousReceivedBytes)};
}

// The only writer holds the lock, so no atomic operation is needed.
void Add(ProfileWord& word, std::uint64_t by) { word.store(word.load(kRelaxed) + by, kRelaxed); }

}  // namespace

void StartProfile() {
  ProfileTable* const table = AdoptedProfile();
  if (table == nullptr) return;
  table->began_ns.store(MonotonicNs());
  table->magic.store(ProfileTable::kMagic);
  timeline = AdoptedTrace();
  profile = table;
}

void SetProfileFinalized(bool finalized) {
  if (profile != nullptr) profile->finalized.store(finalized ? 1 : 0);
}

void EnterCall(Call call, const void* place, std::uint64_t began_ns) {
  Inside& it = inside;
  if (it.depth++ > 0) return;
  it = {.depth = 1, .call = call, .place = place, .began_ns = began_ns, .before = Moved()};
  profile->open_call.store(static_cast<std::uint64_t>(call), kRelaxed);
  profile->open_since_ns.store(began_ns, kRelaxed);
}

void LeaveCall() {
  Inside& it = inside;
  if (it.depth == 0 || --it.depth > 0) return;
  const std::uint64_t now_ns = MonotonicNs();
  const std::uint64_t inside_ns = now_ns - it.began_ns;
  const Bytes moved = Moved();
  const Bytes bytes = it.collective
                          ? it.noted
                          : Bytes{moved.sent - it.before.sent, moved.received - it.before.received};
  ProfileRow& row = *FindProfileRow(profile, it.call, it.place);
  Add(row.calls, 1);
  Add(row.inside_ns, inside_ns);
  Add(row.waited_ns, std::min(it.waited_ns, inside_ns));
  row.longest_ns.store(std::max(row.longest_ns.load(kRelaxed), inside_ns), kRelaxed);
  Add(row.sent_bytes, bytes.sent);
  Add(row.received_bytes, bytes.received);
  if (timeline != nullptr) {
    if (thread_number == 0) thread_number = ++threads;
    Record({it.began_ns, now_ns, bytes.sent, bytes.received, static_cast<std::uint32_t>(it.call),
            thread_number - 1});
  }
  profile->open_call.store(0, kRelaxed);
  profile->last_ns.store(now_ns, kRelaxed);
}

void NoteCollective(std::uint64_t sent_bytes, std::uint64_t received_bytes) {
  inside.collective = true;
  inside.noted.sent += sent_bytes;
  inside.noted.received += received_bytes;
}

void Waiting::Begin() {
  if (inside.depth == 0 || inside.waiting) return;
  inside.waiting = true;
  since_ns_ = MonotonicNs();
}

void Waiting::End() {
  inside.waited_ns += MonotonicNs() - since_ns_;
  inside.waiting = false;
  since_ns_ = 0;
}

}  // namespace lamina::trace
