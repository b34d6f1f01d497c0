// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a ring hands every frame over whole and in order, for any sizes and shapes, never writes
//         what the reader has not given back, and costs one cache line for a small frame.
// Method: writer and reader on plain zeroed memory; random traffic against a std::deque; one run
// with
//         reader and writer in two threads (for the memory order, and for TSan).
#include "transports/shm/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace lamina::shm {
namespace {

std::vector<std::byte> Payload(std::uint64_t number, std::size_t bytes) {
  std::vector<std::byte> payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::byte>(number * 7 + i);
  return payload;
}

// Drains frames; an invitation among them would be a mistake.
template <class Taker>
std::uint32_t Take(RingReader& reader, std::uint32_t frames_max, Taker&& taker) {
  return reader.Drain(frames_max, taker, [](const Invitation&) { FAIL() << "an invitation"; });
}

// Zeroed, on a cache line, and guarded behind its end by a pattern.
class Memory {
 public:
  explicit Memory(const Geometry& geometry)
      : bytes_(geometry.RingBytes()),
        start_(static_cast<std::byte*>(std::aligned_alloc(kLineBytes, bytes_ + kLineBytes))) {
    std::memset(start_, 0, bytes_);
    std::memset(start_ + bytes_, 0x5a, kLineBytes);
  }
  ~Memory() {
    for (std::size_t i = 0; i < kLineBytes; ++i) EXPECT_EQ(start_[bytes_ + i], std::byte{0x5a});
    std::free(start_);
  }
  Head* head() { return &head_; }
  std::byte* start() { return start_; }

 private:
  Head head_{};
  const std::size_t bytes_;
  std::byte* const start_;
};

class RingTest : public testing::TestWithParam<Geometry> {};

TEST_P(RingTest, AgreesWithADequeOnRandomTraffic) {
  const Geometry geometry = GetParam();
  Memory memory(geometry);
  RingWriter writer(memory.head(), memory.start(), geometry);
  RingReader reader(memory.head(), memory.start(), geometry);
  std::deque<std::size_t> expected;
  std::uint64_t written = 0, read = 0;
  int refused = 0;
  std::mt19937 random(815);
  for (int step = 0; step < 60000; ++step) {
    if (random() % 2 == 0) {
      const std::size_t bytes =
          random() % 3 == 0 ? random() % (geometry.FrameBytesMax() + 1) : random() % 48;
      const auto payload = Payload(written, bytes);
      const bool accepted = writer.Write({{{written, bytes}}, payload});
      if (accepted) expected.push_back(bytes), ++written;
      refused += !accepted;
      continue;
    }
    const auto most = static_cast<std::uint32_t>(random() % 4);
    const std::uint32_t taken =
        Take(reader, most, [&](const transport::Header& header, auto bytes) {
          ASSERT_FALSE(expected.empty());
          EXPECT_EQ(header.words[0], read);
          const auto want = Payload(read, expected.front());
          EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), want.begin(), want.end()));
          expected.pop_front();
          ++read;
        });
    EXPECT_LE(taken, most);
    EXPECT_EQ(reader.Ready(), !expected.empty());
    ASSERT_FALSE(HasFailure()) << "step " << step;
  }
  EXPECT_GT(refused, 0);
  EXPECT_FALSE(reader.corrupt());
}

TEST_P(RingTest, TheLargestFrameFitsWhereverTheAreaStands) {
  const Geometry geometry = GetParam();
  Memory memory(geometry);
  RingWriter writer(memory.head(), memory.start(), geometry);
  RingReader reader(memory.head(), memory.start(), geometry);
  const auto largest = Payload(1, geometry.FrameBytesMax());
  for (std::size_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(writer.Write({{{0, 0}}, Payload(2, 41 + i % 200)}));
    EXPECT_EQ(Take(reader, 1, [](auto&, auto) {}), 1u);
    ASSERT_TRUE(writer.Write({{{0, 0}}, largest}));
    EXPECT_EQ(
        Take(reader, 1,
             [&](auto&, auto bytes) {
               EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), largest.begin(), largest.end()));
             }),
        1u);
  }
}

// So that little of it is memory.
TEST(Ring, ThePartOfTheAreaBehindTheFirstStepIsForReadersThatAreBehind) {
  const Geometry geometry{};
  Memory memory(geometry);
  RingWriter writer(memory.head(), memory.start(), geometry);
  RingReader reader(memory.head(), memory.start(), geometry);
  const auto untouched = [&] {
    const std::byte* const rest = memory.start() + geometry.AreaOffset() + kAreaStepBytes;
    return std::all_of(rest, rest + geometry.area_bytes - kAreaStepBytes,
                       [](std::byte byte) { return byte == std::byte{0}; });
  };
  for (std::size_t i = 0; i < 100; ++i) {
    const auto payload = Payload(1, 41 + i * 97 % 5000);
    ASSERT_TRUE(writer.Write({{{i, 0}}, payload}));
    EXPECT_EQ(Take(reader, 1, [](auto&, auto) {}), 1u);
  }
  EXPECT_TRUE(untouched());
  const auto payload = Payload(1, 5000);
  std::size_t room = 0;
  while (writer.Write({{{0, 0}}, payload})) ++room;
  EXPECT_GT(room * payload.size(), geometry.area_bytes * 3 / 4) << "the whole area is used";
  EXPECT_FALSE(untouched());
}

