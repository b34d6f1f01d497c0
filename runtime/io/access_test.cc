// SPDX-License-Identifier: BSD-3-Clause
// Goal:   an access moves exactly its own bytes through any view, from and to memory with gaps, as
//         far as the file goes or until a call fails, and says how far it came.
// Method: a file in memory, whose calls fail when the test says so, beside a naive list of offsets.
//         The file of the system is tried with real files.
#include "runtime/io/access.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/datatype/construct.h"
#include "runtime/io/ascending_types.h"
#include "runtime/io/file_system.h"

namespace lamina::io {
namespace {

using datatype::Datatype;

// Fails at call number `fails_at`, counted from 0, after half of what was asked.
class MemoryFile final : public OpenFile {
 public:
  std::vector<std::byte> bytes;
  int fails_at = -1;
  int calls = 0;

  Moved ReadAt(std::int64_t offset, std::span<std::byte> into) override {
    const auto size = static_cast<std::int64_t>(bytes.size());
    std::int64_t there =
        std::clamp<std::int64_t>(size - offset, 0, static_cast<std::int64_t>(into.size()));
    const bool fails = calls++ == fails_at;
    if (fails) there /= 2;
    if (there > 0) std::memcpy(into.data(), bytes.data() + offset, static_cast<std::size_t>(there));
    return {there, fails ? EIO : 0};
  }
  Moved WriteAt(std::int64_t offset, std::span<const std::byte> from) override {
    auto length = static_cast<std::int64_t>(from.size());
    const bool fails = calls++ == fails_at;
    if (fails) length /= 2;
    if (static_cast<std::int64_t>(bytes.size()) < offset + length)
      bytes.resize(static_cast<std::size_t>(offset + length));
    std::memcpy(bytes.data() + offset, from.data(), static_cast<std::size_t>(length));
    return {length, fails ? ENOSPC : 0};
  }
  int Size(std::int64_t*) override { return EIO; }
  int Resize(std::int64_t) override { return EIO; }
  int Reserve(std::int64_t) override { return EIO; }
  int Sync() override { return 0; }
  int Refresh() override { return 0; }
  int Lock(std::int64_t, std::int64_t, bool) override { return EIO; }
  int Unlock(std::int64_t, std::int64_t) override { return EIO; }
  int IsLocked(std::int64_t, std::int64_t, bool*) override { return EIO; }
  int Close() override { return 0; }
};

class AccessTest : public testing::TestWithParam<unsigned> {
 protected:
  AccessTest() : generator_(GetParam()) {
    Datatype* type = generator_.Make(static_cast<int>(generator_.Between(0, 2)));
    datatype::Commit(type);
    ViewArguments arguments;
    arguments.displacement = generator_.Between(0, 50);
    arguments.etype = datatype::FindDatatype(MPI_BYTE);
    arguments.filetype = type;
    arguments.datarep = FindDatarep("native");
    EXPECT_TRUE(MakeView(arguments, &view_).ok());
    for (int tile = 0; tile < 4; ++tile)
      List(*type, arguments.displacement + tile * type->extent, &offsets_);
    datatype::Release(type);
    position_ = generator_.Between(0, static_cast<std::int64_t>(offsets_.size()) / 2);
    count_ = generator_.Between(1, static_cast<std::int64_t>(offsets_.size()) - position_);
    gaps_ = datatype::MakeResized(0, 3, datatype::FindDatatype(MPI_BYTE));
    datatype::Commit(gaps_);
    memory_.resize(static_cast<std::size_t>(3 * count_));
    for (std::byte& byte : memory_) byte = static_cast<std::byte>(generator_.Between(1, 255));
  }
  ~AccessTest() override {
    Release(view_);
    datatype::Release(gaps_);
  }

  Access Make(OpenFile* file, bool writes, bool gaps) {
    Access access;
    access.body = file;
    access.view = view_;
    access.writes = writes;
    access.position = position_;
    access.memory = {memory_.data(), count_, gaps ? gaps_ : datatype::FindDatatype(MPI_BYTE)};
    return access;
  }
  std::int64_t OffsetOf(std::int64_t i) const {
    return offsets_[static_cast<std::size_t>(position_ + i)];
  }
  std::byte& InMemory(std::int64_t i, bool gaps) {
    return memory_[static_cast<std::size_t>(gaps ? 3 * i : i)];
  }

