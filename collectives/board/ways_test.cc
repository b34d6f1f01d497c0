// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a call has only the ways that can serve it and are worth trying, and calls of about one
//         length share a trial.
// Method: situations that differ in one thing, and the ways that they have.
#include "collectives/board/ways.h"

#include <gtest/gtest.h>

#include <string>

namespace lamina::collective::board {
namespace {

constexpr Operation kAll[] = {Operation::kBarrier,  Operation::kBcast,     Operation::kGather,
                              Operation::kScatter,  Operation::kAllgather, Operation::kAllgatherv,
                              Operation::kAlltoall, Operation::kReduce,    Operation::kAllreduce};

std::string NamesOf(const Situation& situation) {
  const Candidates candidates = CandidatesFor(situation);
  std::string names;
  for (std::size_t i = 0; i < candidates.count; ++i)
    names += std::string(i == 0 ? "" : ", ") + Name(candidates.ways[i]);
  return names;
}

Situation With(Operation operation, Sharing sharing = Sharing::kExclusive, bool reaches = true) {
  return {.operation = operation, .sharing = sharing, .reaches = reaches};
}

TEST(Ways, TheBoardIsTheFirst) {
  for (const Operation operation : kAll)
    for (const Sharing sharing : {Sharing::kExclusive, Sharing::kShared})
      EXPECT_EQ(CandidatesFor(With(operation, sharing)).ways[0], Way::kBoard) << Name(operation);
}

TEST(Ways, LongDataMayGoStraightBetweenTheBuffers) {
  for (const Operation operation :
       {Operation::kBcast, Operation::kAllgather, Operation::kAllgatherv, Operation::kAlltoall,
        Operation::kReduce, Operation::kAllreduce})
    EXPECT_EQ(NamesOf(With(operation)), "the board, the buffers themselves") << Name(operation);
}

TEST(Ways, NobodyReachesWhatTheKernelForbids) {
  for (const Operation operation : {Operation::kBcast, Operation::kAlltoall, Operation::kReduce})
    EXPECT_EQ(NamesOf(With(operation, Sharing::kExclusive, false)), "the board");
}

TEST(Ways, WhereRanksShareCpusTheBoardNeedsTheFewestTurns) {
  EXPECT_EQ(NamesOf(With(Operation::kBcast, Sharing::kShared)), "the board");
  EXPECT_EQ(NamesOf(With(Operation::kGather, Sharing::kShared)), "the board");
  EXPECT_EQ(NamesOf(With(Operation::kAlltoall, Sharing::kShared)),
            "the board, the buffers themselves");
}

TEST(Ways, BlocksOfOneRankMayGoByMessagesUnlessTheBoardIsNamed) {
  for (const Operation operation : {Operation::kGather, Operation::kScatter}) {
    Situation situation = With(operation);
    EXPECT_EQ(NamesOf(situation), "the board, messages");
    situation.named = true;
    EXPECT_EQ(NamesOf(situation), "the board");
  }
}

TEST(Ways, SomeDataCannotGoStraight) {
  Situation in_place = With(Operation::kAlltoall);
  in_place.in_place = true;
  EXPECT_EQ(NamesOf(in_place), "the board");
  Situation huge = With(Operation::kReduce);
  huge.element_fits = false;
  EXPECT_EQ(NamesOf(huge), "the board");
}

TEST(Ways, ACallIsLongIfItWritesTheAreaTwice) {
  EXPECT_TRUE(IsLong(Operation::kBcast, 2 << 20, 4, 1 << 20));
  EXPECT_FALSE(IsLong(Operation::kBcast, (2 << 20) - 1, 4, 1 << 20));
  EXPECT_TRUE(IsLong(Operation::kAlltoall, 512 << 10, 4, 1 << 20));
}

TEST(Trials, AreSharedByCallsOfAboutOneLength) {
  const Params params;
  Trials trials(params, 4);
  Trial& trial = trials.Of(Operation::kBcast, 64 << 10, 2);
  EXPECT_EQ(&trials.Of(Operation::kBcast, 100 << 10, 2), &trial);
  EXPECT_NE(&trials.Of(Operation::kBcast, 128 << 10, 2), &trial);
  EXPECT_NE(&trials.Of(Operation::kReduce, 64 << 10, 2), &trial);
  EXPECT_NE(&trials.Of(Operation::kBcast, 64 << 10, 1), &trial);
}

TEST(Trials, OfLongCallsBeginEarly) {
  const Params params;
  Trials trials(params, 4);
  const auto calls_before = [](Trial& trial) {
    std::uint32_t calls = 0;
    for (; !trial.trying(); ++calls) trial.Count();
    return calls;
  };
  EXPECT_EQ(calls_before(trials.Of(Operation::kBcast, 64 << 10, 2)), params.trial_before_calls);
  EXPECT_EQ(calls_before(trials.Of(Operation::kBcast, 64 << 20, 2)), kCallsBeforeTrialOfLong);
}

TEST(Trials, AreToldInWords) {
  const Params params;
  Trials trials(params, 4);
  Trial& trial = trials.Of(Operation::kBcast, 64 << 10, 2);
  while (!trial.trying()) trial.Count();
  while (trial.trying()) trial.Took(trial.way() == 0 ? 1200 : 900);
  EXPECT_EQ(Weights(CandidatesFor(With(Operation::kBcast)), trial),
            "the board 1200 ns, the buffers themselves 900 ns");
}

}  // namespace
}  // namespace lamina::collective::board
