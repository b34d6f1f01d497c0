// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the player sees what it is there to see.
// Method: schedules of two ranks with one fault each.
#include "collectives/conformance/player.h"

#include <gtest/gtest.h>

namespace lamina::collective {
namespace {

class PlayerTest : public testing::Test {
 protected:
  PlayerTest() : schedules_(2), memory_(2) {
    for (Memory& memory : memory_) {
      memory.input = {"a", "b"};
      memory.output.assign(2, kUnwritten);
    }
  }
  std::string Play() { return Player(schedules_, &memory_).Play(); }

  std::vector<Schedule> schedules_;
  std::vector<Memory> memory_;
};

TEST_F(PlayerTest, MovesAMessage) {
  schedules_[0].Send(1, Input(0, 2));
  schedules_[1].Receive(0, Output(0, 2));
  for (Schedule& schedule : schedules_) schedule.EndRound();
  EXPECT_EQ(Play(), "");
  EXPECT_EQ(memory_[1].output, (Cells{"a", "b"}));
}

TEST_F(PlayerTest, SeesDeadlock) {
  // Both send before they receive, which is fine with a buffer and a deadlock without.
  for (Rank rank : {0, 1}) {
    Schedule& schedule = schedules_[static_cast<std::size_t>(rank)];
    schedule.Send(1 - rank, Input(0, 1));
    schedule.EndRound();
    schedule.Receive(1 - rank, Output(0, 1));
    schedule.EndRound();
  }
  EXPECT_NE(Play().find("waits for ever"), std::string::npos);
}

// Rank 1 answers what it has before rank 0 waits for that, which rank 0 has posted by then.
TEST_F(PlayerTest, PostsReceivesAhead) {
  for (const std::uint32_t ahead : {0u, 1u}) {
    for (Schedule& schedule : schedules_) {
      schedule.Clear();
      schedule.receives_ahead = ahead;
    }
    schedules_[0].Send(1, Input(0, 1));
    schedules_[0].EndRound();
    schedules_[0].Send(1, Input(1, 1));
    schedules_[0].EndRound();
    schedules_[0].Receive(1, Output(0, 0));
    schedules_[0].EndRound();
    schedules_[1].Receive(0, Output(0, 1));
    schedules_[1].Send(0, Input(0, 0));
    schedules_[1].EndRound();
    schedules_[1].Receive(0, Output(1, 1));
    schedules_[1].EndRound();
    memory_[1].output.assign(2, kUnwritten);
    EXPECT_EQ(Play().find("waits for ever") != std::string::npos, ahead == 0);
  }
  EXPECT_EQ(memory_[1].output, (Cells{"a", "b"}));
}

TEST_F(PlayerTest, SeesStepsInTheWayOfAReceiveAhead) {
  for (Schedule& schedule : schedules_) schedule.receives_ahead = 1;
  schedules_[0].Send(1, Input(0, 1));
  schedules_[1].Copy(Input(1, 1), Output(0, 1));
  schedules_[1].EndRound();
  schedules_[1].Receive(0, Output(0, 1));
  for (Schedule& schedule : schedules_) schedule.EndRound();
  EXPECT_NE(Play().find("one before does anything"), std::string::npos);
}

TEST_F(PlayerTest, SeesUnequalLengths) {
  schedules_[0].Send(1, Input(0, 2));
  schedules_[1].Receive(0, Output(0, 1));
  for (Schedule& schedule : schedules_) schedule.EndRound();
  EXPECT_NE(Play().find("expects 1 elements"), std::string::npos);
}

TEST_F(PlayerTest, SeesAMessageNobodyWants) {
  schedules_[0].Send(1, Input(0, 1));
  schedules_[0].EndRound();
  EXPECT_NE(Play(), "");
}

TEST_F(PlayerTest, SeesSharedMemoryWithinARound) {
  for (Rank rank : {0, 1}) {
    Schedule& schedule = schedules_[static_cast<std::size_t>(rank)];
    schedule.Copy(Input(0, 1), Output(0, 1));
    schedule.EndRound();
    schedule.Receive(1 - rank, Output(0, 1));
    schedule.Send(1 - rank, Output(0, 1));
    schedule.EndRound();
  }
  EXPECT_NE(Play().find("same round"), std::string::npos);
}

TEST_F(PlayerTest, SeesReadingWhatNobodyWrote) {
  schedules_[0].Copy(Output(0, 1), Output(1, 1));
  schedules_[0].EndRound();
  EXPECT_NE(Play().find("nobody wrote"), std::string::npos);
}

TEST_F(PlayerTest, SeesStepsOutsideTheBuffer) {
  schedules_[0].Copy(Input(0, 1), Scratch(0, 1));
  schedules_[0].EndRound();
  EXPECT_NE(Play().find("touches elements"), std::string::npos);
}

TEST_F(PlayerTest, ReducesFromTheLeft) {
  schedules_[0].Copy(Input(1, 1), Output(0, 1));
  schedules_[0].Reduce(Input(0, 1), Output(0, 1));
  schedules_[0].EndRound();
  EXPECT_EQ(Play(), "");
  EXPECT_EQ(memory_[0].output[0], "ab");
}

TEST_F(PlayerTest, StrandsMatchApart) {
  // Rank 1 takes the second strand's message first; in one strand that would be the wrong one.
  schedules_[0].Send(1, Input(0, 1));
  schedules_[0].EndRound();
  schedules_[0].EndStrand();
  schedules_[0].Send(1, Input(1, 1));
  schedules_[0].EndRound();
  schedules_[0].EndStrand();
  for (const std::int64_t cell : {0, 1}) {
    schedules_[1].Receive(0, Output(cell, 1));
    schedules_[1].EndRound();
    schedules_[1].EndStrand();
  }
  EXPECT_EQ(Play(), "");
  EXPECT_EQ(memory_[1].output[1], memory_[0].input[1]);
}

TEST_F(PlayerTest, SeesStrandsInEachOthersWay) {
  for (Schedule& schedule : schedules_)
    for (int strand = 0; strand < 2; ++strand) {
      schedule.Copy(Input(0, 1), Output(0, 1));
      schedule.EndRound();
      schedule.EndStrand();
    }
  EXPECT_NE(Play().find("touches what strand"), std::string::npos);
}

class BoardTest : public PlayerTest {
 protected:
  std::string Play() {
    for (Schedule& schedule : schedules_) schedule.EndRound();
    return Player(schedules_, &memory_, nullptr, &one_node_).Play();
  }
  const Partition one_node_ = Partition::Blocks(2, 2);
};

TEST_F(BoardTest, TellsAndFolds) {
  memory_[1].input = {"c", "d"};
  for (Schedule& schedule : schedules_) schedule.Fold(1, Input(0, 2), Output(0, 2));
  for (Schedule& schedule : schedules_) schedule.Tell(1, Output(0, 2));
  EXPECT_EQ(Play(), "");
  EXPECT_EQ(memory_[0].output, (Cells{"ac", "bd"}));
  EXPECT_EQ(memory_[1].output, (Cells{"ac", "bd"}));
}

TEST_F(BoardTest, SeesOneThatDoesNotCome) {
  schedules_[0].Tell(0, Output(0, 0));
  EXPECT_NE(Play().find("waits for ever"), std::string::npos);
}

TEST_F(BoardTest, SeesStepsThatDiffer) {
  schedules_[0].Tell(0, Output(0, 0));
  schedules_[1].Fold(0, Input(0, 0), Output(0, 0));
  EXPECT_NE(Play().find("another step at the board"), std::string::npos);
}

TEST_F(BoardTest, SeesUnequalLengths) {
  for (Rank rank : {0, 1})
    schedules_[static_cast<std::size_t>(rank)].Fold(0, Input(0, 1 + rank), Output(0, 1));
  EXPECT_NE(Play().find("another step at the board"), std::string::npos);
}

TEST_F(BoardTest, SeesThatThereIsNone) {
  for (Schedule& schedule : schedules_) {
    schedule.Tell(0, Output(0, 0));
    schedule.EndRound();
  }
  EXPECT_NE(Player(schedules_, &memory_).Play().find("has no board"), std::string::npos);
}

}  // namespace
}  // namespace lamina::collective
