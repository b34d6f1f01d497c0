// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a program whose ranks are in different calls is told which rank is in which call.
// Method: contradictions of each kind, and what is said of them.
#include "collectives/board/dissent.h"

#include <gtest/gtest.h>
#include <mpi.h>

namespace lamina::collective::board {
namespace {

// Ranks 0 to 7 on two nodes of four; this process is rank 5, which is member 1 of its node.
const Members& Second() {
  static const Members members(Partition::Blocks(8, 4), 5);
  return members;
}

Failure Said(Terms terms, Terms others) {
  const Contradiction found{1, 3, terms, others};
  return FailureOf(&found, Second());
}

TEST(Dissent, NamesRanksOfTheCommunicatorAndTheirCalls) {
  const Failure failure =
      Said(TermsOf(Operation::kBarrier, 0, 0), TermsOf(Operation::kBcast, 3, 64));
  EXPECT_EQ(failure.error_class, MPI_ERR_OTHER);
  EXPECT_EQ(failure.text,
            "the ranks do not make the same calls on this communicator: rank 5 is in barrier, "
            "rank 7 is in bcast of 64 bytes from rank 3");
}

TEST(Dissent, TellsRootsFromLengths) {
  const Terms gather = TermsOf(Operation::kGather, 1, 8);
  EXPECT_EQ(Said(gather, TermsOf(Operation::kGather, 2, 8)).error_class, MPI_ERR_ROOT);
  const Failure failure = Said(gather, TermsOf(Operation::kGather, 1, 16));
  EXPECT_EQ(failure.error_class, MPI_ERR_TRUNCATE);
  EXPECT_NE(failure.text.find("rank 7 is in gather of 16 bytes to rank 1"), std::string::npos);
}

TEST(Dissent, IsNewsFromTheMemberThatFoundItOnly) {
  const Terms barrier = TermsOf(Operation::kBarrier, 0, 0);
  const Contradiction own{1, 0, barrier, barrier}, other{0, 1, barrier, barrier};
  EXPECT_TRUE(FailureOf(&own, Second()).is_news);
  EXPECT_FALSE(FailureOf(&other, Second()).is_news);
}

TEST(Dissent, ADeathHasNoWords) {
  const Failure failure = FailureOf(nullptr, Second());
  EXPECT_EQ(failure.error_class, MPI_ERR_PROC_ABORTED);
  EXPECT_EQ(failure.text, "");
  EXPECT_TRUE(failure.is_news);
}

}  // namespace
}  // namespace lamina::collective::board
