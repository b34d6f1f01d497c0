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
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"

namespace lamina {
namespace {

const void* Place(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

TEST(ProfileTable, LayoutIsPinned) {
  EXPECT_EQ(offsetof(ProfileTable, magic), 0u);
  EXPECT_EQ(offsetof(ProfileTable, open_call), 24u);
  EXPECT_EQ(offsetof(ProfileTable, rows), 64u);
  EXPECT_EQ(offsetof(ProfileRow, inside_ns), 16u);
  EXPECT_EQ(offsetof(ProfileRow, received_bytes), 48u);
  EXPECT_EQ(offsetof(ProfileTable, modules), 64u + 2048u * 80u);
  EXPECT_EQ(offsetof(ProfileTable, traffic), 64u + 2048u * 80u + 64u * 256u);
  EXPECT_EQ(offsetof(ProfileTable, sizes), offsetof(ProfileTable, traffic) + 4096u * 64u);
  EXPECT_EQ(offsetof(ProfileTable, collectives_placed), offsetof(ProfileTable, sizes) + 65u * 32u);
  EXPECT_EQ(offsetof(ProfileTable, regions),
            offsetof(ProfileTable, collectives_placed) + 8 + 512u * 256u);
  EXPECT_EQ(sizeof(ProfileTable), offsetof(ProfileTable, regions) + 256u * 128u + 24u + 128u);
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

TEST(ProfileTable, CollectivesOfTooManyCommunicatorsShareARowForEachFunction) {
  const auto table = std::make_unique<ProfileTable>();
  const auto find = [&](Call call, std::uint64_t context) {
    return FindProfileCollective(table.get(), call, context, 4, std::string(100, 'n'));
  };
  std::set<ProfileCollective*> rows;
  for (std::uint64_t context = 0; context < ProfileTable::kCollectivesWithContext; ++context)
    rows.insert(find(Call::MPI_Bcast, 4 * context));
  EXPECT_EQ(rows.size(), ProfileTable::kCollectivesWithContext);
  EXPECT_EQ(std::string((*rows.begin())->name), std::string(63, 'n'));
  EXPECT_EQ((*rows.begin())->members, 4u);
  ProfileCollective* const shared = find(Call::MPI_Bcast, 1 << 20);
  EXPECT_FALSE(rows.contains(shared));
  EXPECT_EQ(shared, find(Call::MPI_Bcast, 1 << 21));
  EXPECT_NE(shared, find(Call::MPI_Gather, 1 << 21));
  EXPECT_EQ(shared->context, ProfileTable::kOtherContexts);
}

TEST(ProfileTable, TooManyRegionsShareARow) {
  const auto table = std::make_unique<ProfileTable>();
  std::set<ProfileRegion*> rows;
  for (std::uint32_t i = 0; i < 3 * ProfileTable::kRegions; ++i)
    rows.insert(FindProfileRegion(table.get(), "region " + std::to_string(i)));
  EXPECT_GT(rows.size(), ProfileTable::kRegions / 2);
  EXPECT_LE(rows.size(), ProfileTable::kRegions);
  ProfileRegion* const first = FindProfileRegion(table.get(), "region 0");
  EXPECT_STREQ(first->name, "region 0");
  ProfileRegion* const shared = FindProfileRegion(table.get(), "one more");
  EXPECT_EQ(shared, FindProfileRegion(table.get(), "and another"));
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
  // A place in this program, whose file is noted.
  const auto here = reinterpret_cast<const void*>(&Place);
  ProfileRow* const row = FindProfileRow(table, Call::MPI_Recv, here);
  row->calls = 3;
  row->received_bytes = 24;
  table->traffic[3] = {4, 1, 100, 2, 0, "shm"};
  table->sizes[7].eager = 1;
  FindProfileCollective(table, Call::MPI_Bcast, 8, 2, "world")->calls = 5;
  ProfileRegion* const region = FindProfileRegion(table, "solve");
  region->open = 1;
  region->open_since_ns = table->began_ns;
  table->peak_kib = 17;
  table->open_call = static_cast<std::uint64_t>(Call::MPI_Send);
  table->open_place = 7;
  table->open_since_ns = table->began_ns;
  const std::string bytes = CopyProfile(fd);
  const std::optional<ProfileCopy> copy = DecodeProfile(bytes);
  ASSERT_TRUE(copy.has_value());
  EXPECT_GT(copy->head.wall_ns, 0u);
  EXPECT_EQ(copy->head.open_call, static_cast<std::uint64_t>(Call::MPI_Send));
  EXPECT_EQ(copy->head.open_place, 7u);
  EXPECT_EQ(copy->head.open_ns, copy->head.wall_ns);
  ASSERT_EQ(copy->rows.size(), 1u);
  EXPECT_EQ(copy->rows[0].key, ProfileKey(Call::MPI_Recv, here));
  EXPECT_EQ(copy->rows[0].calls, 3u);
  EXPECT_EQ(copy->rows[0].received_bytes, 24u);
  ASSERT_EQ(copy->traffic.size(), 1u);
  EXPECT_EQ(copy->traffic[0].peer, 4u);
  EXPECT_EQ(copy->traffic[0].bytes, 100u);
  EXPECT_STREQ(copy->traffic[0].carrier, "shm");
  ASSERT_EQ(copy->sizes.size(), ProfileTable::kSizes);
  EXPECT_EQ(copy->sizes[7].eager, 1u);
  ASSERT_EQ(copy->collectives.size(), 1u);
  EXPECT_EQ(copy->collectives[0].calls, 5u);
  EXPECT_STREQ(copy->collectives[0].name, "world");
  ASSERT_EQ(copy->regions.size(), 1u);
  EXPECT_EQ(copy->regions[0].inside_ns, copy->head.wall_ns);
  EXPECT_EQ(copy->head.peak_kib, 17u);
  ASSERT_EQ(copy->modules.size(), 1u);
  EXPECT_LE(copy->modules[0].begin, PlaceOfProfileKey(copy->rows[0].key));
  EXPECT_GT(copy->modules[0].end, PlaceOfProfileKey(copy->rows[0].key));
  EXPECT_TRUE(std::string_view(copy->modules[0].path).ends_with("profile_table_test"));
  EXPECT_GT(copy->modules[0].file_bytes, 0u);
  EXPECT_EQ(Encode(*copy), bytes);
  for (std::size_t at = 0; at < bytes.size(); ++at)
    EXPECT_FALSE(DecodeProfile(bytes.substr(0, at)).has_value()) << at;
  table->finalized = 1;
  table->last_ns = table->began_ns + 5;
  const std::optional<ProfileCopy> last = DecodeProfile(CopyProfile(fd));
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->head.wall_ns, 5u);
  table->paused_ns = 1;
  table->paused_since_ns = table->began_ns + 3;
  EXPECT_EQ(DecodeProfile(CopyProfile(fd))->head.wall_ns, 2u);
  EXPECT_EQ(last->head.open_call, 0u);
  close(fd);
}

}  // namespace
}  // namespace lamina
