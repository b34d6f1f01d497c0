// SPDX-License-Identifier: BSD-3-Clause
// Goal:   of a message copied from both ends every chunk is copied once, and an invitation that is
//         read too late does no harm.
// Method: claims from two threads; invitations that have ended; chunk sizes at the edges.
#include "transports/shm/joint.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace lamina::shm {
namespace {

TEST(Joint, EveryChunkIsClaimedOnce) {
  constexpr std::uint32_t kChunks = 40000, kSerial = 0xfffffffe;
  Joint joint{};
  joint.claims.store(std::uint64_t{kSerial} << 32);
  std::vector<unsigned char> claimed(kChunks);  // by one of the two, so no race
  std::uint32_t behind = 0;
  const auto take_all = [&](bool front) {
    std::uint32_t taken = 0, chunk = 0;
    for (; (chunk = Claim(joint, kSerial, kChunks, front)) != kNoChunk; ++taken) ++claimed[chunk];
    return taken;
  };
  std::thread helper([&] { behind = take_all(false); });
  const std::uint32_t in_front = take_all(true);
  helper.join();
  EXPECT_EQ(in_front + behind, kChunks);
  EXPECT_EQ(ClaimedBehind(joint), behind);
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) ASSERT_EQ(claimed[chunk], 1) << chunk;
}

TEST(Joint, TheReceiverTakesTheFrontAndTheSenderTheBack) {
  Joint joint{};
  joint.claims.store(std::uint64_t{3} << 32);
  EXPECT_EQ(Claim(joint, 3, 5, true), 0u);
  EXPECT_EQ(Claim(joint, 3, 5, false), 4u);
  EXPECT_EQ(Claim(joint, 3, 5, false), 3u);
  EXPECT_EQ(Claim(joint, 3, 5, true), 1u);
  EXPECT_EQ(Claim(joint, 3, 5, true), 2u);
  EXPECT_EQ(Claim(joint, 3, 5, true), kNoChunk);
  EXPECT_EQ(Claim(joint, 3, 5, false), kNoChunk);
}

TEST(Joint, AnOldInvitationClaimsNothing) {
  Joint joint{};
  EXPECT_EQ(Claim(joint, 1, 10, false), kNoChunk) << "nobody was invited yet";
  joint.claims.store(std::uint64_t{2} << 32);
  EXPECT_EQ(Claim(joint, 1, 10, false), kNoChunk);
  EXPECT_EQ(ClaimedBehind(joint), 0u);
}

TEST(Joint, ChunksAreHalvesWithinBounds) {
  EXPECT_EQ(ChunkBytes(1), 32u * 1024);
  EXPECT_EQ(ChunkBytes(64 * 1024), 32u * 1024);
  EXPECT_EQ(ChunkBytes(64 * 1024 + 1), 36u * 1024);
  EXPECT_EQ(ChunkBytes(std::uint64_t{1} << 40), 256u * 1024);
  const Invitation odd{
      .from = 0, .to = 0, .bytes = 100001, .chunk_bytes = ChunkBytes(100001), .serial = 1};
  EXPECT_EQ(odd.chunks(), 2u);
}

}  // namespace
}  // namespace lamina::shm
