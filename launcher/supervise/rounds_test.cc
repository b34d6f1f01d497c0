// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a round saves the job once it is at rest, and whatever else happens the job goes on.
// Method: agents are played: the whole way, markers that come late, every kind of failure in every
//         phase, and random reports, ends and times in any order.
#include "launcher/supervise/rounds.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace lamina::launcher {
namespace {

using Phase = Rounds::Phase;

AgentWord Word(AgentWord::Kind kind, const Rounds& rounds, std::uint64_t number = 0) {
  return {kind, rounds.epoch(), number};
}

class RoundsTest : public testing::Test {
 protected:
  RoundsTest() {
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      rounds_.Report(rank, {AgentWord::kHere, 0, 0}, "");
  }
  RoundStep Tell(std::uint32_t rank, AgentWord::Kind kind, std::uint64_t number = 0) {
    return rounds_.Report(rank, Word(kind, rounds_, number), "it has a window");
  }
  // Goes on until the ranks are ordered what leads to `phase`.
  void Reach(Phase phase) {
    EXPECT_EQ(rounds_.Begin().order, AgentWord::kStop);
    if (phase == Phase::kStopping) return;
    Tell(0, AgentWord::kStopped);
    EXPECT_EQ(Tell(1, AgentWord::kStopped).order, AgentWord::kLetGo);
    if (phase == Phase::kBaring) return;
    Tell(0, AgentWord::kBare);
    EXPECT_TRUE(Tell(1, AgentWord::kBare).save);
    if (phase == Phase::kSaving) return;
    EXPECT_EQ(rounds_.Saved({}).order, AgentWord::kGoOn);
  }
  void AllGo() {
    Tell(0, AgentWord::kGoing);
    EXPECT_TRUE(Tell(1, AgentWord::kGoing).over);
    EXPECT_EQ(rounds_.phase(), Phase::kIdle);
  }

  Rounds rounds_{2};
};

TEST_F(RoundsTest, TheWholeWayAndAgain) {
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
    Reach(Phase::kGoing);
    EXPECT_EQ(rounds_.epoch(), epoch);
    AllGo();
    EXPECT_TRUE(rounds_.outcome().ok());
  }
}

