// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a job hangs if each of its ranks waits in MPI and none has gone on for so long. Whatever
//         stood still for another reason does not hang.
// Method: looks at invented ranks, by an invented clock.
#include "launcher/supervise/hang_watch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "launcher/supervise/tuning.h"

namespace lamina::launcher {
namespace {

RankView Waiting(std::uint64_t since_ms) {
  RankView view;
  view.phase = Phase::kInitialized;
  view.wait.state = WaitNote::kWaits;
  view.wait.since_ms = since_ms;
  return view;
}

RankView Computing() {
  RankView view;
  view.phase = Phase::kInitialized;
  return view;
}

class HangWatchTest : public testing::Test {
 protected:
  using Hang = HangWatch::Hang;
  // Looks until the job hangs; returns for how long, or 0 if it never does.
  std::uint64_t HangsAfter() {
    const std::uint64_t begin_ms = now_ms_;
    for (int looks = 0; looks < 40; ++looks) {
      if (watch_.Look(now_ms_, ranks_) != Hang::kNot) return now_ms_ - begin_ms;
      now_ms_ += kLookForHangMs;
    }
    return 0;
  }

  static constexpr std::uint64_t kLimitMs = 8 * kLookForHangMs;
  HangWatch watch_{kLimitMs};
  std::uint64_t now_ms_ = 1'000'000;
  // Their hosts' clocks are not that of the launcher.
  std::vector<RankView> ranks_{Waiting(5), Waiting(7'000'000'000)};
};

TEST_F(HangWatchTest, AllWait) {
  EXPECT_EQ(HangsAfter(), kLimitMs);
  EXPECT_EQ(watch_.Look(now_ms_ + kLookForHangMs, ranks_), Hang::kSurely);
}

TEST_F(HangWatchTest, WhoeverTestsMayCompute) {
  ranks_[1].wait.state = WaitNote::kTests;
  EXPECT_EQ(HangsAfter(), kLimitMs);
  EXPECT_EQ(watch_.Look(now_ms_ + kLookForHangMs, ranks_), Hang::kSeems);
}

TEST_F(HangWatchTest, WhoeverComputesDoesNotHang) {
  ranks_.push_back(Computing());
  EXPECT_EQ(HangsAfter(), 0u);
  ranks_[2] = Waiting(9);
  EXPECT_EQ(HangsAfter(), kLimitMs);
}

TEST_F(HangWatchTest, AnotherWaitBeginsAnew) {
  for (int look = 0; look < 40; ++look, now_ms_ += kLookForHangMs) {
    ranks_[1].wait.since_ms += look % 4 == 0 ? 1 : 0;
    EXPECT_EQ(watch_.Look(now_ms_, ranks_), Hang::kNot);
  }
}

TEST_F(HangWatchTest, RanksThatAreThroughDoNotCount) {
  ranks_.push_back(Computing());
  ranks_.back().running = false;
  ranks_.push_back(Computing());
  ranks_.back().phase = Phase::kFinalized;
  EXPECT_EQ(HangsAfter(), kLimitMs);
  // But somebody has to wait.
  ranks_.erase(ranks_.begin(), ranks_.begin() + 2);
  EXPECT_EQ(HangsAfter(), 0u);
}

TEST_F(HangWatchTest, TheStoppedAndTheSavedDoNotHang) {
  ranks_[0].stopped = true;
  EXPECT_EQ(HangsAfter(), 0u);
  ranks_[0].stopped = false;
  watch_.Forget();
  EXPECT_EQ(HangsAfter(), kLimitMs);
}

TEST_F(HangWatchTest, TimeWithoutLooksDoesNotCount) {
  EXPECT_EQ(watch_.Look(now_ms_, ranks_), Hang::kNot);
  now_ms_ += 100 * kLimitMs;
  EXPECT_EQ(HangsAfter(), kLimitMs);
}

}  // namespace
}  // namespace lamina::launcher
