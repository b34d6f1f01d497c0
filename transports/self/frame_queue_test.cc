// SPDX-License-Identifier: BSD-3-Clause
// Goal:   frames come out whole and in order, whatever their sizes and however the queue turns, and
//         a full queue refuses without losing anything.
// Method: play random pushes and pops against a std::deque of what should be in the queue.
#include "transports/self/frame_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace lamina::self {
namespace {

std::vector<std::byte> Payload(std::uint64_t number, std::size_t bytes) {
  std::vector<std::byte> payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::byte>(number * 7 + i);
  return payload;
}

struct Expected {
  std::uint64_t number;
  std::size_t bytes;
};

class FrameQueueTest : public testing::Test {
 protected:
  bool Push(std::size_t bytes) {
    const auto payload = Payload(next_, bytes);
    if (!queue_.Push({{{next_, bytes}}, payload})) return false;
    expected_.push_back({next_++, bytes});
    return true;
  }
  void PopAndCheck() {
    const Expected want = expected_.front();
    expected_.pop_front();
    queue_.Pop([&](const transport::Header& header, std::span<const std::byte> payload) {
      EXPECT_EQ(header.words[0], want.number);
      ASSERT_EQ(payload.size(), want.bytes);
      const auto same = Payload(want.number, want.bytes);
      EXPECT_TRUE(std::equal(payload.begin(), payload.end(), same.begin()));
    });
  }

  static constexpr std::uint32_t kBytes = 2048;
  FrameQueue queue_{kBytes};
  std::deque<Expected> expected_;
  std::uint64_t next_ = 1;
};

TEST_F(FrameQueueTest, AgreesWithADequeOnRandomTraffic) {
  std::mt19937 random(4711);
  int refused = 0;
  for (int step = 0; step < 200000; ++step) {
    if (random() % 2 == 0) {
      refused += !Push(random() % (kBytes / 4 + 1));
    } else if (!expected_.empty()) {
      PopAndCheck();
    }
    ASSERT_EQ(queue_.empty(), expected_.empty());
    ASSERT_FALSE(HasFailure()) << "step " << step;
  }
  EXPECT_GT(refused, 1000);
}

TEST_F(FrameQueueTest, TheLargestFrameFitsIntoAnEmptyQueueWhereverItStands) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(Push(static_cast<std::size_t>(i) % 37));
    PopAndCheck();
    ASSERT_TRUE(Push(kBytes / 4));
    PopAndCheck();
  }
}

TEST_F(FrameQueueTest, AFullQueueTakesFramesAgainAfterOnePop) {
  while (Push(kBytes / 4)) continue;
  const std::size_t full = expected_.size();
  EXPECT_GE(full, 3u);
  PopAndCheck();
  EXPECT_TRUE(Push(100));
}

TEST_F(FrameQueueTest, AReceiverMayPushWhileItTakes) {
  ASSERT_TRUE(Push(64));
  std::uint64_t seen = 0;
  const auto payload = Payload(99, 32);
  queue_.Pop([&](const transport::Header& header, std::span<const std::byte> bytes) {
    while (queue_.Push({{{99, 0}}, payload})) continue;
    seen = header.words[0];
    EXPECT_EQ(bytes[3], static_cast<std::byte>(seen * 7 + 3));
  });
  EXPECT_EQ(seen, 1u);
  queue_.Pop([&](const transport::Header& header, std::span<const std::byte>) {
    EXPECT_EQ(header.words[0], 99u);
  });
}

}  // namespace
}  // namespace lamina::self