  Ascending generator_;
  View* view_ = nullptr;
  Datatype* gaps_ = nullptr;
  std::vector<std::int64_t> offsets_;
  std::int64_t position_ = 0;
  std::int64_t count_ = 0;
  std::vector<std::byte> memory_;
};

// Whether it writes piece by piece or writes back what lies between the pieces.
TEST_P(AccessTest, WritesItsOwnBytesUntilACallFails) {
  for (int round = 0; round < 4; ++round)
    for (int fails_at = -1; fails_at < 20; ++fails_at) {
      const bool gaps = round % 2 == 1;
      MemoryFile file;
      file.fails_at = fails_at;
      const std::int64_t size = generator_.Between(0, offsets_.back() + 10);
      for (std::int64_t i = 0; i < size; ++i)
        file.bytes.push_back(static_cast<std::byte>(generator_.Between(0, 255)));
      std::vector<std::byte> expected = file.bytes;
      Access access = Make(&file, true, gaps);
      access.patches = round >= 2;
      if (fails_at % 2 == 0) access.write_window_bytes = generator_.Between(1, 100);
      const Outcome outcome = Carry(access);
      const bool failed = fails_at >= 0 && fails_at < file.calls;
      ASSERT_EQ(outcome.error_number != 0, failed);
      ASSERT_TRUE(failed || outcome.bytes == count_);
      if (expected.size() < file.bytes.size()) expected.resize(file.bytes.size());
      for (std::int64_t i = 0; i < outcome.bytes; ++i)
        expected[static_cast<std::size_t>(OffsetOf(i))] = InMemory(i, gaps);
      ASSERT_TRUE(file.bytes == expected);
    }
}

TEST_P(AccessTest, ReadsAsFarAsTheFileGoes) {
  for (const bool gaps : {false, true})
    for (int round = 0; round < 10; ++round) {
      MemoryFile file;
      const std::int64_t size = generator_.Between(0, offsets_.back() + 10);
      for (std::int64_t i = 0; i < size; ++i)
        file.bytes.push_back(static_cast<std::byte>(generator_.Between(0, 255)));
      file.fails_at = round % 2 == 0 ? -1 : round / 2;
      const std::vector<std::byte> before = memory_;
      Access access = Make(&file, false, gaps);
      access.sieves = round % 3 != 0;
      if (round % 3 == 1) access.read_window_bytes = generator_.Between(1, 100);
      const Outcome outcome = Carry(access);
      std::int64_t there = 0;
      while (there < count_ && OffsetOf(there) < size) ++there;
      const bool failed = file.fails_at >= 0 && file.fails_at < file.calls;
      ASSERT_EQ(outcome.error_number, failed ? EIO : 0);
      ASSERT_TRUE(failed ? outcome.bytes <= there : outcome.bytes == there);
      std::vector<std::byte> expected = before;
      for (std::int64_t i = 0; i < outcome.bytes; ++i)
        expected[static_cast<std::size_t>(gaps ? 3 * i : i)] =
            file.bytes[static_cast<std::size_t>(OffsetOf(i))];
      ASSERT_TRUE(memory_ == expected);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AccessTest, testing::Range(1u, 31u));

class SystemFileTest : public testing::Test {
 protected:
  ~SystemFileTest() override { unlink(path_.c_str()); }
  const std::string path_ = testing::TempDir() + "/file";
  std::unique_ptr<OpenFile> file_;
  Identity identity_;
};

TEST_F(SystemFileTest, DoesWhatItIsAsked) {
  ASSERT_EQ(OpenSystemFile(path_, O_RDWR | O_CREAT, 0600, &file_, &identity_), 0);
  EXPECT_TRUE(identity_.seekable);
  const std::byte bytes[] = {std::byte{1}, std::byte{2}, std::byte{3}};
  EXPECT_EQ(file_->WriteAt(10, bytes).bytes, 3);
  std::int64_t size = 0;
  EXPECT_EQ(file_->Size(&size), 0);
  EXPECT_EQ(size, 13);
  std::byte back[8] = {};
  const Moved moved = file_->ReadAt(11, back);
  EXPECT_EQ(moved.bytes, 2);
  EXPECT_EQ(moved.error_number, 0);
  EXPECT_EQ(back[0], std::byte{2});
  EXPECT_EQ(file_->Reserve(100), 0);
  EXPECT_EQ(file_->Size(&size), 0);
  EXPECT_EQ(size, 100);
  EXPECT_EQ(file_->Reserve(5), 0);
  EXPECT_EQ(file_->Resize(7), 0);
  EXPECT_EQ(file_->Size(&size), 0);
  EXPECT_EQ(size, 7);
  EXPECT_EQ(file_->Sync(), 0);
  EXPECT_EQ(file_->Close(), 0);
}

TEST_F(SystemFileTest, IsTheSameFileWhenItIsOpenedAnew) {
  ASSERT_EQ(OpenSystemFile(path_, O_RDWR | O_CREAT, 0600, &file_, &identity_), 0);
  const std::byte bytes[] = {std::byte{1}, std::byte{2}};
  EXPECT_EQ(file_->WriteAt(0, bytes).bytes, 2);
  unlink(path_.c_str());
  EXPECT_EQ(file_->Refresh(), 0);
  std::byte back[2] = {};
  EXPECT_EQ(file_->ReadAt(0, back).bytes, 2);
  EXPECT_EQ(back[1], std::byte{2});
  EXPECT_EQ(file_->WriteAt(2, bytes).bytes, 2);
}

TEST(FileSystem, IsKnownByItsNumber) {
  EXPECT_STREQ(FileSystemOf(0xef53).name, "ext");
  EXPECT_EQ(FileSystemOf(0xef53).sharing, Sharing::kLocal);
  EXPECT_EQ(FileSystemOf(0x0bd00bd0).sharing, Sharing::kCoherent);
  EXPECT_EQ(FileSystemOf(0x6969).sharing, Sharing::kCloseToOpen);
  EXPECT_EQ(FileSystemOf(1).sharing, Sharing::kCloseToOpen) << "it may be of a network";
}

TEST_F(SystemFileTest, RangesExcludeOneAnother) {
  std::unique_ptr<OpenFile> other;
  ASSERT_EQ(OpenSystemFile(path_, O_RDWR | O_CREAT, 0600, &file_, &identity_), 0);
  ASSERT_EQ(OpenSystemFile(path_, O_RDWR, 0600, &other, &identity_), 0);
  EXPECT_EQ(file_->Lock(0, 10, true), 0);
  EXPECT_EQ(other->Lock(10, 10, true), 0);
  bool locked = false;
  EXPECT_EQ(other->IsLocked(5, 1, &locked), 0);
  EXPECT_TRUE(locked);
  EXPECT_EQ(file_->IsLocked(5, 1, &locked), 0);
  EXPECT_FALSE(locked) << "its own lock";
  EXPECT_EQ(file_->Unlock(0, 10), 0);
  EXPECT_EQ(other->IsLocked(5, 1, &locked), 0);
  EXPECT_FALSE(locked);
}

// Each writes the pieces that lie between those of the other.
TEST_F(SystemFileTest, WhoWritesBackHarmsNobody) {
  constexpr std::int64_t kPieces = 20000;
  constexpr std::int64_t kPieceBytes = 5;
  Datatype* piece = datatype::MakeContiguous(kPieceBytes, datatype::FindDatatype(MPI_BYTE));
  Datatype* type = datatype::MakeResized(0, 2 * kPieceBytes, piece);
  datatype::Commit(type);
  View* views[2] = {};
  ViewArguments arguments;
  arguments.etype = datatype::FindDatatype(MPI_BYTE);
  arguments.filetype = type;
  arguments.datarep = FindDatarep("native");
  for (View*& view : views) {
    ASSERT_TRUE(MakeView(arguments, &view).ok());
    arguments.displacement += kPieceBytes;
  }
  ASSERT_EQ(OpenSystemFile(path_, O_RDWR | O_CREAT, 0600, &file_, &identity_), 0);
  const auto write = [&](std::int64_t who) {
    std::unique_ptr<OpenFile> body, locked;
    Identity identity;
    ASSERT_EQ(OpenSystemFile(path_, O_RDWR, 0600, &body, &identity), 0);
    ASSERT_EQ(OpenSystemFile(path_, O_RDWR, 0600, &locked, &identity), 0);
    RangeLocks locks(std::move(locked), nullptr, true);
    std::vector<std::byte> data(kPieces * kPieceBytes, static_cast<std::byte>('a' + who));
    Access access;
    access.body = body.get();
    access.view = views[who];
    access.writes = access.patches = true;
    access.locks = &locks;
    access.memory = {data.data(), static_cast<std::int64_t>(data.size()),
                     datatype::FindDatatype(MPI_BYTE)};
    EXPECT_EQ(Carry(access).error_number, 0);
  };
  std::thread other(write, 1);
  write(0);
  other.join();
  std::vector<std::byte> all(2 * kPieces * kPieceBytes);
  ASSERT_EQ(file_->ReadAt(0, all).bytes, static_cast<std::int64_t>(all.size()));
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    wrong += all[i] != static_cast<std::byte>('a' + i / kPieceBytes % 2) ? 1 : 0;
  EXPECT_EQ(wrong, 0);
  for (View* view : views) Release(view);
  datatype::Release(type);
  datatype::Release(piece);
}

// The system moves less than 2 GiB in a call. The memory is never touched.
TEST(SystemFile, MovesMoreThanOneCallDoes) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP()
      << "ThreadSanitizer notes each byte that a system call reads, in four times the memory";
#endif
  constexpr std::size_t kBytes = std::size_t{3} << 30;
  void* memory =
      mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::unique_ptr<OpenFile> sink;
  Identity identity;
  ASSERT_EQ(OpenSystemFile("/dev/null", O_WRONLY, 0, &sink, &identity), 0);
  const Moved moved = sink->WriteAt(0, {static_cast<const std::byte*>(memory), kBytes});
  EXPECT_EQ(moved.error_number, 0);
  EXPECT_EQ(moved.bytes, static_cast<std::int64_t>(kBytes));
  munmap(memory, kBytes);
}

TEST_F(SystemFileTest, SaysWhyItCannotBeOpened) {
  EXPECT_EQ(OpenSystemFile(path_ + "/no", O_RDWR, 0600, &file_, &identity_), ENOENT);
  EXPECT_EQ(OpenSystemFile(testing::TempDir(), O_RDONLY, 0600, &file_, &identity_), EISDIR);
  EXPECT_EQ(file_, nullptr);
}

}  // namespace
}  // namespace lamina::io
