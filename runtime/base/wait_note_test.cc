// SPDX-License-Identifier: BSD-3-Clause
// Goal:   two processes of one version read the same note, whole or not at all, and a copy that
// makes
//         no sense is no note.
// Method: pin the layout by number; read a file that this test has written; cut and spoil copies.
#include "runtime/base/wait_note.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "runtime/base/event_ring.h"

namespace lamina {
namespace {

// A ring as the launcher keeps it, in which this test writes as a rank does.
class Ring {
 public:
  Ring() : fd_(memfd_create("wait_note_test", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(kEventRingBytes)), 0);
    memory_ = mmap(nullptr, kEventRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  }
  ~Ring() {
    munmap(memory_, kEventRingBytes);
    close(fd_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  WaitNote& note() { return static_cast<EventRing*>(memory_)->wait; }
  std::string Copy() const { return CopyWaitNote(fd_); }

 private:
  int fd_;
  void* memory_;
};

void Write(WaitNote* note) {
  note->state = WaitNote::kWaits;
  note->since_ms = 5;
  note->call = 7;
  note->comms = 2;
  note->comm[0] = {.context = 0, .size = 4, .first = 0, .stride = 1, .name = "MPI_COMM_WORLD"};
  note->comm[1] = {.context = 12, .size = 3, .first = 0, .stride = NotedComm::kListed, .name = ""};
  note->entries = 1;
  note->entry[0] = {.kind = NotedEntry::kReceive,
                    .plane = NotedEntry::kPointToPoint,
                    .flags = NotedEntry::kAwaited,
                    .comm = 1,
                    .rank = 2,
                    .peer = 9,
                    .tag = 3,
                    .bytes = 8,
                    .number = 0};
  note->members = 3;
  note->member[0] = 4;
  note->member[1] = 2;
  note->member[2] = 9;
}

TEST(WaitNote, LayoutIsPinned) {
  EXPECT_EQ(offsetof(WaitNote, sequence), 0u);
  EXPECT_EQ(offsetof(WaitNote, state), 8u);
  EXPECT_EQ(offsetof(WaitNote, since_ms), 32u);
  EXPECT_EQ(offsetof(WaitNote, comm), 40u);
  EXPECT_EQ(offsetof(NotedComm, name), 20u);
  EXPECT_EQ(offsetof(NotedEntry, peer), 8u);
  EXPECT_EQ(offsetof(NotedEntry, number), 24u);
}

TEST(WaitNote, IsReadAsItWasWritten) {
  Ring ring;
  EXPECT_EQ(ring.Copy(), "");
  Write(&ring.note());
  const WaitSeen seen = DecodeWaitNote(ring.Copy());
  EXPECT_EQ(seen.state, WaitNote::kWaits);
  EXPECT_EQ(seen.since_ms, 5u);
  EXPECT_EQ(seen.call, 7u);
  ASSERT_EQ(seen.comms.size(), 2u);
  EXPECT_STREQ(seen.comms[0].name, "MPI_COMM_WORLD");
  EXPECT_EQ(seen.MembersOf(seen.comms[0]), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(seen.MembersOf(seen.comms[1]), (std::vector<std::uint32_t>{4, 2, 9}));
  ASSERT_EQ(seen.entries.size(), 1u);
  EXPECT_EQ(seen.entries[0].peer, 9u);
}

TEST(WaitNote, OneThatIsBeingWrittenIsNotRead) {
  Ring ring;
  Write(&ring.note());
  ring.note().sequence = 1;
  EXPECT_EQ(ring.Copy(), "");
  ring.note().sequence = 2;
  EXPECT_NE(ring.Copy(), "");
}

TEST(WaitNote, NothingInACopyIsBelieved) {
  Ring ring;
  Write(&ring.note());
  const std::string copy = ring.Copy();
  for (std::size_t bytes = 0; bytes < copy.size(); ++bytes)
    EXPECT_EQ(DecodeWaitNote(copy.substr(0, bytes)).state, WaitNote::kNone);
  for (std::size_t at = 0; at < copy.size(); ++at) {
    std::string spoilt = copy;
    spoilt[at] = '\xff';
    const WaitSeen seen = DecodeWaitNote(spoilt);
    for (const NotedComm& comm : seen.comms) EXPECT_LE(seen.MembersOf(comm).size(), 1u << 23);
    for (const NotedEntry& entry : seen.entries)
      EXPECT_TRUE(entry.comm == NotedEntry::kNoComm || entry.comm < seen.comms.size());
  }
}

}  // namespace
}  // namespace lamina
