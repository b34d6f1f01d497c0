// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/trace/profile.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "runtime/trace/trace.h"

namespace lamina::trace {

constinit ProfileTable* profile = nullptr;
constinit FastClock fast_clock{};

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
  Bytes before = {};  // of the process
  // A collective has its own bytes, and its row.
  Bytes noted = {};
  ProfileCollective* collective = nullptr;
  // These say who is waited for, and the collective that a request belongs to.
  Awaits awaits = Awaits::kUnknown;
  ProfileCollective* awaited = nullptr;
  std::uint64_t waits_ns[4] = {};  // by Awaits
};
constinit thread_local Inside inside;

// What this thread has spent in MPI so far, and the regions that it is in.
struct Spent {
  std::uint64_t in_mpi_ns;
  std::uint64_t waited_ns;
};
struct OpenRegion {
  ProfileRegion* row;
  bool again;   // it lies within itself, so its time counts already
  bool marked;  // the timeline has its begin
  std::uint64_t began_ns;
  Spent before;
};
constexpr std::uint32_t kOpenRegions = 32;  // deeper ones are not counted
constinit thread_local Spent spent{};
constinit thread_local OpenRegion open_regions[kOpenRegions] = {};
constinit thread_local std::uint32_t regions_open = 0;

// From when on the fast clock is compared with the usual one; 0: it is not used.
constinit std::uint64_t compared_since_ns = 0;
constinit std::uint64_t compared_since_ticks = 0;
constexpr std::uint64_t kCompareNs = 20'000'000;  // before it is used at all

constinit bool paused = false;
// Now and then the clock is set and the memory looked at, for the first time when the fast clock
// has been compared for long enough.
constexpr std::uint64_t kLookAgainNs = 500'000'000;
constinit std::uint64_t look_again_ns = kCompareNs;
constinit std::uint64_t memory_looked_at_ns = 0;

// The requests of collectives that were made last. One that is made at the same address takes the
// place of one that has ended.
struct CollectiveRequest {
  const void* request;
  ProfileCollective* row;
};
constinit CollectiveRequest collective_requests[256] = {};

CollectiveRequest& PlaceOf(const void* request) {
  return collective_requests[reinterpret_cast<std::uintptr_t>(request) * 0x9e3779b97f4a7c15 >> 56];
}

constinit TraceTable* timeline = nullptr;                // null: this process is not traced
constinit std::uint32_t threads = 0;                     // that have been in MPI
constinit thread_local std::uint32_t thread_number = 0;  // from 1 on

// The oldest record gives way, or this one if the first are kept.
void Record(const TraceRecord& record) {
  const std::uint64_t next = timeline->next.load(kRelaxed);
  if (timeline->keeps_first == 0 || next < timeline->capacity)
    timeline->records()[next % timeline->capacity] = record;
  timeline->next.store(next + 1, std::memory_order_release);
}

std::uint32_t ThreadNumber() {
  if (thread_number == 0) thread_number = ++threads;
  return thread_number - 1;
}

void Mark(TraceMark mark, std::uint32_t thread, std::uint64_t now_ns, std::uint64_t first,
          std::uint64_t second) {
  Record({now_ns, now_ns, first, second, static_cast<std::uint32_t>(mark), thread, 0, 0, 0});
}

// Messages that are copied once are among those that go by rendezvous.
Bytes Moved() {
  const auto sum = [](Counter eager, Counter rendezvous) {
    return numbers.counters[Index(eager)] + numbers.counters[Index(rendezvous)];
  };
  return {sum(Counter::kEagerSentBytes, Counter::kRendezvousSentBytes),
          sum(Counter::kEagerReceivedBytes, Counter::kRendezvousReceivedBytes)};
}

// The only writer holds the lock, and others see whole words.
void Set(std::uint64_t& word, std::uint64_t value) { std::atomic_ref(word).store(value, kRelaxed); }
void Add(std::uint64_t& word, std::uint64_t by) { Set(word, word + by); }

