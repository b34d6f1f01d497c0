// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the first failure decides the status and is said once; the rest follows from it.
// Method: feed ends of ranks by hand; look at words, decision and status.
#include "launcher/supervise/verdict.h"

#include <gtest/gtest.h>

#include <csignal>

namespace lamina::launcher {
namespace {

class VerdictTest : public testing::Test {
 protected:
  VerdictTest() : plan_(MakePlan()), verdict_(plan_) {}

  static Plan MakePlan() {
    Plan plan;
    plan.hosts.resize(1);
    plan.hosts[0].name = "node07";
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
      RankPlan entry;
      entry.rank = rank;
      plan.ranks.push_back(entry);
    }
    plan.options.timeout_ms = 1500;
    plan.options.hang_ms = 60'000;
    return plan;
  }
  static RankEvent Exit(std::uint32_t rank, int code) {
    RankEvent event;
    event.rank = rank;
    event.code = code;
    return event;
  }
  static RankEvent Kill(std::uint32_t rank, int signal) {
    RankEvent event;
    event.kind = RankEvent::Kind::kKilled;
    event.rank = rank;
    event.signal = signal;
    return event;
  }
  static RankEvent NoStart(std::uint32_t rank, int code, const char* why) {
    RankEvent event;
    event.kind = RankEvent::Kind::kStartFailed;
    event.rank = rank;
    event.code = code;
    event.why = why;
    return event;
  }

  const LastSeen plain_;
  const LastSeen in_recv_{Phase::kInitialized, "MPI_Recv", true};
  const LastSeen computing_{Phase::kInitialized, "MPI_Recv", false};
  const LastSeen finalized_{Phase::kFinalized, "MPI_Finalize", false};
  Plan plan_;
  Verdict verdict_;
};

TEST_F(VerdictTest, AllIsWell) {
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const Reaction reaction = verdict_.Ended(Exit(rank, 0), finalized_, 7 - rank);
    EXPECT_EQ(reaction.message, "");
    EXPECT_FALSE(reaction.end_job);
  }
  EXPECT_EQ(verdict_.status(), 0);
}

TEST_F(VerdictTest, DeathBySignalNamesTheCall) {
  const Reaction reaction = verdict_.Ended(Kill(3, SIGSEGV), in_recv_, 7);
  EXPECT_EQ(reaction.message,
            "rank 3 on node07 was killed by signal 11 (SIGSEGV, segmentation fault) in MPI_Recv; "
            "the job was ended");
  EXPECT_TRUE(reaction.end_job);
  EXPECT_EQ(verdict_.status(), 139);
}

TEST_F(VerdictTest, DeathOutsideOfCallsNamesNone) {
  EXPECT_EQ(verdict_.Ended(Kill(3, SIGKILL), computing_, 0).message,
            "rank 3 on node07 was killed by signal 9 (SIGKILL, killed)");
}

TEST_F(VerdictTest, OnlyTheFirstFailureIsSaid) {
  verdict_.Ended(Exit(1, 3), plain_, 7);
  const Reaction reaction = verdict_.Ended(Kill(2, SIGTERM), plain_, 6);
  EXPECT_EQ(reaction.message, "");
  EXPECT_FALSE(reaction.end_job);
  EXPECT_EQ(verdict_.status(), 3);
}

TEST_F(VerdictTest, LeavingBetweenInitAndFinalize) {
  const Reaction reaction = verdict_.Ended(Exit(5, 0), computing_, 2);
  EXPECT_EQ(reaction.message,
            "rank 5 on node07 exited without calling MPI_Finalize; the job was ended");
  EXPECT_TRUE(reaction.end_job);
  EXPECT_EQ(verdict_.status(), 1);
}

TEST_F(VerdictTest, LeavingLastWithoutFinalizeHarmsNobody) {
  EXPECT_EQ(verdict_.Ended(Exit(5, 0), computing_, 0).message, "");
  EXPECT_EQ(verdict_.status(), 0);
}

TEST_F(VerdictTest, CodeAfterFinalizeDoesNotEndTheJob) {
  const Reaction reaction = verdict_.Ended(Exit(5, 6), finalized_, 3);
  EXPECT_EQ(reaction.message, "rank 5 on node07 exited with code 6 after MPI_Finalize");
  EXPECT_FALSE(reaction.end_job);
  EXPECT_EQ(verdict_.status(), 6);
}

