// SPDX-License-Identifier: BSD-3-Clause
// Goal:   buffers come into huge pages once enough was moved, with what is in them, and no memory
//         is taken that was not there.
// Method: memory of a test's own, 2 MiB apart; what the kernel says of it (mincore, and
//         /proc/self/smaps). Where the kernel makes no huge page for the test itself, they print
//         why and are skipped.
#include "runtime/base/huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace lamina {
namespace {

constexpr std::size_t kHuge = 2 << 20, kPage = 4 << 10;

// Whole huge pages' worth of memory, nothing of it there yet, between pages that belong to nobody.
class Memory {
 public:
  explicit Memory(std::size_t huge_pages) : bytes_(huge_pages * kHuge) {
    map_ = mmap(nullptr, bytes_ + 2 * kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const auto place = reinterpret_cast<std::uintptr_t>(map_);
    begin_ = reinterpret_cast<unsigned char*>((place / kHuge + 1) * kHuge);
    mprotect(begin_, bytes_, PROT_READ | PROT_WRITE);
  }
  ~Memory() { munmap(map_, bytes_ + 2 * kHuge); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  unsigned char* begin() const { return begin_; }

  void Fill(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) begin_[i] = Value(i);
  }
  bool Holds(std::size_t from, std::size_t to) const {
    for (std::size_t i = from; i < to; ++i)
      if (begin_[i] != Value(i)) return false;
    return true;
  }
  std::size_t PagesThere() const {
    std::vector<unsigned char> there(bytes_ / kPage);
    EXPECT_EQ(mincore(begin_, bytes_, there.data()), 0);
    return static_cast<std::size_t>(
        std::count_if(there.begin(), there.end(), [](unsigned char page) { return page & 1; }));
  }
  std::size_t HugePages() const {
    std::ifstream maps("/proc/self/smaps");
    std::string line;
    std::size_t kib = 0;
    bool ours = false;
    while (std::getline(maps, line)) {
      std::uintptr_t first = 0, last = 0;
      if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &last) == 2)
        ours = first < reinterpret_cast<std::uintptr_t>(begin_) + bytes_ &&
               last > reinterpret_cast<std::uintptr_t>(begin_);
      std::size_t value = 0;
      if (ours && std::sscanf(line.c_str(), "AnonHugePages: %zu kB", &value) == 1) kib += value;
    }
    return kib * 1024 / kHuge;
  }

 private:
  static unsigned char Value(std::size_t i) { return static_cast<unsigned char>(i * 7 + i / 4096); }

  std::size_t bytes_;
  void* map_;
  unsigned char* begin_;
};

class HugePagesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string modes;
    std::getline(file, modes);
    if (modes.find("[madvise]") == modes.npos)
      GTEST_SKIP() << "huge pages are everywhere or nowhere on this machine: '" << modes << "'";
    const Memory memory(1);
    memory.begin()[0] = 1;
    if (madvise(memory.begin(), kHuge, 25 /* MADV_COLLAPSE */) != 0)
      GTEST_SKIP() << "the kernel makes no huge page: " << std::strerror(errno);
  }

  // Until huge pages are due, none before; then, if there are fewer than `expected`, on, because
  // the kernel may have had its hands on a page just then.
  void MoveOften(const Memory& memory, std::size_t from, std::size_t bytes, std::size_t expected) {
    MoveUntilDue(memory, from, bytes, true);
    for (int again = 0; again < 16 && memory.HugePages() < expected; ++again)
      MoveUntilDue(memory, from, bytes, false);
  }

  HugePages pages_{true};

 private:
  void MoveUntilDue(const Memory& memory, std::size_t from, std::size_t bytes, bool none_yet) {
    const auto touched = static_cast<std::int64_t>((from + bytes - 1) / kHuge - from / kHuge + 1);
    std::int64_t moved = 0;
    while (moved < touched * HugePages::kMovedBefore) {
      if (none_yet) {
        EXPECT_EQ(memory.HugePages(), 0u) << "after " << moved;
      }
      pages_.Moved(memory.begin() + from, static_cast<std::int64_t>(bytes));
      moved += static_cast<std::int64_t>(bytes);
    }
  }
};

