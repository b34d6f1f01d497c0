// SPDX-License-Identifier: BSD-3-Clause
// Goal:   sealed memory is found by its name alone, has exactly the size asked for, and says why it
//         cannot be made or opened.
// Method: memory of this process, opened through /proc as another process would open it; a child
//         that has ended and was not waited for.
#include "runtime/memory/sealed_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lamina::memory {
namespace {

constexpr std::size_t kBytes = 3 * kPageBytes;

TEST(SealedMemory, IsTheSameForWhoeverOpensIt) {
  Result<Descriptor> made = MakeSealed("sealed_memory_test", kBytes);
  ASSERT_TRUE(made.ok()) << made.status().message();
  Result<SealedName> name = NameOf(*made);
  ASSERT_TRUE(name.ok());
  Result<Descriptor> opened = OpenSealed(*name, kBytes);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  Result<std::byte*> whole = MapShared(*made, 0, kBytes);
  Result<std::byte*> last = MapShared(*opened, 2 * kPageBytes, kPageBytes);
  ASSERT_TRUE(whole.ok() && last.ok());
  ASSERT_TRUE(Populate(*last + 100, 8).ok());
  (*whole)[2 * kPageBytes + 7] = std::byte{42};
  EXPECT_EQ((*last)[7], std::byte{42});
  EXPECT_NE(ftruncate(opened->value(), 0), 0) << "nobody can shrink it";
  munmap(*whole, kBytes);
  munmap(*last, kPageBytes);
}

TEST(SealedMemory, WhatCannotBeOpenedSaysWhy) {
  Result<Descriptor> made = MakeSealed("sealed_memory_test", kBytes);
  ASSERT_TRUE(made.ok());
  const SealedName name = *NameOf(*made);
  EXPECT_EQ(OpenSealed(name, kBytes + 1).status().code(), Code::kInvalid);
  EXPECT_EQ(OpenSealed({name.pid, name.descriptor, name.inode + 1}, kBytes).status().code(),
            Code::kPeerLost);
  EXPECT_EQ(OpenSealed({name.pid, 1'000'000, name.inode}, kBytes).status().code(), Code::kPeerLost);
}

TEST(SealedMemory, IsHeldUntilItsMakerClosesIt) {
  SealedName name;
  {
    Result<Descriptor> made = MakeSealed("sealed_memory_test", kBytes);
    ASSERT_TRUE(made.ok());
    name = *NameOf(*made);
    EXPECT_TRUE(IsHeld(name));
    EXPECT_FALSE(IsHeld({name.pid, name.descriptor, name.inode + 1}));
  }
  EXPECT_FALSE(IsHeld(name));
}

TEST(SealedMemory, AFileSizeLimitIsAnErrorAndNoSignal) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit low = before;
  low.rlim_cur = kPageBytes;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const Result<Descriptor> made = MakeSealed("sealed_memory_test", kBytes);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(made.status().code(), Code::kResource);
}

TEST(IsRunning, IsFalseForAProcessThatNobodyHasWaitedForYet) {
  EXPECT_TRUE(IsRunning(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(IsRunning(child));
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(IsRunning(child));
}

TEST(WholePages, RoundsUp) {
  EXPECT_EQ(WholePages(0), 0u);
  EXPECT_EQ(WholePages(1), kPageBytes);
  EXPECT_EQ(WholePages(kPageBytes), kPageBytes);
}

}  // namespace
}  // namespace lamina::memory
