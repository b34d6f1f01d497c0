// SPDX-License-Identifier: BSD-3-Clause
// Goal:   two processes agree on the table, a full one still counts, and what is copied is what was
//         counted.
// Method: a table in memory, and one behind a ring in an anonymous file.
#include "runtime/base/profile_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "runtime/base/clock.h"

namespace lamina {
namespace {

const void* Place(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

std::uint64_t WordAt(const std::string& copy, std::size_t index) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i)
    word |= std::uint64_t{static_cast<unsigned char>(copy.at(index * 8 + i))} << (8 * i);
  return word;
}

TEST(ProfileTable, LayoutIsPinned) {
  EXPECT_EQ(offsetof(ProfileTable, magic), 0u);
  EXPECT_EQ(offsetof(ProfileTable, open_call), 24u);
  EXPECT_EQ(offsetof(ProfileTable, rows), 64u);
  EXPECT_EQ(offsetof(ProfileRow, inside_ns), 16u);
  EXPECT_EQ(offsetof(ProfileRow, received_bytes), 48u);
  EXPECT_EQ(sizeof(ProfileTable), 64u + 2048u * 64u);
}

TEST(ProfileTable, AFunctionCalledFromTwoPlacesHasTwoRows) {
  const auto table = std::make_unique<ProfileTable>();
  ProfileRow* const one = FindProfileRow(table.get(), Call::MPI_Send, Place(0x1000));
  EXPECT_EQ(FindProfileRow(table.get(), Call::MPI_Send, Place(0x1000)), one);
  EXPECT_NE(FindProfileRow(table.get(), Call::MPI_Send, Place(0x1001)), one);
  EXPECT_NE(FindProfileRow(table.get(), Call::MPI_Recv, Place(0x1000)), one);
  EXPECT_EQ(CallOfProfileKey(one->key), Call::MPI_Send);
}

TEST(ProfileTable, CallsFromTooManyPlacesShareARowForEachFunction) {
  const auto table = std::make_unique<ProfileTable>();
  std::set<ProfileRow*> rows;
  for (std::uintptr_t place = 1; place <= ProfileTable::kRowsWithPlace; ++place)
    rows.insert(FindProfileRow(table.get(), Call::MPI_Send, Place(place * 64)));
  EXPECT_EQ(rows.size(), ProfileTable::kRowsWithPlace);
  ProfileRow* const shared = FindProfileRow(table.get(), Call::MPI_Send, Place(0x7fff0000));
  EXPECT_EQ(shared, FindProfileRow(table.get(), Call::MPI_Send, Place(0x7fff0040)));
  EXPECT_EQ(shared, FindProfileRow(table.get(), Call::MPI_Send, nullptr));
  EXPECT_FALSE(rows.contains(shared));
  for (std::uint32_t call = 1; call < static_cast<std::uint32_t>(Call::kCount); ++call)
    FindProfileRow(table.get(), static_cast<Call>(call), Place(0x7fff0000));
}

TEST(ProfileTable, WhatIsCopiedWasCountedAndAnOpenCallLastsUntilNow) {
  const int fd = memfd_create("profile_table_test", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(kProfiledRingBytes)), 0);
  EXPECT_EQ(CopyProfile(fd), "");
  AdoptEventRing(dup(fd));
  ProfileTable* const table = AdoptedProfile();
  ASSERT_NE(table, nullptr);
  table->magic = ProfileTable::kMagic;
  table->began_ns = MonotonicNs();
  ProfileRow* const row = FindProfileRow(table, Call::MPI_Recv, nullptr);
  row->calls = 3;
  row->received_bytes = 24;
  table->open_call = static_cast<std::uint64_t>(Call::MPI_Send);
  table->open_since_ns = table->began_ns.load();
  const std::string copy = CopyProfile(fd);
  ASSERT_EQ(copy.size(), 8u * (3 + 7));
  EXPECT_GT(WordAt(copy, 0), 0u);
  EXPECT_EQ(WordAt(copy, 1), static_cast<std::uint64_t>(Call::MPI_Send));
  EXPECT_EQ(WordAt(copy, 2), WordAt(copy, 0));
  EXPECT_EQ(CallOfProfileKey(WordAt(copy, 3)), Call::MPI_Recv);
  EXPECT_EQ(WordAt(copy, 4), 3u);
  EXPECT_EQ(WordAt(copy, 9), 24u);
  table->finalized = 1;
  table->last_ns = table->began_ns + 5;
  EXPECT_EQ(WordAt(CopyProfile(fd), 0), 5u);
  EXPECT_EQ(WordAt(CopyProfile(fd), 1), 0u);
  close(fd);
}

}  // namespace
}  // namespace lamina
