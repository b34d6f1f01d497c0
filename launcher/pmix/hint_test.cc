// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the guess is right for real programs and harmless for everything else.
// Method: this test itself, which needs neither library; files that are no programs, cut short or
//         broken at every byte of their header.
#include "launcher/pmix/hint.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace lamina::launcher::pmix {
namespace {

std::string Written(const std::string& bytes) {
  const std::string path = testing::TempDir() + "hint_test.file";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string ThisProgram(std::size_t bytes) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string text(bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

TEST(NeedsServerTest, ProgramWithoutMpi) { EXPECT_FALSE(NeedsServer("/proc/self/exe", false)); }

TEST(NeedsServerTest, UsersOfMpiAndOfPmix) {
  // The name of a needed library is a string in a table: make ours need libmpi instead of libc.
  std::string program = ThisProgram(64 << 20);
  const std::size_t at = program.find(std::string("\0libc.so.6\0", 11));
  ASSERT_NE(at, std::string::npos);
  program.replace(at + 1, 9, "libmpi.so");
  EXPECT_TRUE(NeedsServer(Written(program), false));
  EXPECT_FALSE(NeedsServer(Written(program), true)) << "MPI finds its peers in the roster";
  program.replace(at + 1, 9, std::string("libpmix\0\0", 9));
  EXPECT_TRUE(NeedsServer(Written(program), true));
}

TEST(NeedsServerTest, NoPrograms) {
  EXPECT_FALSE(NeedsServer("/nosuch", false));
  EXPECT_FALSE(NeedsServer("/tmp", false));
  EXPECT_FALSE(NeedsServer(Written(""), false));
  EXPECT_FALSE(NeedsServer(Written("#!/bin/sh\nlibmpi\n"), false));
}

TEST(NeedsServerTest, CutShort) {
  const std::string program = ThisProgram(8192);
  for (std::size_t bytes = 0; bytes < program.size(); bytes += 61)
    EXPECT_FALSE(NeedsServer(Written(program.substr(0, bytes)), false));
}

TEST(NeedsServerTest, BrokenHeader) {
  for (std::size_t at = 0; at < 64; ++at) {
    std::string program = ThisProgram(8192);
    program[at] = static_cast<char>(program[at] ^ 0x7f);
    NeedsServer(Written(program), false);  // whatever it says, it comes back
  }
}

}  // namespace
}  // namespace lamina::launcher::pmix
