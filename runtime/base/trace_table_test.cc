// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the launcher reads what a process has recorded, the oldest first, and learns how much had
// no
//         room.
// Method: a file as the launcher makes it, in which this test writes as a rank does.
#include "runtime/base/trace_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace lamina {
namespace {

class TraceFile {
 public:
  explicit TraceFile(std::uint64_t records, bool keeps_first = false)
      : fd_(memfd_create("trace_table_test", MFD_CLOEXEC)),
        bytes_(RingFileBytes(true, records * sizeof(TraceRecord))) {
    EXPECT_TRUE(SizeRingFile(fd_, true, records * sizeof(TraceRecord), keeps_first));
    memory_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
  }
  ~TraceFile() {
    munmap(memory_, bytes_);
    close(fd_);
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  void Write(std::uint64_t began_ns) {
    auto* const table = reinterpret_cast<TraceTable*>(memory_ + kProfiledRingBytes);
    const std::uint64_t next = table->next++;
    ++table->calls;
    if (table->keeps_first == 0 || next < table->capacity)
      table->records()[next % table->capacity] = {began_ns, began_ns + 1, 8, 0, 5, 0, 1, 2, 3};
  }
  void Mark(TraceMark mark) {
    auto* const table = reinterpret_cast<TraceTable*>(memory_ + kProfiledRingBytes);
    table->records()[table->next++ % table->capacity] = {
        1, 1, 0, 0, static_cast<std::uint32_t>(mark), 0, 0, 0, 0};
  }
  ProfileTable* profile() { return reinterpret_cast<ProfileTable*>(memory_ + kEventRingBytes); }
  TraceCopy Copy() const { return CopyTrace(fd_); }

 private:
  int fd_;
  std::size_t bytes_;
  char* memory_;
};

TEST(TraceTable, LayoutIsPinned) {
  EXPECT_EQ(offsetof(TraceRecord, ended_ns), 8u);
  EXPECT_EQ(offsetof(TraceRecord, call), 32u);
  EXPECT_EQ(offsetof(TraceRecord, unexpected), 40u);
  EXPECT_EQ(offsetof(TraceRecord, unexpected_bytes), 48u);
  EXPECT_EQ(offsetof(TraceTable, next), 16u);
  EXPECT_EQ(RingFileBytes(false, 0), kEventRingBytes);
  EXPECT_EQ(RingFileBytes(true, 0), kProfiledRingBytes);
  EXPECT_EQ(RingFileBytes(false, 560), kProfiledRingBytes + 48 + 560);
}

TEST(TraceTable, NothingIsLostWhereThereIsRoom) {
  TraceFile file(4);
  EXPECT_TRUE(file.Copy().records.empty());
  for (std::uint64_t i = 1; i <= 3; ++i) file.Write(i);
  const TraceCopy copy = file.Copy();
  ASSERT_EQ(copy.records.size(), 3u);
  EXPECT_EQ(copy.lost, 0u);
  EXPECT_EQ(copy.records[2].began_ns, 3u);
}

TEST(TraceTable, TheOldestGo) {
  TraceFile file(4);
  for (std::uint64_t i = 1; i <= 10; ++i) file.Write(i);
  const TraceCopy copy = DecodeTrace(Encode(file.Copy()));
  EXPECT_EQ(copy.lost, 6u);
  ASSERT_EQ(copy.records.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(copy.records[i].began_ns, 7 + i);
}

TEST(TraceTable, TheFirstStay) {
  TraceFile file(4, true);
  for (std::uint64_t i = 1; i <= 10; ++i) file.Write(i);
  file.profile()->open_call = 5;
  const TraceCopy copy = DecodeTrace(Encode(file.Copy()));
  EXPECT_TRUE(copy.keeps_first);
  EXPECT_EQ(copy.lost, 6u);
  ASSERT_EQ(copy.records.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(copy.records[i].began_ns, 1 + i);
}

TEST(TraceTable, MarksAreNoCallsAndRegionsHaveNames) {
  TraceFile file(4);
  const std::string names[] = {"solve", std::string(63, 'x')};
  std::size_t places[2];
  for (int i = 0; i < 2; ++i)
    places[i] = static_cast<std::size_t>(FindProfileRegion(file.profile(), names[i]) -
                                         file.profile()->regions);
  for (int i = 0; i < 3; ++i) {
    file.Mark(TraceMark::kSent);
    file.Write(1);
  }
  const TraceCopy copy = DecodeTrace(Encode(file.Copy()));
  EXPECT_EQ(copy.lost, 1u);
  EXPECT_TRUE(IsMark(copy.records[0]));
  EXPECT_FALSE(IsMark(copy.records[1]));
  ASSERT_GT(copy.regions.size(), std::max(places[0], places[1]));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(copy.regions[places[i]], names[i]);
}

TEST(TraceTable, ACopyThatIsCutShort) {
  TraceFile file(4);
  file.Write(1);
  const std::string bytes = Encode(file.Copy());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_TRUE(DecodeTrace(bytes.substr(0, length)).records.empty());
}

}  // namespace
}  // namespace lamina
