// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what the kernel says of a process is read rightly, whatever the name of the process.
// Method: lines that are made up and damaged; this process, and a child that waits for it.
#include "runtime/base/process_stat.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace lamina {
namespace {

constexpr const char* kLine =
    "77 (a) R (b) S 12 77 77 0 -1 4194560 100 0 0 0 30 12 0 0 20 0 1 0 4242 9000000 250 "
    "18446744073709551615 1 1\n";

TEST(ProcessStat, ANameMayHoldAnything) {
  const auto stat = DecodeStat(kLine);
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->name, "a) R (b");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 12);
  EXPECT_EQ(stat->cpu_ticks, 42u);
  EXPECT_EQ(stat->start_ticks, 4242u);
  EXPECT_EQ(stat->pages, 250u);
}

TEST(ProcessStat, WhatIsCutShortIsNothing) {
  const std::string line = kLine;
  const std::size_t needed = line.find("250");
  for (std::size_t length = 0; length < needed; ++length)
    EXPECT_FALSE(DecodeStat(line.substr(0, length)).has_value()) << length;
  EXPECT_FALSE(DecodeStat(") (").has_value());
  EXPECT_FALSE(StatOf(-1).has_value());
}

TEST(ProcessStat, OfThisProcessAndItsChild) {
  ASSERT_EQ(prctl(PR_SET_NAME, "odd ) name"), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    char byte;
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  const auto own = StatOf(getpid());
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->name, "odd ) name");
  EXPECT_EQ(own->parent, getppid());
  EXPECT_GT(own->pages, 0u);
  const auto its = StatOf(child);
  ASSERT_TRUE(its.has_value());
  EXPECT_EQ(its->parent, getpid());
  EXPECT_GE(its->start_ticks, own->start_ticks);
  const std::vector<pid_t> children = ChildrenOf(getpid());
  EXPECT_EQ(std::ranges::count(children, child), 1);
  close(ends[0]);
  close(ends[1]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(ChildrenOf(getpid()).empty());
}

}  // namespace
}  // namespace lamina
