// SPDX-License-Identifier: BSD-3-Clause
// Goal:   memory of another process is read and written where the kernel allows it, and each kind
//         of failure is told apart.
// Method: this process is its own peer; an ended child is one that is gone.
#include "runtime/memory/peer_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace lamina::memory {
namespace {

TEST(PeerMemory, IsReadAndWritten) {
  std::array<std::byte, 100> theirs{}, ours{};
  theirs[99] = std::byte{7};
  const Access read = ReadPeer(getpid(), AddressOf(theirs.data()), ours);
  if (read == Access::kDenied) GTEST_SKIP() << "the kernel forbids process_vm_readv";
  ASSERT_EQ(read, Access::kDone);
  EXPECT_EQ(ours[99], std::byte{7});
  ours[0] = std::byte{9};
  ASSERT_EQ(WritePeer(getpid(), AddressOf(theirs.data()), AddressOf(ours.data()), ours.size()),
            Access::kDone);
  EXPECT_EQ(theirs[0], std::byte{9});
  EXPECT_EQ(ReadPeer(getpid(), 8, ours), Access::kAbsent);
  EXPECT_EQ(WritePeer(getpid(), AddressOf(theirs.data()), 8, 1), Access::kAbsent);
}

// More pieces than one call takes; in the end one of them is not there.
TEST(PeerMemory, IsReadAndWrittenInPieces) {
  std::array<std::byte, 400> theirs{}, ours{};
  std::vector<PeerPiece> pieces;
  for (std::size_t i = 0; i < 100; ++i) {
    theirs[4 * i + 1] = static_cast<std::byte>(i + 1);
    pieces.push_back({AddressOf(&theirs[4 * i + 1]), 1 + i % 2});
  }
  const Access read = ReadPeerPieces(getpid(), pieces, ours.data());
  if (read == Access::kDenied) GTEST_SKIP() << "the kernel forbids process_vm_readv";
  ASSERT_EQ(read, Access::kDone);
  std::size_t at = 0;
  for (std::size_t i = 0; i < 100; at += 1 + i % 2, ++i)
    EXPECT_EQ(ours[at], static_cast<std::byte>(i + 1));
  ours.fill(std::byte{9});
  ASSERT_EQ(WritePeerPieces(getpid(), pieces, ours.data()), Access::kDone);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(theirs[4 * i + 1], std::byte{9});
    EXPECT_EQ(theirs[4 * i], std::byte{0});
  }
  pieces[63].address = 8;
  EXPECT_EQ(WritePeerPieces(getpid(), pieces, ours.data()), Access::kAbsent);
}

TEST(PeerMemory, TellsThatAProcessIsGone) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  std::byte byte{};
  const Access access = ReadPeer(child, AddressOf(&byte), {&byte, 1});
  EXPECT_TRUE(access == Access::kGone || access == Access::kDenied);
}

}  // namespace
}  // namespace lamina::memory