// The kernel keeps the peak for the program that runs now, unlike that of getrusage().
void LookAtMemory(std::uint64_t now_ns) {
  const bool is_clock_late = compared_since_ns != 0 && fast_clock.scale == 0;
  look_again_ns = memory_looked_at_ns == 0 || is_clock_late ? kCompareNs : kLookAgainNs;
  memory_looked_at_ns = now_ns;
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  char text[4096];
  const ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  if (bytes <= 0) return;
  text[bytes] = '\0';
  constexpr char kPeak[] = "VmHWM:";
  if (const char* const peak = std::strstr(text, kPeak); peak != nullptr)
    Set(profile->peak_kib, std::strtoull(peak + sizeof kPeak - 1, nullptr, 10));
  constexpr char kNow[] = "VmRSS:";
  const char* const now = std::strstr(text, kNow);
  if (timeline != nullptr && now != nullptr)
    Mark(TraceMark::kMemory, kNoThread, now_ns,
         std::strtoull(now + sizeof kNow - 1, nullptr, 10) << 10, 0);
}

std::uint64_t Ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

// The kernel keeps time by this clock only where it goes at one speed on all processors.
bool HasFastClock() {
  char name[4] = {};
  const int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                        O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t bytes = read(file, name, 3);
  close(file);
  return Ticks() != 0 && bytes == 3 && std::strcmp(name, "tsc") == 0;
}

// Sets the fast clock by the usual one, of which it says the time. It is compared anew from now on
// if its speed seems to have changed, because the process has come to another machine.
std::uint64_t SetFastClock() {
  const std::uint64_t now_ns = MonotonicNs();
  if (compared_since_ns == 0 || now_ns - compared_since_ns < kCompareNs) return now_ns;
  const std::uint64_t ticks = Ticks();
  const double scale = static_cast<double>(now_ns - compared_since_ns) * 4294967296.0 /
                       static_cast<double>(ticks - compared_since_ticks);
  const double before = static_cast<double>(fast_clock.scale);
  const bool changed = before != 0 && (scale < 0.999 * before || scale > 1.001 * before);
  fast_clock = {changed ? 0 : static_cast<std::uint64_t>(scale), ticks, now_ns};
  if (changed) {
    compared_since_ns = now_ns;
    compared_since_ticks = ticks;
  }
  return now_ns;
}

void NoteCpus() {
  cpu_set_t cpus;
  static_assert(sizeof cpus == sizeof ProfileTable::cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) std::memcpy(profile->cpus, &cpus, sizeof cpus);
}

void CloseRegion(std::uint64_t now_ns) {
  const std::uint32_t at = --regions_open;
  if (at >= kOpenRegions) return;
  const OpenRegion& region = open_regions[at];
  if (region.marked && inside.depth == 0) Mark(TraceMark::kRegionEnd, ThreadNumber(), now_ns, 0, 0);
  if (region.again) return;
  ProfileRegion& row = *region.row;
  const std::uint64_t inside_ns = now_ns - region.began_ns;
  Set(row.open, row.open - 1);
  Add(row.inside_ns, inside_ns);
  Add(row.in_mpi_ns, spent.in_mpi_ns - region.before.in_mpi_ns);
  Add(row.waited_ns, spent.waited_ns - region.before.waited_ns);
  Set(row.longest_ns, std::max(row.longest_ns, inside_ns));
}

void CountCall(const Inside& it, std::uint64_t inside_ns, const Bytes& bytes) {
  spent.in_mpi_ns += inside_ns;
  spent.waited_ns += it.waited_ns;
  ProfileRow& row = *FindProfileRow(profile, it.call, it.place);
  Add(row.calls, 1);
  Add(row.inside_ns, inside_ns);
  Set(row.longest_ns, std::max(row.longest_ns, inside_ns));
  Add(row.sent_bytes, bytes.sent);
  Add(row.received_bytes, bytes.received);
  if (it.waited_ns != 0) {
    Add(row.waited_ns, it.waited_ns);
    Add(row.for_senders_ns, it.waits_ns[static_cast<int>(Awaits::kSender)]);
    Add(row.for_receivers_ns, it.waits_ns[static_cast<int>(Awaits::kReceiver)]);
    Add(row.for_members_ns, it.waits_ns[static_cast<int>(Awaits::kMembers)]);
  }
  if (ProfileCollective* const its = it.collective; its != nullptr) {
    Add(its->calls, 1);
    Add(its->inside_ns, inside_ns);
    Add(its->waited_ns, it.waited_ns);
    Add(its->sent_bytes, bytes.sent);
    Add(its->received_bytes, bytes.received);
  }
}

}  // namespace

