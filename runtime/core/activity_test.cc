// SPDX-License-Identifier: BSD-3-Clause
// Goal:   an activity is advanced once for any number of notices, in the order of the first ones,
//         whichever thread gave them.
// Method: activities that write down when they are advanced; a thread gives notices.
#include "runtime/core/activity.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace lamina::core {
namespace {

class Noting final : public Activity {
 public:
  Noting(int number, std::vector<int>* notes) : number_(number), notes_(notes) {}
  void Advance() override { notes_->push_back(number_); }

 private:
  const int number_;
  std::vector<int>* const notes_;
};

TEST(Activity, IsAdvancedOnceInOrder) {
  std::vector<int> notes;
  Noting first(1, &notes), second(2, &notes);
  EXPECT_FALSE(AdvanceNotified());
  Notify(&first);
  Notify(&second);
  Notify(&first);
  EXPECT_TRUE(IsAnyNotified());
  EXPECT_TRUE(AdvanceNotified());
  EXPECT_EQ(notes, (std::vector<int>{1, 2}));
  EXPECT_FALSE(IsAnyNotified());
}

TEST(Activity, HearsOtherThreads) {
  std::vector<int> notes;
  Noting first(1, &notes), second(2, &notes), third(3, &notes);
  Notify(&first);
  std::thread([&] {
    NotifyFromAnyThread(&second);
    NotifyFromAnyThread(&third);
  }).join();
  EXPECT_TRUE(IsAnyNotified());
  EXPECT_TRUE(AdvanceNotified());
  EXPECT_EQ(notes, (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(AdvanceNotified());
}

TEST(Activity, LosesNoNoticeOfManyThreads) {
  constexpr int kThreads = 4, kEach = 500;
  std::vector<int> notes;
  std::vector<std::unique_ptr<Noting>> activities;
  for (int i = 0; i < kThreads * kEach; ++i)
    activities.push_back(std::make_unique<Noting>(i, &notes));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&activities, thread] {
      for (int i = 0; i < kEach; ++i)
        NotifyFromAnyThread(activities[static_cast<std::size_t>(thread * kEach + i)].get());
    });
  while (notes.size() < activities.size()) AdvanceNotified();
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(AdvanceNotified());
}

}  // namespace
}  // namespace lamina::core
