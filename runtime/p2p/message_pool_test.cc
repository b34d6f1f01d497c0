// SPDX-License-Identifier: BSD-3-Clause
// Goal:   freed messages are used again, large ones and too many of them are not kept.
// Method: takes and gives messages and looks at addresses and counts.
#include "runtime/p2p/message_pool.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/p2p/tuning.h"

namespace lamina::p2p {
namespace {

TEST(MessagePool, TheLastOneGivenBackIsTheNextOne) {
  MessagePool pool;
  Message* first = pool.Take(8);
  Message* second = pool.Take(8);
  EXPECT_NE(first, second);
  EXPECT_GE(first->room, kMessageRoomBytesMin);
  pool.Give(first);
  pool.Give(second);
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(pool.Take(8), second);
  EXPECT_EQ(pool.Take(8), first);
  pool.Give(first);
  pool.Give(second);
}

TEST(MessagePool, AHandleOfAFreedMessageIsNone) {
  MessagePool pool;
  Message* message = pool.Take(8);
  EXPECT_EQ(message->kind, core::Kind::kMessage);
  pool.Give(message);
  EXPECT_EQ(message->kind, core::Kind::kFreed);
}

TEST(MessagePool, AMessageWithTooLittleRoomIsReplaced) {
  MessagePool pool;
  pool.Give(pool.Take(8));
  Message* large = pool.Take(1000);
  EXPECT_GE(large->room, 1000u);
  EXPECT_EQ(pool.size(), 0u);
  pool.Give(large);
}

TEST(MessagePool, NeitherLargeOnesNorTooManyAreKept) {
  MessagePool pool;
  pool.Give(pool.Take(kPooledRoomBytesMax + 1));
  EXPECT_EQ(pool.size(), 0u);
  std::vector<Message*> taken;
  for (std::uint32_t i = 0; i < kPooledMessagesMax + 10; ++i) taken.push_back(pool.Take(8));
  for (Message* message : taken) pool.Give(message);
  EXPECT_EQ(pool.size(), kPooledMessagesMax);
}

}  // namespace
}  // namespace lamina::p2p
