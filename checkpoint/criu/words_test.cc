// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what criu prints is understood, and its first error that matters is the one quoted.
// Method: what several versions have printed.
#include "checkpoint/criu/words.h"

#include <gtest/gtest.h>

#include <string_view>

namespace lamina::checkpoint::criu {
namespace {

TEST(VersionIn, WhatVersionsPrint) {
  EXPECT_EQ(VersionIn("Version: 4.2.1\n"), "4.2.1");
  EXPECT_EQ(VersionIn("Version: 3.17.1\nGitID: v3.17.1-1-gabc\n"), "3.17.1");
  EXPECT_EQ(VersionIn("sh: 1: criu: not found\n"), std::nullopt);
  EXPECT_EQ(VersionIn("Version: \n"), std::nullopt);
  EXPECT_EQ(VersionIn(""), std::nullopt);
}

TEST(InstructionsIn, WhatProgramsChoose) {
  EXPECT_EQ(InstructionsIn(" fpu vme sse2 syscall avx512f ibrs md_clear fsrm sha_ni "),
            (std::vector<std::string>{"sse2", "avx512f", "fsrm", "sha_ni"}));
  EXPECT_TRUE(InstructionsIn("").empty());
}

TEST(IsOld, Versions) {
  for (const char* old : {"3.17.1", "4.1", "4.1.1", "4", "2.0"}) EXPECT_TRUE(IsOld(old)) << old;
  for (const char* good : {"4.2", "4.2.1", "4.10", "5.0", "10.1"})
    EXPECT_FALSE(IsOld(good)) << good;
}

TEST(TooOldFor, KernelsAndVersions) {
  EXPECT_EQ(TooOldFor("3.17.1", "5.10.0-28-amd64"), "");
  EXPECT_EQ(TooOldFor("3.17.1", "6.12.9"), "");
  EXPECT_NE(TooOldFor("3.17.1", "6.13.1"), "");
  EXPECT_EQ(TooOldFor("4.1.1", "6.15.0"), "");
  EXPECT_NE(TooOldFor("4.1.1", "6.18-rc1"), "");
  EXPECT_EQ(TooOldFor("4.2", "6.18.44"), "");
  EXPECT_EQ(TooOldFor("5.0", "unknown"), "");
  EXPECT_EQ(TooOldFor("3.17.1", "6.18.44"),
            "criu 3.17.1 is too old for kernel 6.18.44, in which the memory of the vDSO lies in "
            "another way; 4.2 or later is needed");
}

TEST(FirstError, IsTheOneThatMatters) {
  EXPECT_EQ(
      FirstError("Warn  (criu/kerndat.c:1799): Hardware breakpoints don't seem to work\n"
                 "Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self: "
                 "Operation not permitted\n"
                 "Error (criu/net.c:3500): net: Unexpected error: -1(Operation not permitted)\n"
                 "Error (criu/image.c:94): Need to set the --tcp-close options.\n"
                 "Error (criu/cr-dump.c:1975): Dumping FAILED.\n"),
      "Need to set the --tcp-close options.");
  EXPECT_EQ(
      FirstError("(00.014526) Error (criu/vdso.c:221): vdso: Unexpected rt vDSO area bounds\n"),
      "vdso: Unexpected rt vDSO area bounds");
  EXPECT_EQ(FirstError("criu: error while loading shared libraries: libnet.so.9\n\n"),
            "criu: error while loading shared libraries: libnet.so.9");
  EXPECT_EQ(FirstError("Error (cut"), "Error (cut");
  EXPECT_EQ(FirstError(""), "it printed nothing");
}

TEST(HasBug, AnErrorInCriuItself) {
  EXPECT_TRUE(
      HasBug("pie: 7: Error (criu/pie/restorer.c:226): Can't setgroups([1 gids]): -1\n"
             "pie: 7: Error (criu/pie/restorer.c:820): BUG at criu/pie/restorer.c:820\n"));
  EXPECT_FALSE(HasBug("Error (criu/net.c:1253): net: Unexpected error: -1\n"));
}

TEST(Meaning, WhatAProgramUses) {
  const struct {
    const char *error, *word;
  } rows[] = {
      {"Can't create link remap for /dev/shm/sem.62Rc0u. Use link-remap option.", "(sem_open)"},
      {"Task 10000 with SysVIPC shmem map @7f4683286000 doesn't live in IPC ns", "(shmget)"},
      {"Can't lookup mount=20 for fd=3 path=/queue", "(mq_open)"},
  };
  for (const auto& row : rows)
    EXPECT_NE(Meaning(row.error).find(row.word), std::string_view::npos) << row.error;
  EXPECT_EQ(Meaning("Can't create link remap for /tmp/file. Use link-remap option."), "");
  EXPECT_EQ(Meaning(""), "");
}

}  // namespace
}  // namespace lamina::checkpoint::criu