TEST_F(VerdictTest, SignalOfTheUserIsNoNews) {
  verdict_.PassedOn(SIGINT);
  const Reaction reaction = verdict_.Ended(Kill(0, SIGINT), plain_, 7);
  EXPECT_EQ(reaction.message, "");
  EXPECT_TRUE(reaction.end_job);
  EXPECT_EQ(verdict_.status(), 130);
}

TEST_F(VerdictTest, SigpipeIsNoNewsWhenTheReaderHasGone) {
  verdict_.OutputGone();
  EXPECT_EQ(verdict_.Ended(Kill(0, SIGPIPE), plain_, 7).message, "");
  EXPECT_EQ(verdict_.status(), 141);
}

TEST_F(VerdictTest, Abort) {
  const Reaction reaction = verdict_.Aborted(2, 7, "no memory", {Phase::kInitialized, "", false});
  EXPECT_EQ(reaction.message,
            "rank 2 on node07 called MPI_Abort with code 7: no memory; the job was ended");
  EXPECT_TRUE(reaction.end_job);
  EXPECT_EQ(verdict_.Ended(Exit(2, 7), in_recv_, 7).message, "");
  EXPECT_EQ(verdict_.status(), 7);
}

TEST_F(VerdictTest, AbortBeforeTheHostHasToldOfTheRank) {
  EXPECT_EQ(
      verdict_.Aborted(2, 7, "MPI_Abort was called", {}).message,
      "rank 2 on node07 called MPI_Abort with code 7: MPI_Abort was called; the job was ended");
}

TEST_F(VerdictTest, FatalErrorIsNoCallOfAbort) {
  const Reaction reaction = verdict_.Aborted(2, 4, "MPI_Send", in_recv_);
  EXPECT_EQ(reaction.message,
            "rank 2 on node07 died of an MPI error in MPI_Send; the job was ended");
  EXPECT_TRUE(reaction.end_job);
  EXPECT_EQ(verdict_.status(), 4);
}

TEST_F(VerdictTest, AbortCodeThatAStatusCannotHoldIsNotSuccess) {
  verdict_.Aborted(2, 256, "", plain_);
  EXPECT_EQ(verdict_.status(), 1);
}

TEST_F(VerdictTest, TimeoutSaysWhoIsWhere) {
  const Reaction reaction = verdict_.TimedOut(
      {{0, in_recv_}, {1, in_recv_}, {2, in_recv_}, {4, in_recv_}, {7, plain_}}, 0);
  EXPECT_EQ(reaction.message,
            "timeout after 1.5 s, still running: rank 7 outside MPI; ranks 0-2 and 4 in MPI_Recv; "
            "the job was ended");
  EXPECT_EQ(verdict_.status(), 124);
}

TEST_F(VerdictTest, HangEndsTheJobLikeATimeout) {
  const Reaction reaction = verdict_.Hung();
  EXPECT_EQ(reaction.message, "no rank has gone on for 60 s (--hang-after); the job was ended");
  EXPECT_TRUE(reaction.end_job);
  EXPECT_EQ(verdict_.status(), 124);
  EXPECT_EQ(verdict_.Hung().message, "");
}

TEST_F(VerdictTest, TimeoutTellsOfSpawnedJobs) {
  EXPECT_EQ(verdict_.TimedOut({}, 2).message,
            "timeout after 1.5 s, still running: 2 ranks of jobs that it has spawned; the job was "
            "ended");
}

TEST_F(VerdictTest, TimeoutTellsOfASpawnedJobThatStarts) {
  EXPECT_EQ(verdict_.TimedOut({}, 0, true).message,
            "timeout after 1.5 s, still running: a job that it has spawned, which is starting; the "
            "job was ended");
}

// The launcher of the spawned job may be quicker than the end of the rank.
TEST_F(VerdictTest, LastRankThatLeavesWhatItHasSpawned) {
  for (const bool told_first : {false, true}) {
    Verdict verdict(plan_);
    Reaction reaction;
    if (told_first) {
      EXPECT_EQ(verdict.Abandoned().message, "");
    }
    reaction = verdict.Ended(Exit(2, 0), computing_, 0);
    EXPECT_EQ(reaction.message.empty(), !told_first);
    if (!told_first) reaction = verdict.Abandoned();
    EXPECT_EQ(
        reaction.message,
        "rank 2 on node07 exited without calling MPI_Finalize; what it has spawned was ended");
    EXPECT_EQ(verdict.status(), 1);
  }
}