TEST_F(HugePagesTest, ALongBufferWithWhatIsBesideItIfThatIsThere) {
  Memory memory(3);
  memory.Fill(0, 3 * kHuge);
  MoveOften(memory, kHuge / 2, 2 * kHuge, 3);
  EXPECT_EQ(memory.HugePages(), 3u);
  EXPECT_TRUE(memory.Holds(0, 3 * kHuge));
}

TEST_F(HugePagesTest, AShortBufferAmongOthers) {
  Memory memory(1);
  memory.Fill(0, kHuge);
  MoveOften(memory, kHuge / 2, 256 << 10, 1);
  EXPECT_EQ(memory.HugePages(), 1u);
  EXPECT_TRUE(memory.Holds(0, kHuge));
}

TEST_F(HugePagesTest, NoMemoryThatWasNotThere) {
  Memory memory(3);
  memory.Fill(kPage, 2 * kHuge + kPage);
  MoveOften(memory, kPage, 2 * kHuge, 1);
  EXPECT_EQ(memory.PagesThere(), 2 * kHuge / kPage);
  EXPECT_EQ(memory.HugePages(), 1u) << "the middle one";
  EXPECT_TRUE(memory.Holds(kPage, 2 * kHuge + kPage));
}

// Half of what the buffer shares a huge page with cannot be written to, so it is another mapping.
TEST_F(HugePagesTest, ANeighbourOfAnotherKindCostsOnlyThePageThatIsShared) {
  for (const bool behind : {false, true}) {
    pages_ = HugePages(true);
    Memory memory(3);
    memory.Fill(0, 3 * kHuge);
    mprotect(memory.begin() + (behind ? 5 : 0) * kHuge / 2, kHuge / 2, PROT_READ);
    MoveOften(memory, kHuge / 2, 2 * kHuge, 2);
    EXPECT_EQ(memory.HugePages(), 2u) << "behind " << behind;
    EXPECT_TRUE(memory.Holds(0, 3 * kHuge));
  }
}

TEST_F(HugePagesTest, MadeAgainOnlyAfterMuchMore) {
  Memory memory(1);
  memory.Fill(0, kHuge);
  MoveOften(memory, 0, kHuge, 1);
  EXPECT_EQ(memory.HugePages(), 1u);
  madvise(memory.begin(), kHuge, MADV_DONTNEED);
  memory.Fill(0, kHuge);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(memory.HugePages(), 0u) << i;
    MoveOften(memory, 0, kHuge, i == 7 ? 1 : 0);
  }
  EXPECT_EQ(memory.HugePages(), 1u);
}

TEST_F(HugePagesTest, AnotherBufferIsCountedByItself) {
  Memory memory(2);
  memory.Fill(0, 2 * kHuge);
  pages_.Moved(memory.begin(), HugePages::kMovedBefore / 2);  // a length nobody has
  MoveOften(memory, 0, kHuge, 1);
  EXPECT_EQ(memory.HugePages(), 1u);
}

TEST_F(HugePagesTest, NoneWhereThatIsNotAllowed) {
  Memory memory(1);
  memory.Fill(0, kHuge);
  pages_ = HugePages(false);
  for (std::int64_t moved = 0; moved <= 2 * HugePages::kMovedBefore; moved += kHuge)
    pages_.Moved(memory.begin(), kHuge);
  EXPECT_EQ(memory.HugePages(), 0u);
}

TEST_F(HugePagesTest, ShortOnesStayWhereTheyAre) {
  Memory memory(1);
  memory.Fill(0, kHuge);
  const std::int64_t bytes = HugePages::kBytesMin - 1;
  for (std::int64_t moved = 0; moved <= 2 * HugePages::kMovedBefore; moved += bytes)
    pages_.Moved(memory.begin(), bytes);
  EXPECT_EQ(memory.HugePages(), 0u);
}

TEST_F(HugePagesTest, MemoryThatIsGoneIsNoFailure) {
  const unsigned char* const gone = Memory(1).begin();
  for (std::int64_t moved = 0; moved <= 2 * HugePages::kMovedBefore; moved += kHuge)
    pages_.Moved(gone, kHuge);
  unsigned char there = 0;
  EXPECT_EQ(mincore(const_cast<unsigned char*>(gone), kPage, &there), -1);
}

}  // namespace
}  // namespace lamina
