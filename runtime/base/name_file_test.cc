// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a name is found until it is taken back or its process is gone, nobody loses a name to
//         somebody else who writes at the same time, and no other file is overwritten.
// Method: files in this test's directory; lines of processes that are gone are written by hand.
#include "runtime/base/name_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "runtime/base/place.h"
#include "runtime/base/read_file.h"
#include "runtime/base/text.h"

namespace lamina {
namespace {

std::string PathOf(const std::string& name) { return testing::TempDir() + "/" + name; }

TEST(NameFileTest, GoldenBytes) {
  const std::vector<NameLine> lines = {{"61", "6262", 0x123456789abcdef0u, 4711, 98765},
                                       {"63", "64", 1, 2, 3}};
  const std::string text =
      "lamina names 1\n"
      "61\t6262\t123456789abcdef0\t4711\t98765\n"
      "63\t64\t0000000000000001\t2\t3\n";
  EXPECT_EQ(WriteNameLines(lines), text);
  EXPECT_EQ(*ReadNameLines(text), lines);
}

TEST(NameFileTest, LinesWithoutSenseArePassedOver) {
  const std::string good = "61\t62\t0000000000000001\t2\t3\n";
  for (const char* line : {"", "61", "61\t62\t1\t2\t3", "61\t62\t000000000000000g\t2\t3",
                           "61\t62\t0000000000000001\t0\t3", "61\t62\t0000000000000001\t-2\t3",
                           "\t62\t0000000000000001\t2\t3", "61\t62\t0000000000000001\t2\t3\t4"})
    EXPECT_EQ(ReadNameLines(std::string("lamina names 1\n") + line + "\n" + good)->size(), 1u)
        << line;
}

TEST(NameFileTest, FoundUntilItIsTakenBack) {
  const NameFile file(PathOf("names"));
  EXPECT_EQ(file.Find("61"), "");
  ASSERT_TRUE(file.Publish("61", "6262").ok());
  EXPECT_EQ(file.Publish("61", "6363").code(), Code::kExists);
  ASSERT_TRUE(file.Publish("62", "64").ok());
  EXPECT_EQ(NameFile(PathOf("names")).Find("61"), "6262");
  EXPECT_TRUE(file.Unpublish("61").ok());
  EXPECT_EQ(file.Find("61"), "");
  EXPECT_EQ(file.Find("62"), "64");
  EXPECT_TRUE(file.Unpublish("62").ok());
  EXPECT_FALSE(ReadFile(file.path()).has_value());
  EXPECT_TRUE(file.Unpublish("62").ok());
}

// D11: a name ends with its process, however that ended.
TEST(NameFileTest, EndsWithItsProcess) {
  const NameFile file(PathOf("ended"));
  const pid_t owner = fork();
  if (owner == 0) _exit(file.Publish("61", "62").ok() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(owner, &status, 0), owner);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(ReadNameLines(ReadFile(file.path()).value_or(""))->size(), 1u);
  EXPECT_EQ(file.Find("61"), "");
  ASSERT_TRUE(file.Publish("61", "63").ok());
  EXPECT_EQ(file.Find("61"), "63");
  EXPECT_EQ(ReadNameLines(ReadFile(file.path()).value_or(""))->size(), 1u);
  EXPECT_TRUE(file.Unpublish("61").ok());
}

// Nothing is known of processes elsewhere, and one's own of that name is another one.
TEST(NameFileTest, LinesOfOtherMachinesStay) {
  const NameFile file(PathOf("elsewhere"));
  std::ofstream(file.path()) << WriteNameLines({{"61", "62", PlaceNumber() + 1, getpid(), 1}});
  EXPECT_EQ(file.Find("61"), "62");
  EXPECT_EQ(file.Publish("61", "63").code(), Code::kExists);
  EXPECT_TRUE(file.Unpublish("61").ok());
  EXPECT_EQ(file.Find("61"), "62");
}

TEST(NameFileTest, AnotherFileIsLeftAsItIs) {
  const NameFile file(PathOf("thesis"));
  std::ofstream(file.path()) << "Chapter 1\n";
  EXPECT_EQ(file.Publish("61", "62").code(), Code::kInvalid);
  EXPECT_EQ(file.Find("61"), "");
  EXPECT_EQ(ReadFile(file.path()), "Chapter 1\n");
  EXPECT_FALSE(NameFile("/nonexistent/names").Publish("61", "62").ok());
}

TEST(NameFileTest, ManyWriteAtATime) {
  const NameFile file(PathOf("many"));
  constexpr int kWriters = 8, kNames = 20;
  for (int writer = 0; writer < kWriters; ++writer)
    if (fork() == 0) {
      for (int i = 0; i < kNames; ++i) {
        const std::string name = Format("%d.%d", writer, i);
        if (!file.Publish(name, "62").ok() || file.Find(name) != "62") _exit(1);
        if (i % 2 == 0 && !file.Unpublish(name).ok()) _exit(2);
        if (file.Find(name) != (i % 2 == 0 ? "" : "62")) _exit(3);
      }
      for (int i = 1; i < kNames; i += 2)
        if (!file.Unpublish(Format("%d.%d", writer, i)).ok()) _exit(4);
      _exit(0);
    }
  for (int writer = 0; writer < kWriters; ++writer) {
    int status = -1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_FALSE(ReadFile(file.path()).has_value());
}

}  // namespace
}  // namespace lamina
