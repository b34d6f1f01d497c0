// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/event_ring.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "runtime/base/clock.h"
#include "runtime/base/profile_table.h"
#include "runtime/base/trace_table.h"

namespace lamina {
namespace {

constinit EventRing private_ring{};

// How long the adopted file is; 0: none was adopted.
constinit std::size_t adopted_bytes = 0;

// Returns the length of a file without a name that has one of the right sizes; 0 for any other.
std::size_t RingBytes(int fd) {
  struct stat file;
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_nlink != 0) return 0;
  const std::size_t bytes = static_cast<std::size_t>(file.st_size);
  if (bytes == kEventRingBytes || bytes == kProfiledRingBytes) return bytes;
  std::uint64_t table[2] = {};  // its magic number and its capacity
  const bool traced = pread(fd, table, sizeof table, kProfiledRingBytes) == sizeof table &&
                      table[0] == TraceTable::kMagic;
  return traced && bytes == RingFileBytes(true, table[1] * sizeof(TraceRecord)) ? bytes : 0;
}

}  // namespace

// This pointer is atomic because threads may be inside the library when the first of several
// initialisations adopts a ring.
constinit std::atomic<EventRing*> current_event_ring{&private_ring};

void AdoptEventRing(int fd) {
  const std::size_t bytes = RingBytes(fd);
  if (bytes == 0) return;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return;  // the private ring still serves CHECK
  EventRing* adopted = static_cast<EventRing*>(memory);
  adopted_bytes = bytes;
  adopted->magic = EventRing::kMagic;
  current_event_ring.store(adopted, std::memory_order_release);
}

void MoveEventRing(int fd) {
  EventRing* const ring = CurrentEventRing();
  if (ring == &private_ring) return AdoptEventRing(fd);
  if (fd < 0) return;
  if (RingBytes(fd) != adopted_bytes) {
    close(fd);
    return;
  }
  // The old one is a copy that was revived with this process. Threads may note something meanwhile,
  // which may be lost.
  static_cast<void>(!pwrite(fd, ring, adopted_bytes, 0));
  static_cast<void>(
      !mmap(ring, adopted_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
  close(fd);
}

ProfileTable* AdoptedProfile() {
  if (adopted_bytes < kProfiledRingBytes) return nullptr;
  return reinterpret_cast<ProfileTable*>(reinterpret_cast<char*>(CurrentEventRing()) +
                                         kEventRingBytes);
}

TraceTable* AdoptedTrace() {
  if (adopted_bytes <= kProfiledRingBytes) return nullptr;
  return reinterpret_cast<TraceTable*>(reinterpret_cast<char*>(CurrentEventRing()) +
                                       kProfiledRingBytes);
}

void RecordEvent(const char* format, ...) {
  EventRing* ring = CurrentEventRing();
  const std::uint64_t slot = ring->next.fetch_add(1, std::memory_order_relaxed);
  Event& event = ring->events[slot % EventRing::kEvents];
  event.time_ns = MonotonicNs();
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(event.text, sizeof event.text, format, arguments);
  va_end(arguments);
}

std::vector<std::string> LastEvents(const EventRing& ring, std::size_t count) {
  const std::uint64_t next = ring.next.load(std::memory_order_acquire);
  const std::uint64_t kept = std::min<std::uint64_t>({next, count, EventRing::kEvents});
  std::vector<std::string> lines;
  lines.reserve(kept);
  for (std::uint64_t i = next - kept; i < next; ++i) {
    const Event& event = ring.events[i % EventRing::kEvents];
    char line[160];
    snprintf(line, sizeof line, "%10.6f %.*s", static_cast<double>(event.time_ns) * 1e-9,
             static_cast<int>(sizeof event.text), event.text);
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace lamina
