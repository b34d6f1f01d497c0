// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/ring_copy.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/base/event_ring.h"

namespace lamina::launcher {
namespace {

off_t PlaceOf(std::uint64_t event) {
  return static_cast<off_t>(offsetof(EventRing, events) +
                            event % EventRing::kEvents * sizeof(Event));
}

}  // namespace

std::string RingHead(int ring) {
  std::string head(kEventRingHeadBytes, '\0');
  if (pread(ring, head.data(), head.size(), 0) != static_cast<ssize_t>(head.size())) return "";
  return head;
}

std::vector<std::string> RingEvents(int ring, std::size_t count) {
  std::uint64_t next = 0;
  std::vector<std::string> events;
  if (pread(ring, &next, sizeof next, offsetof(EventRing, next)) != sizeof next) return events;
  const std::uint64_t kept = std::min<std::uint64_t>({next, count, EventRing::kEvents});
  for (std::uint64_t event = next - kept; event < next; ++event) {
    std::string slot(sizeof(Event), '\0');
    if (pread(ring, slot.data(), slot.size(), PlaceOf(event)) == static_cast<ssize_t>(slot.size()))
      events.push_back(std::move(slot));
  }
  return events;
}

}  // namespace lamina::launcher