void BeginRegion(std::string_view name) {
  if (paused || name.empty()) return;
  const std::uint32_t at = regions_open++;
  if (at >= kOpenRegions) return;
  ProfileRegion* const row = FindProfileRegion(profile, name);
  const auto begin = std::begin(open_regions);
  const bool again =
      std::any_of(begin, begin + at, [row](const OpenRegion& open) { return open.row == row; });
  const std::uint64_t now_ns = MonotonicNs();
  // One that begins within a call would not lie between calls.
  const bool marked = timeline != nullptr && inside.depth == 0;
  open_regions[at] = {row, again, marked, now_ns, spent};
  if (marked)
    Mark(TraceMark::kRegionBegin, ThreadNumber(), now_ns,
         static_cast<std::uint64_t>(row - profile->regions), 0);
  Add(row->times, 1);
  if (again) return;
  if (row->open == 0) Set(row->open_since_ns, now_ns);
  Add(row->open, 1);
}

// A name that is not among the open ones ends nothing, and the regions that found no row of their
// own end like one.
void EndRegion(std::string_view name) {
  if (regions_open > kOpenRegions) {
    --regions_open;
    return;
  }
  const std::string_view kept = name.substr(0, sizeof ProfileRegion::name - 1);
  const ProfileRegion* const shared = std::end(profile->regions) - 1;
  std::uint32_t at = regions_open;
  while (at > 0 && open_regions[at - 1].row != shared && open_regions[at - 1].row->name != kept)
    --at;
  if (at == 0) return;
  const std::uint64_t now_ns = MonotonicNs();
  while (regions_open >= at) CloseRegion(now_ns);
}

bool IsTraced() { return timeline != nullptr; }

void NoteMark(TraceMark mark, std::uint64_t first, std::uint64_t second) {
  if (timeline == nullptr) return;
  Mark(mark, inside.depth > 0 ? ThreadNumber() : kNoThread, MonotonicNs(), first, second);
}

void SetProfileLevel(int level) {
  const bool pauses = level == 0;
  if (profile == nullptr || pauses == paused) return;
  const std::uint64_t now_ns = MonotonicNs();
  if (!pauses) Add(profile->paused_ns, now_ns - profile->paused_since_ns);
  Set(profile->paused_since_ns, pauses ? now_ns : 0);
  paused = pauses;
}

void StartProfile() {
  ProfileTable* const table = AdoptedProfile();
  if (table == nullptr) return;
  table->began_ns = MonotonicNs();
  std::atomic_ref(table->magic).store(ProfileTable::kMagic);
  timeline = AdoptedTrace();
  profile = table;
  if (timeline == nullptr && HasFastClock()) {
    compared_since_ns = MonotonicNs();
    compared_since_ticks = Ticks();
  }
  NoteCpus();
  LookAtMemory(MonotonicNs());
}

void SetProfileFinalized(bool finalized) {
  if (profile == nullptr) return;
  LookAtMemory(MonotonicNs());
  Set(profile->finalized, finalized ? 1 : 0);
}

void EnterCall(Call call, const void* place, std::uint64_t began_ns) {
  Inside& it = inside;
  if (it.depth++ > 0) return;
  // Field by field, because to clear all of it takes longer.
  it.call = call;
  it.place = place;
  it.began_ns = began_ns;
  it.waited_ns = 0;
  it.waiting = false;
  it.before = Moved();
  it.noted = {};
  it.collective = nullptr;
  it.awaits = Awaits::kUnknown;
  it.awaited = nullptr;
  for (std::uint64_t& waited_ns : it.waits_ns) waited_ns = 0;
  Set(profile->open_call, static_cast<std::uint64_t>(call));
  Set(profile->open_since_ns, began_ns);
  Set(profile->open_place, reinterpret_cast<std::uintptr_t>(place));
}

void LeaveCall() {
  Inside& it = inside;
  if (it.depth == 0 || --it.depth > 0) return;
  std::uint64_t now_ns = ProfileNs();
  if (now_ns - memory_looked_at_ns > look_again_ns) [[unlikely]] {
    now_ns = SetFastClock();
    LookAtMemory(now_ns);
  }
  // The fast clock may have been set back a little.
  const std::uint64_t inside_ns = now_ns - std::min(now_ns, it.began_ns);
  it.waited_ns = std::min(it.waited_ns, inside_ns);
  const Bytes moved = Moved();
  const Bytes bytes = it.collective != nullptr
                          ? it.noted
                          : Bytes{moved.sent - it.before.sent, moved.received - it.before.received};
  if (!paused) [[likely]]
    CountCall(it, inside_ns, bytes);
  if (timeline != nullptr) {
    const auto level = [](Level which) { return numbers.levels[Index(which)]; };
    Record({it.began_ns, now_ns, bytes.sent, bytes.received, static_cast<std::uint32_t>(it.call),
            ThreadNumber(), static_cast<std::uint32_t>(level(Level::kUnexpected)),
            static_cast<std::uint32_t>(level(Level::kPosted)), level(Level::kUnexpectedBytes)});
    timeline->calls.store(timeline->calls.load(kRelaxed) + 1, kRelaxed);
  }
  Set(profile->open_call, 0);
  Set(profile->last_ns, now_ns);
}

