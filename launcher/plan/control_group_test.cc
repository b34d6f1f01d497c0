// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the limit of a control group that ended a process, or kept one from starting, is named.
// Method: folders with the kernel's files, as both versions of the interface have them.
#include "launcher/plan/control_group.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lamina::launcher {
namespace {

class ControlGroupsTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "/groups";
    std::filesystem::remove_all(root_);
  }
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  std::string root_;
};

TEST_F(ControlGroupsTest, SecondVersion) {
  Write("/job/step/memory.events", "low 0\noom 2\noom_kill 1\noom_group_kill 7\n");
  Write("/job/step/memory.max", "max\n");
  Write("/job/memory.max", "536870912\n");
  Write("/job/pids.max", "20\n");
  Write("/job/pids.current", "19\n");
  Write("/job/step/pids.max", "max\n");
  ControlGroups groups(root_, "0::/job/step\n");
  EXPECT_EQ(groups.MemoryShortage(), "");  // the death was there before
  Write("/job/step/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 7\n");
  EXPECT_EQ(groups.MemoryShortage(), "the memory limit of control group /job (512 MiB)");
  EXPECT_EQ(groups.MemoryShortage(), "");
  Write("/job/pids.current", "20\n");
  EXPECT_EQ(groups.ProcessShortage(), "the process limit of control group /job (20)");
}

TEST_F(ControlGroupsTest, FirstVersion) {
  const std::string oom = "oom_kill_disable 0\nunder_oom 0\noom_kill ";
  Write("/memory/a/memory.oom_control", oom + "0\n");
  Write("/memory/a/memory.limit_in_bytes", "2147483648\n");
  Write("/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("/pids/pids.max", "4\n");
  Write("/pids/pids.current", "4\n");
  ControlGroups groups(root_, "5:cpu,memory:/a\n8:pids:/\n0::/\n");
  Write("/memory/a/memory.oom_control", oom + "1\n");
  EXPECT_EQ(groups.MemoryShortage(), "the memory limit of control group /a (2 GiB)");
  EXPECT_EQ(groups.ProcessShortage(), "the process limit of control group / (4)");
}

// A container sees the path that its group has on the machine, but only its own group's files.
TEST_F(ControlGroupsTest, InAContainer) {
  Write("/memory.events", "oom_kill 0\n");
  ControlGroups groups(root_, "0::/machine/docker-77\n");
  Write("/memory.events", "oom_kill 1\n");
  EXPECT_EQ(groups.MemoryShortage(), "the lack of memory on this node");
  EXPECT_EQ(ControlGroups(root_, "").MemoryShortage(), "");
}

}  // namespace
}  // namespace lamina::launcher
