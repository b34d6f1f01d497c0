// SPDX-License-Identifier: BSD-3-Clause
// Goal:   two processes of one version read the same ring, and the newest events survive.
// Method: pin the layout by number; write through the adopted mapping and read through another one,
//         as the launcher does; run the ring over its end.
#include "runtime/base/event_ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace lamina {
namespace {

// This is the launcher's view of a ring that this process has adopted.
class SharedRing {
 public:
  explicit SharedRing(std::size_t bytes) : fd_(memfd_create("event_ring_test", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(bytes)), 0);
    if (bytes >= kEventRingBytes)
      ring_ =
          static_cast<EventRing*>(mmap(nullptr, kEventRingBytes, PROT_READ, MAP_SHARED, fd_, 0));
  }
  ~SharedRing() {
    if (ring_ != nullptr) munmap(ring_, kEventRingBytes);
    close(fd_);
  }
  void Adopt() { AdoptEventRing(dup(fd_)); }
  const EventRing& ring() const { return *ring_; }

 private:
  int fd_;
  EventRing* ring_ = nullptr;
};

TEST(EventRing, LayoutIsPinned) {
  EXPECT_EQ(sizeof(Event), 128u);
  EXPECT_EQ(offsetof(Event, time_ns), 0u);
  EXPECT_EQ(offsetof(Event, text), 8u);
  EXPECT_EQ(offsetof(Event, unused), 120u);
  EXPECT_EQ(offsetof(EventRing, magic), 0u);
  EXPECT_EQ(offsetof(EventRing, call), 4u);
  EXPECT_EQ(offsetof(EventRing, inside), 8u);
  EXPECT_EQ(offsetof(EventRing, phase), 12u);
  EXPECT_EQ(offsetof(EventRing, waits), 16u);
  EXPECT_EQ(offsetof(EventRing, queued), 40u);
  EXPECT_EQ(offsetof(LockNote, kind), 0u);
  EXPECT_EQ(offsetof(LockNote, target), 4u);
  EXPECT_EQ(offsetof(LockNote, window), 8u);
  EXPECT_EQ(offsetof(LockNote, holder), 16u);
  EXPECT_EQ(offsetof(LockNote, sharers), 20u);
  EXPECT_EQ(offsetof(EventRing, next), 64u);
  EXPECT_EQ(offsetof(EventRing, counters), 72u);
  EXPECT_EQ(offsetof(EventRing, events), 128u);
  EXPECT_EQ(offsetof(EventRing, wait), 128u + 1024u * 128u);
  EXPECT_EQ(kEventRingBytes, 128u + 1024u * 128u + 5952u);
  EXPECT_EQ(static_cast<int>(Phase::kInitialized), 1);
  EXPECT_EQ(static_cast<int>(Phase::kFinalized), 2);
  EXPECT_TRUE(std::atomic<std::uint64_t>::is_always_lock_free);
}

TEST(EventRing, IsThereBeforeItIsAdopted) {
  ASSERT_NE(CurrentEventRing(), nullptr);
  AdoptEventRing(-1);
  RecordEvent("early %d", 1);
  const auto events = LastEvents(*CurrentEventRing(), 1);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_NE(events[0].find("early 1"), std::string::npos) << events[0];
}

TEST(EventRing, TheOtherSideReadsWhatWasWritten) {
  SharedRing shared(kEventRingBytes);
  EXPECT_TRUE(LastEvents(shared.ring(), 10).empty());
  shared.Adopt();
  EXPECT_EQ(shared.ring().magic, EventRing::kMagic);
  EXPECT_EQ(shared.ring().phase.load(), static_cast<std::uint32_t>(Phase::kStarted));
  RecordEvent("first");
  RecordEvent("second %s", "of two");
  const auto events = LastEvents(shared.ring(), 10);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_NE(events[0].find("first"), std::string::npos) << events[0];
  EXPECT_NE(events[1].find("second of two"), std::string::npos) << events[1];
}

TEST(EventRing, KeepsTheNewestWhenItIsFull) {
  SharedRing shared(kEventRingBytes);
  shared.Adopt();
  for (std::uint32_t i = 0; i < EventRing::kEvents + 5; ++i) RecordEvent("event %u.", i);
  const auto all = LastEvents(shared.ring(), 100000);
  ASSERT_EQ(all.size(), EventRing::kEvents);
  EXPECT_NE(all.front().find("event 5."), std::string::npos) << all.front();
  EXPECT_NE(all.back().find("event 1028."), std::string::npos) << all.back();
  EXPECT_EQ(LastEvents(shared.ring(), 3).size(), 3u);
  EXPECT_TRUE(LastEvents(shared.ring(), 0).empty());
}

TEST(EventRing, CutsALongTextAndTerminatesIt) {
  SharedRing shared(kEventRingBytes);
  shared.Adopt();
  RecordEvent("%s", std::string(1000, 'x').c_str());
  EXPECT_EQ(std::strlen(shared.ring().events[0].text), sizeof(Event::text) - 1);
}

TEST(EventRing, RefusesAFileThatIsTooShort) {
  EventRing* const before = CurrentEventRing();
  SharedRing shared(4096);
  shared.Adopt();
  EXPECT_EQ(CurrentEventRing(), before);
  RecordEvent("still alive");  // a mapping past the end of the file would be SIGBUS
}

TEST(EventRing, LeavesAFileOfTheProgramAlone) {
  EventRing* const before = CurrentEventRing();
  for (std::string name : {testing::TempDir(), std::string("/dev/shm/")}) {
    name += "event_ring_test.XXXXXX";
    const int fd = mkstemp(name.data());
    ASSERT_GE(fd, 0) << name;
    ASSERT_EQ(ftruncate(fd, static_cast<off_t>(kEventRingBytes)), 0);
    AdoptEventRing(fd);
    EXPECT_EQ(CurrentEventRing(), before);
    std::uint32_t magic = 1;
    EXPECT_EQ(pread(fd, &magic, sizeof magic, 0), 4) << "was closed";
    EXPECT_EQ(magic, 0u);
    close(fd);
    unlink(name.c_str());
  }
}

}  // namespace
}  // namespace lamina
