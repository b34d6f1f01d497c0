// SPDX-License-Identifier: BSD-3-Clause
// Goal:   memory grows with the peers spoken to and is given back; rings run out with a message;
//         what cannot be reached says why.
// Method: segments of this process, opened through /proc as a peer would; pages are counted by the
//         kernel (st_blocks of the memfd).
#include "transports/shm/segment.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lamina::shm {
namespace {

using transport::ProcessName;

class SegmentTest : public testing::Test {
 protected:
  std::unique_ptr<OwnSegment> Make(std::uint32_t rings_max) {
    auto made = OwnSegment::Create({{}, rings_max}, nullptr);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return *std::move(made);
  }
  static std::size_t BytesInUse(const OwnSegment& segment) {
    struct stat info;
    EXPECT_EQ(fstat(segment.address().descriptor, &info), 0);
    return static_cast<std::size_t>(info.st_blocks) * 512;
  }
  static auto Open(const OwnSegment& segment, const OwnSegment& from) {
    return PeerSegment::Open(segment.address(), ProcessName{1}, from.address(), nullptr);
  }
};

TEST_F(SegmentTest, MemoryGrowsWithThePeersSpokenTo) {
  auto segment = Make(1000);
  const std::size_t empty = BytesInUse(*segment);
  EXPECT_LE(empty, 4096u) << "room for 1000 rings costs nothing yet";
  std::vector<std::unique_ptr<PeerSegment>> peers;
  for (int i = 0; i < 32; ++i) {
    auto peer = Open(*segment, *segment);
    ASSERT_TRUE(peer.ok()) << peer.status().message();
    peers.push_back(*std::move(peer));
  }
  // Frames that fit a ring's head need no page of the ring.
  const std::size_t heads = BytesInUse(*segment) - empty;
  EXPECT_LE(heads / 32, 1536u);
  std::vector<RingWriter> writers;
  for (const auto& peer : peers)
    writers.emplace_back(&peer->head(), peer->ring(), peer->geometry());
  for (RingWriter& writer : writers)
    for (std::uint32_t frame = 0; frame < kFirstCells; ++frame)
      ASSERT_TRUE(writer.Write({{{frame, 0}}, {}}));
  EXPECT_EQ(BytesInUse(*segment) - empty, heads);
  for (RingWriter& writer : writers)
    for (std::uint32_t frame = kFirstCells; frame < Geometry{}.cells; ++frame)
      ASSERT_TRUE(writer.Write({{{frame, 0}}, {}}));
  EXPECT_LE((BytesInUse(*segment) - empty) / 32, 10u * 1024);
  for (std::uint32_t i = 0; i < 32; ++i) segment->Erase(i);
  EXPECT_LE(BytesInUse(*segment), empty + heads) << "erased rings are given back";
}

TEST_F(SegmentTest, AnErasedRingReadsAsZeros) {
  auto segment = Make(2);
  auto peer = Open(*segment, *segment);
  ASSERT_TRUE(peer.ok());
  std::memset((*peer)->ring(), 0xff, (*peer)->geometry().RingBytes());
  std::memset(static_cast<void*>(&(*peer)->head()), 0xff, sizeof(Head));
  segment->Erase(0);
  for (std::size_t i = 0; i < segment->layout().geometry.RingBytes(); ++i)
    ASSERT_EQ(segment->ring(0)[i], std::byte{0});
  const Head zeros{};
  EXPECT_EQ(std::memcmp(static_cast<void*>(&segment->head(0)), &zeros, sizeof(Head)), 0);
}

TEST_F(SegmentTest, RingsRunOutWithAMessageAndComeBack) {
  auto segment = Make(2);
  auto first = Open(*segment, *segment);
  auto second = Open(*segment, *segment);
  ASSERT_TRUE(first.ok() && second.ok());
  auto third = Open(*segment, *segment);
  EXPECT_EQ(third.status().code(), Code::kResource);
  EXPECT_NE(third.status().message().find("rings_spare"), std::string_view::npos);
  segment->entry(0).state.store(RingState::kFree);
  EXPECT_TRUE(Open(*segment, *segment).ok());
}

TEST_F(SegmentTest, WhatCannotBeReachedSaysWhy) {
  auto segment = Make(2);
  const auto refusal = [&](auto spoil) {
    Address address = segment->address();
    spoil(address);
    return PeerSegment::Open(address, ProcessName{1}, segment->address(), nullptr).status().code();
  };
  EXPECT_EQ(refusal([](Address& it) { it.boot_id[3] ^= std::byte{1}; }), Code::kUnsupported);
  EXPECT_EQ(refusal([](Address& it) { it.pid_namespace ^= 1; }), Code::kUnsupported);
  EXPECT_EQ(refusal([](Address& it) { it.descriptor = 1000000; }), Code::kPeerLost);
  EXPECT_EQ(refusal([](Address& it) { it.inode ^= 1; }), Code::kPeerLost);
  EXPECT_EQ(refusal([](Address& it) { it.token ^= 1; }), Code::kInvalid);
  EXPECT_EQ(refusal([](Address& it) { it.cells = 64; }), Code::kInvalid);
}

TEST_F(SegmentTest, AliveMeansTheSameSegment) {
  Address address;
  {
    auto segment = Make(2);
    address = segment->address();
    EXPECT_EQ(memory::AskAfter(NameIn(address, address)), memory::Maker::kHolds);
  }
  EXPECT_EQ(memory::AskAfter(NameIn(address, address)), memory::Maker::kHasGone);
  Address elsewhere = address;
  elsewhere.pid_namespace ^= 1;
  EXPECT_EQ(memory::AskAfter(NameIn(address, elsewhere)), memory::Maker::kHidden);
}

TEST_F(SegmentTest, AFileSizeLimitIsAnErrorAndNoSignal) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 65536;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  auto made = OwnSegment::Create({{}, 100}, nullptr);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(made.status().code(), Code::kResource);
  EXPECT_NE(made.status().message().find("65536"), std::string_view::npos);
}

TEST_F(SegmentTest, LayoutFitsItsPages) {
  EXPECT_EQ(sizeof(RingEntry), 64u);
  for (const std::uint32_t rings : {1u, 56u, 57u, 1000u}) {
    const Layout layout{{}, rings};
    EXPECT_GE(layout.HeadsOffset(), layout.DirectoryOffset() + rings * sizeof(RingEntry));
    EXPECT_GE(layout.HeaderBytes(), layout.HeadsOffset() + rings * sizeof(Head));
    EXPECT_EQ(layout.HeaderBytes() % 4096, 0u);
    EXPECT_GE(layout.RingStride(), layout.geometry.RingBytes());
    EXPECT_EQ(layout.SegmentBytes(), layout.HeaderBytes() + rings * layout.RingStride());
  }
}

}  // namespace
}  // namespace lamina::shm
