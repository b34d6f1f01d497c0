// SPDX-License-Identifier: BSD-3-Clause
// Goal:   hosts that have one directory under one path find the same number there, others do not.
// Method: descriptors of folders, some of which are one folder.
#include "launcher/saving/mark.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "runtime/base/descriptor.h"

namespace lamina::launcher {
namespace {

class MarkTest : public testing::Test {
 protected:
  MarkTest() { std::filesystem::create_directory(path_); }
  ~MarkTest() override { std::filesystem::remove_all(path_); }
  Descriptor Open() const { return Descriptor(open(path_.c_str(), O_RDONLY | O_DIRECTORY)); }

  const std::string path_ = testing::TempDir() + "mark_test." + std::to_string(getpid());
};

TEST_F(MarkTest, TheFirstIsFoundByAllWhoShareTheDirectory) {
  const auto name = Mark::NewName();
  ASSERT_TRUE(name.ok());
  const auto first = Mark::Leave(Open().value(), *name, 0xffffffff);
  const auto second = Mark::Leave(Open().value(), *name, 3);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*first)->first(), 0xffffffff);
  EXPECT_EQ((*second)->first(), 0xffffffff);
}

TEST_F(MarkTest, WhatJobsAskIsApartAndLeavesNothing) {
  {
    const auto name = Mark::NewName();
    const auto other = Mark::NewName();
    ASSERT_TRUE(name.ok() && other.ok());
    const auto first = Mark::Leave(Open().value(), *name, 1);
    const auto second = Mark::Leave(Open().value(), *other, 2);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ((*second)->first(), 2u);
  }
  EXPECT_TRUE(std::filesystem::is_empty(path_));
}

TEST_F(MarkTest, AStrangersLinkIsRefused) {
  std::filesystem::create_symlink("elsewhere", path_ + "/x.mark");
  EXPECT_FALSE(Mark::Leave(Open().value(), "x.mark", 1).ok());
  EXPECT_FALSE(Mark::Leave(-1, "x.mark", 1).ok());
}

}  // namespace
}  // namespace lamina::launcher