TEST_F(VerdictTest, RankThatLeavesWithNothingSpawned) {
  EXPECT_EQ(verdict_.Ended(Exit(2, 0), computing_, 0).message, "");
  EXPECT_EQ(verdict_.status(), 0);
}

TEST_F(VerdictTest, ProgramThatCannotRun) {
  const Reaction reaction = verdict_.Ended(NoStart(0, 127, "cannot run x on y: z"), plain_, 7);
  EXPECT_EQ(reaction.message, "cannot run x on y: z");
  EXPECT_TRUE(reaction.end_job);
  EXPECT_EQ(verdict_.Ended(NoStart(1, 126, ""), plain_, 6).message, "");
  EXPECT_EQ(verdict_.status(), 127);
}

TEST_F(VerdictTest, LostNodeIsSaidOnce) {
  RankEvent event;
  event.kind = RankEvent::Kind::kLost;
  event.rank = 3;
  event.why = "node07 is lost: no sign of life for 10 s";
  const Reaction reaction = verdict_.Ended(event, in_recv_, 7);
  EXPECT_EQ(reaction.message, "node07 is lost: no sign of life for 10 s; the job was ended");
  EXPECT_TRUE(reaction.end_job);
  event.rank = 4;
  event.why = "";
  EXPECT_EQ(verdict_.Ended(event, in_recv_, 6).message, "");
  EXPECT_EQ(verdict_.status(), 1);
  EXPECT_TRUE(verdict_.loss().any);
  EXPECT_EQ(verdict_.loss().hosts, std::vector<std::string>({"node07"}));
}

TEST_F(VerdictTest, HostThatIsLostBehindItsRanks) {
  Verdict well(plan_);
  well.HostLost(3);
  EXPECT_FALSE(well.loss().any);
  verdict_.Aborted(1, 15, "MPI_Recv", in_recv_);
  verdict_.Ended(Kill(3, SIGKILL), in_recv_, 6);
  EXPECT_TRUE(verdict_.loss().hosts.empty());
  verdict_.HostLost(3);
  EXPECT_EQ(verdict_.loss().hosts, std::vector<std::string>({"node07"}));
}

TEST_F(VerdictTest, WhatIsNoLoss) {
  EXPECT_FALSE(verdict_.loss().any);
  Verdict killed(plan_), told(plan_), exited(plan_), aborted(plan_), failed(plan_);
  killed.Ended(Kill(1, SIGKILL), plain_, 7);
  EXPECT_TRUE(killed.loss().any);
  killed.PassedOn(SIGTERM);  // the user wants the job no more
  EXPECT_FALSE(killed.loss().any);
  told.PassedOn(SIGTERM);
  told.Ended(Kill(1, SIGTERM), plain_, 7);
  EXPECT_FALSE(told.loss().any);
  exited.Ended(Exit(1, 3), plain_, 7);
  EXPECT_FALSE(exited.loss().any);
  aborted.Aborted(1, 3, "enough", in_recv_);
  EXPECT_FALSE(aborted.loss().any);
  failed.Aborted(1, 15, "MPI_Recv", in_recv_);
  EXPECT_TRUE(failed.loss().any);
}

TEST(SignalTextTest, UnknownNumber) { EXPECT_EQ(SignalText(63), "signal 63"); }

TEST_F(VerdictTest, ALateCodeOfALinkedJobIsTheStatusIfThereIsNoOther) {
  verdict_.LinkedLate(3);
  EXPECT_FALSE(verdict_.decided());
  EXPECT_EQ(verdict_.status(), 3);
  verdict_.LinkedLate(4);
  EXPECT_EQ(verdict_.status(), 3);
  verdict_.Ended(Exit(1, 7), computing_, 6);
  EXPECT_EQ(verdict_.status(), 7);
}

TEST_F(VerdictTest, ASpawnedRankIsCalledSo) {
  Verdict spawned(plan_, true);
  EXPECT_EQ(spawned.Ended(Exit(2, 3), finalized_, 1).message,
            "rank 2 on node07 (spawned) exited with code 3 after MPI_Finalize");
  EXPECT_EQ(spawned.status(), 3);
}

}  // namespace
}  // namespace lamina::launcher
