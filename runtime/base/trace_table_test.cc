// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the launcher reads what a process has recorded, the oldest first, and learns how much had
// no
//         room.
// Method: a file as the launcher makes it, in which this test writes as a rank does.
#include "runtime/base/trace_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace lamina {
namespace {

class TraceFile {
 public:
  explicit TraceFile(std::uint64_t records)
      : fd_(memfd_create("trace_table_test", MFD_CLOEXEC)),
        bytes_(RingFileBytes(true, records * sizeof(TraceRecord))) {
    EXPECT_TRUE(SizeRingFile(fd_, true, records * sizeof(TraceRecord)));
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
    table->records()[table->next++ % table->capacity] = {began_ns, began_ns + 1, 8, 0, 5, 0, 1, 2,
                                                         3};
  }
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
  EXPECT_EQ(RingFileBytes(false, 560), kProfiledRingBytes + 32 + 560);
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

TEST(TraceTable, ACopyThatIsCutShort) {
  TraceFile file(4);
  file.Write(1);
  const std::string bytes = Encode(file.Copy());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_TRUE(DecodeTrace(bytes.substr(0, length)).records.empty());
}

}  // namespace
}  // namespace lamina
