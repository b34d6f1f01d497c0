// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a file that the kernel does not execute is named for what it is, and only a text goes to
//         the shell.
// Method: beginnings of files made by hand.
#include "launcher/spawn/local/program_format.h"

#include <gtest/gtest.h>

namespace lamina::launcher::local {
namespace {

std::string Elf(int wide, int big, int type, int machine) {
  std::string head(
      "\x7f"
      "ELF",
      4);
  head += static_cast<char>(wide ? 2 : 1);
  head += static_cast<char>(big ? 2 : 1);
  head.resize(16);
  for (const int value : {type, machine}) {
    const char bytes[] = {static_cast<char>(value % 256), static_cast<char>(value / 256)};
    head += bytes[big ? 1 : 0];
    head += bytes[big ? 0 : 1];
  }
  return head + std::string(44, '\0');
}

TEST(ProgramFormatTest, AnotherArchitectureIsNamed) {
  EXPECT_EQ(WhyNoProgram(Elf(1, 0, 2, 183), "x86_64"),
            "it is an ELF program for aarch64; this node is x86_64");
  EXPECT_EQ(WhyNoProgram(Elf(1, 0, 3, 62), "aarch64"),
            "it is an ELF program for x86_64; this node is aarch64");
  EXPECT_EQ(WhyNoProgram(Elf(0, 0, 2, 3), "x86_64"),
            "it is an ELF program for i386; this node is x86_64");
  EXPECT_EQ(WhyNoProgram(Elf(1, 1, 2, 22), "x86_64"),
            "it is an ELF program for s390x; this node is x86_64");
  EXPECT_EQ(WhyNoProgram(Elf(1, 1, 2, 21), "ppc64le"),
            "it is an ELF program for ppc64; this node is ppc64le");
  EXPECT_EQ(WhyNoProgram(Elf(1, 0, 2, 9999), "x86_64"),
            "it is an ELF program for machine 9999; this node is x86_64");
}

TEST(ProgramFormatTest, WhatIsNoProgramIsNamed) {
  EXPECT_EQ(WhyNoProgram(Elf(1, 0, 1, 62), "x86_64"),
            "it is an ELF object file, which is not linked yet");
  EXPECT_EQ(WhyNoProgram(Elf(1, 0, 4, 62), "x86_64"), "it is a core file");
  EXPECT_EQ(WhyNoProgram(Elf(1, 0, 2, 62), "x86_64"), "it is a damaged ELF program");
  EXPECT_EQ(WhyNoProgram("\x7f"
                         "ELF\2",
                         "x86_64"),
            "it is an ELF program that is cut off");
  EXPECT_EQ(WhyNoProgram("!<arch>\nmain.o/", "x86_64"), "it is an archive of object files");
  EXPECT_EQ(WhyNoProgram("\xcf\xfa\xed\xfe\7", "x86_64"), "it is a program for macOS");
  EXPECT_EQ(WhyNoProgram(std::string("MZ\0\3", 4), "x86_64"), "it is a program for Windows");
  EXPECT_EQ(WhyNoProgram(std::string("\1\0\2", 3), "x86_64"),
            "it is neither a program for this node nor a script");
}

TEST(ProgramFormatTest, ATextIsForTheShell) {
  EXPECT_EQ(WhyNoProgram("echo here\n", "x86_64"), "");
  EXPECT_EQ(WhyNoProgram("MZ=1 ./start\n", "x86_64"), "");
  EXPECT_EQ(WhyNoProgram("echo \xc3\xa4\n", "x86_64"), "");
  EXPECT_EQ(WhyNoProgram("", "x86_64"), "");
}

}  // namespace
}  // namespace lamina::launcher::local
