// SPDX-License-Identifier: BSD-3-Clause
// Goal:   names are taken once, found by all, and taken down by their owner alone.
// Method: the board by itself.
#include "launcher/pmix/notice_board.h"

#include <gtest/gtest.h>

namespace lamina::launcher::pmix {
namespace {

TEST(NoticeBoardTest, NameIsTakenOnce) {
  NoticeBoard board;
  EXPECT_TRUE(board.Publish("ocean", {3, {'a'}, false}));
  EXPECT_FALSE(board.Publish("ocean", {4, {'b'}, false}));
  const auto notice = board.Lookup("ocean");
  ASSERT_TRUE(notice.has_value());
  EXPECT_EQ(notice->owner, 3u);
  EXPECT_EQ(notice->packed, std::vector<char>{'a'});
}

TEST(NoticeBoardTest, UnknownName) {
  NoticeBoard board;
  EXPECT_FALSE(board.Lookup("ocean").has_value());
  EXPECT_FALSE(board.Unpublish("ocean", 0));
}

TEST(NoticeBoardTest, OnlyTheOwnerTakesItDown) {
  NoticeBoard board;
  board.Publish("ocean", {3, {}, false});
  EXPECT_FALSE(board.Unpublish("ocean", 4));
  EXPECT_TRUE(board.Unpublish("ocean", 3));
  EXPECT_FALSE(board.Lookup("ocean").has_value());
  EXPECT_TRUE(board.Publish("ocean", {4, {}, false}));
}

TEST(NoticeBoardTest, AllOfOneOwner) {
  NoticeBoard board;
  board.Publish("a", {1, {}, false});
  board.Publish("b", {2, {}, false});
  board.Publish("c", {1, {}, false});
  board.UnpublishAllOf(1);
  EXPECT_FALSE(board.Lookup("a").has_value());
  EXPECT_TRUE(board.Lookup("b").has_value());
  EXPECT_FALSE(board.Lookup("c").has_value());
}

TEST(NoticeBoardTest, ReadOnce) {
  NoticeBoard board;
  board.Publish("a", {1, {}, true});
  EXPECT_TRUE(board.Lookup("a").has_value());
  EXPECT_FALSE(board.Lookup("a").has_value());
}

}  // namespace
}  // namespace lamina::launcher::pmix
