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

namespace lamina {
namespace {

constinit EventRing private_ring{};

// True if `fd` is a file without a name of the right size.
bool IsRing(int fd) {
  struct stat file;
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink == 0 &&
         file.st_size == static_cast<off_t>(kEventRingBytes);
}

}  // namespace

// This pointer is atomic because threads may be inside the library when the first of several
// initialisations adopts a ring.
constinit std::atomic<EventRing*> current_event_ring{&private_ring};

void AdoptEventRing(int fd) {
  if (!IsRing(fd)) return;
  void* const memory = mmap(nullptr, kEventRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return;  // the private ring still serves CHECK
  EventRing* adopted = static_cast<EventRing*>(memory);
  adopted->magic = EventRing::kMagic;
  current_event_ring.store(adopted, std::memory_order_release);
}

void MoveEventRing(int fd) {
  EventRing* const ring = CurrentEventRing();
  if (ring == &private_ring) return AdoptEventRing(fd);
  if (!IsRing(fd)) {
    if (fd >= 0) close(fd);
    return;
  }
  // The old one is a copy that was revived with this process. Threads may note something meanwhile,
  // which may be lost.
  static_cast<void>(!pwrite(fd, ring, sizeof *ring, 0));
  mmap(ring, kEventRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  close(fd);
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
