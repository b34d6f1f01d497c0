// SPDX-License-Identifier: BSD-3-Clause
// Goal:   ranks find the memory of their own job and no other, also after a wrapper or the program
//         has closed its descriptor; parts are never given out twice; the head stays as it is.
// Method: such memory, and descriptors that are none, of this process and of children.
#include "runtime/base/node_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

namespace lamina {
namespace {

std::string Value(int fd) {
  return NodeMemoryAssignment(fd).substr(sizeof kNodeMemoryVariable);  // the name and "="
}

TEST(NodeMemory, HeadIsPinned) {
  EXPECT_EQ(offsetof(NodeMemoryHead, taken), 8u);
  EXPECT_EQ(offsetof(NodeMemoryHead, job), 16u);
}

TEST(NodeMemory, PartsAreNewAndApart) {
  Result<int> fd = MakeNodeMemory("job-1");
  ASSERT_TRUE(fd.ok()) << fd.status().message();
  auto node = NodeMemory::Open(Value(*fd), "job-1");
  ASSERT_TRUE(node.ok()) << node.status().message();
  Result<std::uint64_t> first = (*node)->Take(8192), second = (*node)->Take(4096);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, NodeMemoryHead::kBytes);
  EXPECT_EQ(*second, *first + 8192);
  Result<std::byte*> mapped = (*node)->Map(*first, 8192);
  ASSERT_TRUE(mapped.ok()) << mapped.status().message();
  EXPECT_EQ((*mapped)[8191], std::byte{0});
  (*mapped)[8191] = std::byte{1};
  EXPECT_TRUE((*node)->Erase(*first, 8192));
  struct stat file;
  ASSERT_EQ(fstat((*node)->descriptor(), &file), 0);
  EXPECT_EQ((*mapped)[8191], std::byte{0});
  munmap(*mapped, 8192);
  EXPECT_LE(file.st_blocks * 512, 4096) << "what nobody touches takes no memory";
  EXPECT_EQ((*node)->Take(static_cast<std::size_t>(file.st_size)).status().code(), Code::kResource);
  EXPECT_EQ((*node)->Map(static_cast<std::uint64_t>(file.st_size), 1).status().code(),
            Code::kInvalid);
  EXPECT_NE(ftruncate((*node)->descriptor(), 0), 0) << "nobody can shrink it";
}

TEST(NodeMemory, IsFetchedFromItsMakerByWhoHasNotInheritedIt) {
  Result<int> fd = MakeNodeMemory("job-2");
  ASSERT_TRUE(fd.ok());
  const std::string value = Value(*fd);
  const pid_t child = fork();
  if (child == 0) {
    const int other = open("/dev/null", O_RDONLY);  // as behind a wrapper
    if (dup2(other, *fd) != *fd) _exit(2);
    auto node = NodeMemory::Open(value, "job-2");
    if (!node.ok()) _exit(3);
    close((*node)->descriptor());  // as by a program that closes what it does not know
    Result<std::byte*> mapped = (*node)->Map(4096, 4096);
    node->reset();
    _exit(mapped.ok() && fcntl(*fd, F_GETFD) == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(*fd);
}

TEST(NodeMemory, OfAnotherJobIsNone) {
  Result<int> fd = MakeNodeMemory("job-3");
  ASSERT_TRUE(fd.ok());
  EXPECT_EQ(NodeMemory::Open(Value(*fd), "job-4").status().code(), Code::kNotFound);
  EXPECT_NE(fcntl(*fd, F_GETFD), -1) << "somebody else's descriptor was closed";
  close(*fd);
}

TEST(NodeMemory, IsNotMadeUnderATinyFileSizeLimit) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const Result<int> made = MakeNodeMemory("job-5");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(made.status().code(), Code::kResource);
}

TEST(NodeMemory, WordsThatAreNoPlace) {
  for (const char* place : {"", "7", "x:y", "1:", ":3", "0:3", "1:-3", "1:99999999999"})
    EXPECT_EQ(NodeMemory::Open(place, "job").status().code(), Code::kInvalid) << place;
  EXPECT_EQ(NodeMemory::Open("999999999:987654", "job").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace lamina
