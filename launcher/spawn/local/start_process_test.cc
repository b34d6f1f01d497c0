// SPDX-License-Identifier: BSD-3-Clause
// Goal:   CPU lists are understood, and programs are found as a shell would find them.
// Method: lists good and bad; files made in the test's own folder.
#include "launcher/spawn/local/start_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace lamina::launcher::local {
namespace {

using Cpus = std::vector<unsigned>;

TEST(ParseCpuListTest, Lists) {
  EXPECT_EQ(ParseCpuList(""), Cpus{});
  EXPECT_EQ(ParseCpuList("0"), Cpus{0});
  EXPECT_EQ(ParseCpuList("0-3,8"), (Cpus{0, 1, 2, 3, 8}));
  EXPECT_EQ(ParseCpuList("1023-1025"), (Cpus{1023, 1024, 1025}));
}

TEST(ParseCpuListTest, NoLists) {
  for (const char* text : {",", "0,", "a", "3-1", "-1", "1-", "0x3", "99999999", "1 2"})
    EXPECT_FALSE(ParseCpuList(text).has_value()) << text;
}

class FindProgramTest : public testing::Test {
 protected:
  FindProgramTest() : folder_(testing::TempDir() + "find_program." + std::to_string(getpid())) {
    mkdir(folder_.c_str(), 0700);
    mkdir((folder_ + "/bin").c_str(), 0700);
    mkdir((folder_ + "/sbin").c_str(), 0700);
    mkdir((folder_ + "/bin/folder").c_str(), 0700);
    Make("/bin/plain", 0600);
    Make("/bin/tool", 0700);
    Make("/sbin/tool", 0700);
    Make("/sbin/plain", 0700);
  }
  void Make(const char* name, mode_t mode) {
    const int fd = open((folder_ + name).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, mode);
    ASSERT_GE(fd, 0);
    close(fd);
  }
  std::string Find(const char* name, const std::string& path, const std::string& wdir = "") {
    return FindProgram(name, path, wdir);
  }

  const std::string folder_;
};

TEST_F(FindProgramTest, FirstExecutableOfThePath) {
  const std::string path = folder_ + "/bin:" + folder_ + "/sbin";
  EXPECT_EQ(Find("tool", path), folder_ + "/bin/tool");
  EXPECT_EQ(Find("plain", path), folder_ + "/sbin/plain");
  EXPECT_EQ(Find("folder", path), "");
  EXPECT_EQ(Find("nosuch", path), "");
  EXPECT_EQ(Find("", path), "");
}

TEST_F(FindProgramTest, NotExecutableIsBetterThanNothing) {
  EXPECT_EQ(Find("plain", folder_ + "/bin"), folder_ + "/bin/plain");
}

TEST_F(FindProgramTest, ASlashMeansItself) { EXPECT_EQ(Find("./nosuch", folder_), "./nosuch"); }

TEST_F(FindProgramTest, RelativePathsCountFromTheWorkingDirectory) {
  EXPECT_EQ(Find("tool", "bin", folder_), "bin/tool");
  EXPECT_EQ(Find("tool", ":sbin", folder_), "sbin/tool");
  EXPECT_EQ(Find("tool", "", folder_ + "/bin"), "./tool");
}

}  // namespace
}  // namespace lamina::launcher::local
