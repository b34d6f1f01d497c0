// SPDX-License-Identifier: BSD-3-Clause
// Goal:   an info object keeps its entries in order; MPI_INFO_ENV tells what is known without
//         MPI_Init.
// Method: the test uses a small object, and the predefined one of this very process.
#include "runtime/core/info.h"

#include <gtest/gtest.h>

namespace lamina::core {
namespace {

TEST(Info, SetsReplacesAndDeletes) {
  Info info;
  info.Set("b", "1");
  info.Set("a", "2");
  info.Set("b", "3");
  ASSERT_EQ(info.entries.size(), 2u);
  EXPECT_EQ(info.entries[0], (std::pair<std::string, std::string>("b", "3")));
  EXPECT_EQ(*info.Find("a"), "2");
  EXPECT_EQ(info.Find("c"), nullptr);
  EXPECT_TRUE(info.Delete("b"));
  EXPECT_FALSE(info.Delete("b"));
  EXPECT_EQ(info.entries.size(), 1u);
}

TEST(Info, HandlesComeBack) {
  Info info;
  EXPECT_EQ(FindInfo(ToHandle<MPI_Info>(&info)), &info);
  EXPECT_EQ(FindInfo(MPI_INFO_NULL), nullptr);
}

TEST(Info, TheEnvironmentNamesThisProgram) {
  const Info* env = FindInfo(MPI_INFO_ENV);
  ASSERT_NE(env, nullptr);
  ASSERT_NE(env->Find("command"), nullptr);
  EXPECT_NE(env->Find("command")->find("info_test"), std::string::npos);
  EXPECT_NE(env->Find("wdir"), nullptr);
  EXPECT_EQ(FindInfo(MPI_INFO_ENV), env);
}

TEST(Info, ThreadLevelsHaveTheirNames) {
  for (const int level :
       {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE})
    EXPECT_EQ(ThreadLevelNamed(ThreadLevelName(level)), level);
  EXPECT_EQ(ThreadLevelNamed("MPI_THREAD_MANY"), -1);
}

TEST(Info, MemoryKindsAreThoseThatAreSupported) {
  EXPECT_EQ(SupportedMemoryKinds(""), "mpi,system");
  EXPECT_EQ(SupportedMemoryKinds("system, mpi:alloc_mem,cuda:device"), "mpi,system,mpi:alloc_mem");
  EXPECT_EQ(SupportedMemoryKinds("mpi:win_allocate:alloc_mem"),
            "mpi,system,mpi:win_allocate:alloc_mem");
  EXPECT_EQ(SupportedMemoryKinds("mpi:moonlight,system:fast,:,,"), "mpi,system");
}

}  // namespace
}  // namespace lamina::core
