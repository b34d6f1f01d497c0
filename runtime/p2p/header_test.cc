// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the header's fields come back as they went in, and its bytes stay what README.md says,
//         because processes of different builds exchange it.
// Method: round trips of extreme values, and golden bytes.
#include "runtime/p2p/header.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/p2p/token.h"

namespace lamina::p2p {
namespace {

TEST(Header, KeepsMatchFieldsAtTheirExtremes) {
  const auto header = PackMatch(FrameKind::kEager, ContextId{kLowMask}, 0x7fffffff, 0x7fffffff);
  EXPECT_EQ(KindOf(header), FrameKind::kEager);
  EXPECT_EQ(ContextOf(header), ContextId{kLowMask});
  EXPECT_EQ(SourceOf(header), 0x7fffffff);
  EXPECT_EQ(TagOf(header), 0x7fffffff);
}

TEST(Header, KeepsTokenAndOffset) {
  const auto header = PackToken(FrameKind::kData, ~std::uint64_t{0}, kLowMask);
  EXPECT_EQ(KindOf(header), FrameKind::kData);
  EXPECT_EQ(TokenOf(header), ~std::uint64_t{0});
  EXPECT_EQ(OffsetOf(header), kLowMask);
}

TEST(Header, HasTheBytesOfTheReadme) {
  const auto header = PackMatch(FrameKind::kReadyToSend, ContextId{0x0102}, 3, 4);
  const unsigned char golden[16] = {0x02, 0x01, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 3, 0, 0, 0};
  EXPECT_EQ(std::memcmp(&header, golden, sizeof golden), 0);
  EXPECT_EQ(sizeof(Offer), 24u);
  EXPECT_EQ(sizeof(Grant), 16u);
}

TEST(TokenTable, FindsOnlyLiveTokens) {
  TokenTable table;
  core::Request a, b;
  const std::uint64_t first = table.Add(&a);
  const std::uint64_t second = table.Add(&b);
  EXPECT_EQ(table.Find(first), &a);
  EXPECT_EQ(table.Find(second), &b);
  table.Remove(first);
  EXPECT_EQ(table.Find(first), nullptr);
  const std::uint64_t third = table.Add(&b);  // the same slot, another generation
  EXPECT_NE(third, first);
  EXPECT_EQ(table.Find(first), nullptr);
  EXPECT_EQ(table.Find(0), nullptr);
  EXPECT_EQ(table.Find(~std::uint64_t{0}), nullptr);
  EXPECT_EQ(table.size(), 2u);
}

}  // namespace
}  // namespace lamina::p2p
