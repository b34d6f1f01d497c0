// SPDX-License-Identifier: BSD-3-Clause
// Goal:   sealed memory is found by its name alone, has exactly the size asked for, and says why it
//         cannot be made or opened.
// Method: memory of this process, opened through /proc as another process would open it; a child
//         that has ended and was not waited for.
#include "runtime/memory/sealed_memory.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>

#include "runtime/base/node_memory.h"

namespace lamina::memory {
namespace {

constexpr std::size_t kBytes = 3 * kPageBytes;

// From now on memfd_create answers EPERM in this process, as under some container runtimes.
bool ForbidMemfd() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(SealedMemory, IsTheSameForWhoeverOpensIt) {
  Result<MadeSealed> made = MakeSealed("sealed_memory_test", kBytes, nullptr);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_NE(made->token, 0u);
  Result<Sealed> opened = OpenSealed(made->name, kBytes, nullptr);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  Result<std::byte*> whole = made->memory.Map(0, kBytes);
  Result<std::byte*> last = opened->Map(2 * kPageBytes, kPageBytes);
  ASSERT_TRUE(whole.ok() && last.ok());
  ASSERT_TRUE(Populate(*last + 100, 8).ok());
  (*whole)[2 * kPageBytes + 7] = std::byte{42};
  EXPECT_EQ((*last)[7], std::byte{42});
  EXPECT_NE(ftruncate(opened->descriptor(), 0), 0) << "nobody can shrink it";
  munmap(*whole, kBytes);
  munmap(*last, kPageBytes);
}

TEST(SealedMemory, WhatCannotBeOpenedSaysWhy) {
  Result<MadeSealed> made = MakeSealed("sealed_memory_test", kBytes, nullptr);
  ASSERT_TRUE(made.ok());
  const SealedName name = made->name;
  const auto refusal = [](const SealedName& wrong, std::size_t bytes) {
    return OpenSealed(wrong, bytes, nullptr).status().code();
  };
  EXPECT_EQ(refusal(name, kBytes + 1), Code::kInvalid);
  EXPECT_EQ(refusal({name.pid, name.descriptor, name.inode, kPageBytes}, kBytes), Code::kInvalid);
  EXPECT_EQ(refusal({name.pid, name.descriptor, name.inode + 1}, kBytes), Code::kPeerLost);
  EXPECT_EQ(refusal({name.pid, 1'000'000, name.inode}, kBytes), Code::kPeerLost);
  EXPECT_EQ(refusal({0, name.descriptor, name.inode}, kBytes), Code::kUnsupported);
}

TEST(SealedMemory, IsAPartOfTheNodesMemoryWhereThereIsOne) {
  Result<int> fd = MakeNodeMemory("job");
  ASSERT_TRUE(fd.ok()) << fd.status().message();
  const std::string place = NodeMemoryAssignment(*fd).substr(sizeof kNodeMemoryVariable);
  Result<std::unique_ptr<NodeMemory>> node = NodeMemory::Open(place, "job");
  ASSERT_TRUE(node.ok()) << node.status().message();
  Result<MadeSealed> made = MakeSealed("sealed_memory_test", kBytes, node->get());
  Result<MadeSealed> other = MakeSealed("sealed_memory_test", kBytes, node->get());
  ASSERT_TRUE(made.ok() && other.ok());
  EXPECT_EQ(made->name.inode, other->name.inode);
  EXPECT_TRUE(made->memory.in_node_memory());
  SealedName hidden = made->name;
  hidden.pid = 0;
  Result<Sealed> opened = OpenSealed(hidden, kBytes, node->get());
  ASSERT_TRUE(opened.ok()) << opened.status().message() << ": no right over its maker is needed";
  Result<std::byte*> base = made->memory.Map(0, kBytes), same = opened->Map(0, kBytes);
  Result<std::byte*> others = other->memory.Map(0, kBytes);
  ASSERT_TRUE(base.ok() && same.ok() && others.ok());
  (*base)[kBytes - 1] = (*others)[kBytes - 1] = std::byte{42};
  EXPECT_EQ((*same)[kBytes - 1], std::byte{42});
  EXPECT_TRUE(opened->Erase(0, kBytes));
  EXPECT_EQ((*base)[kBytes - 1], std::byte{0});
  EXPECT_EQ((*others)[kBytes - 1], std::byte{42}) << "another part was erased";
  for (std::byte* mapped : {*base, *same, *others}) munmap(mapped, kBytes);
  // Whoever has no part in the node's memory can open it like any other file.
  EXPECT_TRUE(OpenSealed(made->name, kBytes, nullptr).ok());
}

// Goes into a process of its own, because nothing undoes a filter.
TEST(SealedMemory, IsAFileWithoutANameWhereMemfdIsForbidden) {
  EXPECT_EXIT(
      {
        if (!ForbidMemfd()) _exit(2);
        Result<MadeSealed> made = MakeSealed("sealed_memory_test", kBytes, nullptr);
        if (!made.ok()) fprintf(stderr, "%s\n", std::string(made.status().message()).c_str());
        _exit(made.ok() && OpenSealed(made->name, kBytes, nullptr).ok() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SealedMemory, LeavesTheStandardDescriptorsAlone) {
  EXPECT_EXIT(
      {
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        Result<MadeSealed> made = MakeSealed("sealed_memory_test", kBytes, nullptr);
        _exit(made.ok() && made->memory.descriptor() > STDERR_FILENO ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SealedMemory, IsHeldUntilItsMakerClosesIt) {
  SealedName name;
  {
    Result<MadeSealed> made = MakeSealed("sealed_memory_test", kBytes, nullptr);
    ASSERT_TRUE(made.ok());
    name = made->name;
    EXPECT_EQ(AskAfter(name), Maker::kHolds);
    EXPECT_EQ(AskAfter({name.pid, name.descriptor, name.inode + 1}), Maker::kHasGone);
    EXPECT_EQ(AskAfter({0, name.descriptor, name.inode}), Maker::kHidden);
  }
  EXPECT_EQ(AskAfter(name), Maker::kHasGone);
}

TEST(SealedMemory, AFileSizeLimitIsAnErrorAndNoSignal) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit low = before;
  low.rlim_cur = kPageBytes;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const Result<MadeSealed> made = MakeSealed("sealed_memory_test", kBytes, nullptr);
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
