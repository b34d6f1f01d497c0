// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the library lock lets one thread in at a time, however often it enters, and none waits
//         for ever.
// Method: several threads count without atomics; TSan looks at the same.
#include "runtime/core/process.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace lamina::core {
namespace {

TEST(LibraryLock, LetsOneThreadInAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 20000;
  LibraryLock lock;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < kTimes; ++k) {
        lock.Lock();
        lock.Lock();
        ++count;
        lock.Unlock();
        ++count;
        lock.Unlock();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 2 * kThreads * kTimes);
  EXPECT_FALSE(lock.Wanted());
}

TEST(LibraryLock, IsGivenUpWhollyAndRegained) {
  LibraryLock lock;
  lock.Lock();
  lock.Lock();
  bool entered = false;
  std::thread other([&] {
    lock.Lock();
    entered = true;
    lock.Unlock();
  });
  while (!lock.Wanted()) std::this_thread::yield();
  EXPECT_FALSE(entered);
  const int depth = lock.ReleaseAll();
  EXPECT_EQ(depth, 2);
  other.join();
  lock.RegainAll(depth);
  EXPECT_TRUE(entered);
  lock.Unlock();
  lock.Unlock();
  EXPECT_EQ(lock.ReleaseAll(), 0);
}

}  // namespace
}  // namespace lamina::core