TEST_F(RoundsTest, RevivedRanksGoOnAndAreSavedAgain) {
  Rounds revived(3);
  const std::uint32_t ended[] = {1};
  EXPECT_EQ(revived.Revived(5, ended).order, AgentWord::kGoOn);
  EXPECT_EQ(revived.members(), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_FALSE(revived.Report(0, {AgentWord::kGoing, 5, 0}, "").over);
  EXPECT_TRUE(revived.Report(2, {AgentWord::kGoing, 5, 0}, "").over);
  EXPECT_EQ(revived.Begin().order, AgentWord::kStop);
  EXPECT_EQ(revived.epoch(), 6u);
  EXPECT_EQ(revived.ended(), std::vector<std::uint32_t>{1});
}

TEST_F(RoundsTest, NothingIsLetGoWhileAMarkerIsUnderWay) {
  rounds_.Begin();
  Tell(0, AgentWord::kStopped, 2);
  EXPECT_EQ(Tell(1, AgentWord::kReceived, 2).order, AgentWord::kGone);
  EXPECT_EQ(Tell(1, AgentWord::kStopped, 1).order, AgentWord::kGone);
  EXPECT_EQ(Tell(0, AgentWord::kReceived, 1).order, AgentWord::kLetGo);
}

TEST_F(RoundsTest, ARankThatHasNotComeIsWaitedFor) {
  rounds_.Report(1, {AgentWord::kGone, 0, 0}, "");
  EXPECT_EQ(rounds_.Begin().order, AgentWord::kGone);
  EXPECT_EQ(rounds_.phase(), Phase::kAwaiting);
  EXPECT_EQ(rounds_.Report(1, {AgentWord::kHere, 0, 0}, "").order, AgentWord::kStop);
}

TEST_F(RoundsTest, ARankThatNeverComesEndsTheRound) {
  rounds_.Report(1, {AgentWord::kGone, 0, 0}, "");
  rounds_.Begin();
  EXPECT_TRUE(rounds_.TimedOut().over);
  EXPECT_EQ(rounds_.outcome().message(), "rank 1 has not called MPI_Init");
}

TEST_F(RoundsTest, RanksThatHaveEndedAreLeftOut) {
  rounds_.Ended(0);
  rounds_.Begin();
  EXPECT_EQ(rounds_.ended(), std::vector<std::uint32_t>{0});
  EXPECT_EQ(rounds_.members(), std::vector<std::uint32_t>{1});
  EXPECT_EQ(Tell(1, AgentWord::kStopped).order, AgentWord::kLetGo);
  rounds_.Ended(1);
  EXPECT_EQ(rounds_.phase(), Phase::kIdle);
  EXPECT_TRUE(rounds_.Begin().over);
  EXPECT_EQ(rounds_.outcome().message(), "every rank has ended");
}

TEST_F(RoundsTest, TroubleLetsTheJobGoOn) {
  for (const Phase phase : {Phase::kStopping, Phase::kBaring}) {
    Reach(phase);
    const RoundStep step = Tell(0, AgentWord::kTrouble);
    EXPECT_EQ(step.order, AgentWord::kGoOn);
    // Ranks that had not stopped need not be waited for.
    EXPECT_EQ(step.over, phase == Phase::kStopping);
    if (!step.over) AllGo();
    EXPECT_EQ(rounds_.outcome().message(), "rank 0 cannot be saved: it has a window");
  }
  Reach(Phase::kSaving);
  EXPECT_EQ(rounds_.Saved(Error(Code::kResource, "the disk is full")).order, AgentWord::kGoOn);
  AllGo();
  EXPECT_EQ(rounds_.outcome().message(), "the disk is full");
}

TEST_F(RoundsTest, ARankThatCannotGoOnBreaksTheJob) {
  Reach(Phase::kGoing);
  EXPECT_TRUE(Tell(0, AgentWord::kTrouble).broken);
}

TEST_F(RoundsTest, ARankThatDoesNotStopIsNotWaitedForLater) {
  Reach(Phase::kStopping);
  Tell(0, AgentWord::kStopped);
  EXPECT_EQ(rounds_.TimedOut().order, AgentWord::kGoOn);
  EXPECT_EQ(rounds_.outcome().message(), "rank 1 has not come to rest");
  EXPECT_TRUE(Tell(0, AgentWord::kGoing).over);
  // It stops in the end, and what it says of that round is not taken for an answer in the next.
  const AgentWord late{AgentWord::kStopped, rounds_.epoch(), 5};
  EXPECT_EQ(rounds_.Begin().order, AgentWord::kStop);
  EXPECT_EQ(rounds_.Report(1, late, "").order, AgentWord::kGone);
  Tell(0, AgentWord::kStopped);
  EXPECT_EQ(Tell(1, AgentWord::kStopped).order, AgentWord::kLetGo);
}

TEST_F(RoundsTest, ARankThatEndsLetsTheOthersGoOn) {
  for (const Phase phase : {Phase::kStopping, Phase::kBaring, Phase::kSaving}) {
    Rounds fresh(2);
    std::swap(rounds_, fresh);
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      rounds_.Report(rank, {AgentWord::kHere, 0, 0}, "");
    Reach(phase);
    const RoundStep step = rounds_.Ended(1);
    EXPECT_EQ(step.order, AgentWord::kGoOn);
    EXPECT_EQ(rounds_.outcome().message(), "rank 1 has ended meanwhile");
    EXPECT_EQ(rounds_.Saved({}).order, AgentWord::kGone);  // too late
    EXPECT_EQ(Tell(0, AgentWord::kGoing).over, phase != Phase::kStopping);
  }
}

// A member is always ordered to go on before the round is over, and a round always ends.
TEST(RoundsModel, WhateverComesTheRoundEnds) {
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 dice(seed);
    const std::uint32_t count = 1 + dice() % 4;
    Rounds rounds(count);
    for (std::uint32_t rank = 0; rank < count; ++rank)
      if (dice() % 8 != 0) rounds.Report(rank, {AgentWord::kHere, 0, 0}, "");
    RoundStep step = rounds.Begin();
    bool stopped = false, goes_on = false, over = false, broken = false;
    for (int turn = 0; turn < 200 && !over && !broken; ++turn) {
      if (step.order == AgentWord::kStop) stopped = true;
      if (step.order == AgentWord::kLetGo) {
        EXPECT_TRUE(stopped && !goes_on);
      }
      if (step.save) {
        EXPECT_TRUE(stopped && !goes_on);
      }
      if (step.order == AgentWord::kGoOn) goes_on = true;
      over = step.over;
      broken = step.broken;
      if (over || broken) break;
      const std::uint32_t rank = dice() % count;
      constexpr AgentWord::Kind kWords[] = {
          AgentWord::kHere,  AgentWord::kStopped, AgentWord::kReceived, AgentWord::kBare,
          AgentWord::kGoing, AgentWord::kTrouble, AgentWord::kGone};
      const std::uint32_t what = dice() % 24;
      if (what == 0)
        step = rounds.Ended(rank);
      else if (what == 1)
        step = rounds.TimedOut();
      else if (what < 5)
        step = rounds.Saved(dice() % 3 != 0 ? Status() : Error(Code::kResource, "full"));
      else
        step = rounds.Report(rank, {kWords[dice() % 7], rounds.epoch(), 0}, "trouble");
    }
    EXPECT_TRUE(over || broken);
    if (over && stopped) {
      EXPECT_TRUE(goes_on);
    }
  }
}

}  // namespace
}  // namespace lamina::launcher