TEST_P(RingTest, ThreadsSeeWholeFrames) {
  const Geometry geometry = GetParam();
  Memory memory(geometry);
  constexpr std::uint64_t kFrames = 20000;
  std::thread sender([&] {
    RingWriter writer(memory.head(), memory.start(), geometry);
    for (std::uint64_t number = 0; number < kFrames;) {
      const auto payload = Payload(number, number % 100);
      if (writer.Write({{{number, ~number}}, payload}))
        ++number;
      else
        std::this_thread::yield();
    }
  });
  RingReader reader(memory.head(), memory.start(), geometry);
  std::uint64_t read = 0, wrong = 0;
  while (read < kFrames) {
    const std::uint32_t taken = Take(reader, 8, [&](const transport::Header& header, auto bytes) {
      const auto want = Payload(read, read % 100);
      wrong += header.words[0] != read || header.words[1] != ~read ||
               !std::equal(bytes.begin(), bytes.end(), want.begin(), want.end());
      ++read;
    });
    if (taken == 0) std::this_thread::yield();
  }
  sender.join();
  EXPECT_EQ(wrong, 0u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RingTest,
                         testing::Values(Geometry{128, 32768}, Geometry{2, 512}, Geometry{4, 4096},
                                         Geometry{8, 40960}, Geometry{64, 512}),
                         [](const auto& info) {
                           return "cells" + std::to_string(info.param.cells) + "area" +
                                  std::to_string(info.param.area_bytes);
                         });

TEST(Ring, StaysRightWhenStampsTurnOver) {
  const Geometry geometry{4, 512};
  Memory memory(geometry);
  // Both ends as they are after 2^32 - 3 frames.
  constexpr std::uint64_t kStart = 0xfffffffdu;
  auto* cells = reinterpret_cast<Cell*>(memory.start());
  for (std::uint64_t i = 1; i <= 4; ++i) cells[(kStart - i) & 3].word.store((kStart - i + 1) << 32);
  memory.head()->credit.frames.store(kStart);
  RingWriter writer = RingWriter::StartingAt(memory.head(), memory.start(), geometry, kStart);
  RingReader reader = RingReader::StartingAt(memory.head(), memory.start(), geometry, kStart);
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_FALSE(reader.Ready());
    ASSERT_TRUE(writer.Write({{{i, 0}}, {}}));
    EXPECT_EQ(Take(reader, 4,
                   [&](const transport::Header& header, auto) { EXPECT_EQ(header.words[0], i); }),
              1u);
  }
}

TEST(Ring, NonsenseFromTheWriterIsNoticed) {
  const Geometry geometry{4, 512};
  Memory memory(geometry);
  RingReader reader(memory.head(), memory.start(), geometry);
  Cell* const cell = memory.head()->first;
  const Far far{64, 500, 0};
  std::memcpy(cell->near, &far, sizeof far);
  cell->word.store(std::uint64_t{1} << 32 | 64);
  EXPECT_EQ(Take(reader, 1, [](auto&, auto) { FAIL() << "reads behind the area"; }), 0u);
  EXPECT_TRUE(reader.corrupt());
}

// The head holds more than all cells behind it, or less.
TEST(Ring, WhoeverReadsNothingStopsTheWriter) {
  for (const std::uint32_t cells : {2u, 8u, 16u, 64u}) {
    const Geometry geometry{cells, 512};
    Memory memory(geometry);
    RingWriter writer(memory.head(), memory.start(), geometry);
    RingReader reader(memory.head(), memory.start(), geometry);
    std::uint64_t written = 0, read = 0;
    const auto fill = [&] {
      while (writer.Write({{{written, 0}}, {}})) ++written;
      EXPECT_FALSE(writer.Invite({})) << "the ring is full";
    };
    const auto take = [&](std::uint32_t frames) {
      return Take(reader, frames, [&](const transport::Header& header, auto) {
        EXPECT_EQ(header.words[0], read++);
      });
    };
    fill();
    EXPECT_EQ(written, std::max(cells, kFirstCells));
    EXPECT_EQ(take(kFirstCells - 1), kFirstCells - 1);
    fill();
    EXPECT_EQ(written, kFirstCells - 1 + cells);
    EXPECT_EQ(take(1000), cells);
    fill();
    EXPECT_EQ(take(1000), cells);
    EXPECT_EQ(read, written);
  }
}

TEST(Ring, AnInvitationArrivesInItsPlace) {
  const Geometry geometry{4, 512};
  Memory memory(geometry);
  RingWriter writer(memory.head(), memory.start(), geometry);
  RingReader reader(memory.head(), memory.start(), geometry);
  ASSERT_TRUE(writer.Write({{{7, 0}}, {}}));
  ASSERT_TRUE(writer.Invite({.from = 1, .to = 2, .bytes = 3, .chunk_bytes = 4, .serial = 5}));
  ASSERT_TRUE(writer.Write({{{8, 0}}, {}}));
  ASSERT_TRUE(writer.Write({{{9, 0}}, {}}));
  std::vector<std::uint64_t> seen;
  EXPECT_EQ(reader.Drain(
                9, [&](const transport::Header& header, auto) { seen.push_back(header.words[0]); },
                [&](const Invitation& invitation) {
                  seen.insert(seen.end(), {invitation.from, invitation.to, invitation.bytes,
                                           invitation.chunk_bytes, invitation.serial});
                }),
            4u);
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{7, 1, 2, 3, 4, 5, 8, 9}));
}

// Budgets: what a peer costs, and what a send touches. Changing one is a decision, not an accident.
TEST(Ring, SizesAreWhatTheBudgetSays) {
  EXPECT_EQ(sizeof(Cell), 64u);
  EXPECT_EQ(sizeof(RingWriter), 88u);
  EXPECT_EQ(sizeof(RingReader), 64u);
  EXPECT_EQ(sizeof(Head), 1152u) << "memory of a peer to whom little was said";
  EXPECT_LE(Geometry{}.AreaOffset(), 8u * 1024) << "and what comes on top if it was more";
}

}  // namespace
}  // namespace lamina::shm