void NoteSent(const SentMessage& message) {
  if (paused) return;
  const std::uint32_t at = std::min(message.peer, ProfileTable::kPeers - 1);
  ProfileTraffic& to = profile->traffic[at];
  Set(to.peer, at + 1);
  Add(message.own ? to.own_messages : to.messages, 1);
  Add(message.own ? to.own_bytes : to.bytes, message.bytes);
  ProfileSize& size = profile->sizes[std::bit_width(message.bytes)];
  Add(message.rendezvous ? size.rendezvous : size.eager, 1);
  Add(message.rendezvous ? size.rendezvous_bytes : size.eager_bytes, message.bytes);
}

void NoteCarrier(std::uint32_t peer, std::string_view carrier) {
  char(&name)[sizeof ProfileTraffic::carrier] =
      profile->traffic[std::min(peer, ProfileTable::kPeers - 1)].carrier;
  // The last entry may be that of several peers.
  if (name[0] != '\0' && peer >= ProfileTable::kPeers - 1 && carrier != name) carrier = "several";
  name[carrier.copy(name, sizeof name - 1)] = '\0';
}

void NoteAlgorithm(std::string_view name) {
  ProfileCollective* const row = inside.depth == 1 ? inside.collective : nullptr;
  if (row == nullptr || name.empty()) return;
  const std::uint64_t size = std::uint64_t{1} << std::min<std::uint64_t>(
                                 std::bit_width(inside.noted.sent | inside.noted.received), 63);
  if ((row->sizes_seen & size) != 0) return;
  Set(row->sizes_seen, row->sizes_seen | size);
  const std::string_view known = row->algorithms;
  for (std::string_view rest = known; !rest.empty();) {
    const std::size_t length = std::min(rest.find(','), rest.size());
    if (rest.substr(0, length) == name) return;
    rest.remove_prefix(std::min(length + 2, rest.size()));
  }
  if (known.size() + name.size() + 2 >= sizeof row->algorithms) return;
  if (!known.empty()) std::strcat(row->algorithms, ", ");
  std::strncat(row->algorithms, name.data(), name.size());
}

// A collective within another call counts as part of that.
void NoteCollective(const CollectiveCall& call) {
  if (inside.depth != 1) return;
  inside.noted.sent += call.sent_bytes;
  inside.noted.received += call.received_bytes;
  inside.awaits = Awaits::kMembers;
  inside.collective =
      FindProfileCollective(profile, inside.call, call.context, call.members, call.name);
}

void NoteCollectiveRequest(const void* request) { PlaceOf(request) = {request, inside.collective}; }

void NoteAwaited(Awaits awaits, const void* request) {
  if (inside.collective != nullptr) return;
  inside.awaits = awaits;
  inside.awaited = nullptr;
  if (request == nullptr || awaits != Awaits::kMembers) return;
  const CollectiveRequest& place = PlaceOf(request);
  if (place.request == request) inside.awaited = place.row;
}

void Waiting::Begin() {
  if (inside.depth == 0 || inside.waiting) return;
  inside.waiting = true;
  since_ns_ = ProfileNs();
}

void Waiting::End() {
  const std::uint64_t now_ns = ProfileNs();
  const std::uint64_t waited_ns = now_ns - std::min(now_ns, since_ns_);
  inside.waited_ns += waited_ns;
  inside.waits_ns[static_cast<int>(inside.awaits)] += waited_ns;
  if (inside.awaited != nullptr && !paused) {
    Add(inside.awaited->inside_ns, waited_ns);
    Add(inside.awaited->waited_ns, waited_ns);
  }
  inside.waiting = false;
  since_ns_ = 0;
}

}  // namespace lamina::trace
