// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a group knows its members, this process's rank in it, and its handle.
// Method: small groups, made and released.
#include "runtime/core/group.h"

#include <gtest/gtest.h>

namespace lamina::core {
namespace {

TEST(Group, FindsThisProcess) {
  Group* group = MakeGroup({PeerId{4}, PeerId{7}, PeerId{2}}, PeerId{7});
  EXPECT_EQ(group->size(), 3);
  EXPECT_EQ(group->self, 1);
  Release(group);
  group = MakeGroup({PeerId{4}}, PeerId{7});
  EXPECT_EQ(group->self, MPI_UNDEFINED);
  Release(group);
}

TEST(Group, HandlesComeBack) {
  Group* group = MakeGroup({PeerId{1}}, PeerId{0});
  const MPI_Group handle = HandleOf(group);
  EXPECT_EQ(FindGroup(handle), group);
  Release(group);
  EXPECT_EQ(FindGroup(MPI_GROUP_NULL), nullptr);
  EXPECT_EQ(FindGroup(reinterpret_cast<MPI_Group>(MPI_COMM_WORLD)), nullptr);
}

TEST(Group, TheEmptyOneIsPredefinedAndNeverDies) {
  Group* empty = FindGroup(MPI_GROUP_EMPTY);
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(empty->size(), 0);
  EXPECT_EQ(HandleOf(empty), MPI_GROUP_EMPTY);
  for (int i = 0; i < 3; ++i) Release(empty);
  EXPECT_EQ(FindGroup(MPI_GROUP_EMPTY), empty);
  EXPECT_EQ(empty->kind, Kind::kGroup);
}

}  // namespace
}  // namespace lamina::core
