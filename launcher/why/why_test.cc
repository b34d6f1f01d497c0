// SPDX-License-Identifier: BSD-3-Clause
// Goal:   who waits for whom is told rightly: circles and nothing but circles are called
//         deadlocks, one of many possible senders is enough, and whoever is elsewhere is named.
// Method: views of ranks by hand, as their notes would be.
#include "launcher/why/why.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "runtime/base/call_names.h"

namespace lamina::launcher {
namespace {

constexpr std::uint64_t kNowMs = 10'000;

RankView Computes() {
  RankView view;
  view.phase = Phase::kInitialized;
  view.call = "MPI_Barrier";
  return view;
}

RankView Waits(Call call, std::uint32_t ranks) {
  RankView view = Computes();
  view.call = NameOf(call);
  view.inside = true;
  view.wait.state = WaitNote::kWaits;
  view.wait.call = static_cast<std::uint32_t>(call);
  view.wait.since_ms = 8'000;
  NotedComm world{.context = 0, .size = ranks, .first = 0, .stride = 1, .name = ""};
  std::strcpy(world.name, "MPI_COMM_WORLD");
  view.wait.comms = {world};
  return view;
}

NotedEntry Entry(NotedEntry::Kind kind, std::uint32_t peer, std::int32_t tag) {
  NotedEntry entry{};
  entry.kind = kind;
  entry.flags = NotedEntry::kAwaited;
  entry.peer = peer;
  entry.rank = peer == NotedEntry::kNobody ? NotedEntry::kAny : static_cast<std::int32_t>(peer);
  entry.tag = tag;
  return entry;
}

RankView Receives(std::uint32_t from, std::int32_t tag, std::uint32_t ranks) {
  RankView view = Waits(Call::MPI_Recv, ranks);
  view.wait.entries = {Entry(NotedEntry::kReceive, from, tag)};
  return view;
}

// At the board of all, in an operation for which it waits for `whom`.
RankView Meets(Call call, std::uint32_t whom, std::uint64_t number, std::uint32_t ranks) {
  RankView view = Waits(call, ranks);
  view.wait.comms[0].context = 1;
  view.wait.entries = {Entry(NotedEntry::kBoard, whom, NotedEntry::kAny)};
  view.wait.entries[0].plane = NotedEntry::kCollective;
  view.wait.entries[0].number = number;
  return view;
}

std::vector<std::string> Explain(const std::vector<RankView>& ranks) {
  return ExplainWaits(ranks, kNowMs, false);
}

TEST(Why, HeadToHead) {
  const auto lines = Explain({Receives(1, 5, 2), Receives(0, 7, 2)});
  EXPECT_EQ(
      lines[0],
      "deadlock: rank 0 waits in MPI_Recv for a message from rank 1 with tag 5; rank 1 waits in "
      "MPI_Recv for a message from rank 0 with tag 7: neither has sent that");
  EXPECT_EQ(lines[1], "rank 0 waits in MPI_Recv for a message from rank 1 with tag 5, for 2.0 s");
}

TEST(Why, AChainEndsWhereSomebodyComputes) {
  const auto lines = Explain({Receives(1, 0, 3), Receives(2, 0, 3), Computes()});
  EXPECT_EQ(lines[0],
            "ranks 0 and 1 wait for rank 2, which computes; its last call was MPI_Barrier");
}

TEST(Why, OneOfManySendersIsEnough) {
  const std::uint32_t any = NotedEntry::kNobody;
  const auto lines = Explain({Receives(any, 0, 3), Receives(0, 0, 3), Computes()});
  for (const std::string& line : lines) EXPECT_EQ(line.find("deadlock"), line.npos) << line;
  const auto stuck = Explain({Receives(any, 0, 2), Receives(0, 1, 2)});
  EXPECT_TRUE(stuck[0].starts_with("deadlock: rank 0 ")) << stuck[0];
}

TEST(Why, WhoeverHasEndedIsNamed) {
  std::vector<RankView> ranks = {Receives(1, 0, 2), Computes()};
  ranks[1].running = false;
  EXPECT_EQ(Explain(ranks)[0],
            "rank 0 waits in MPI_Recv for a message from rank 1 with tag 0, but rank 1 has ended");
}

TEST(Why, WhoeverIsStoppedIsNamed) {
  std::vector<RankView> ranks = {Receives(1, 0, 2), Computes()};
  ranks[1].stopped = true;
  EXPECT_EQ(Explain(ranks)[0], "rank 0 waits for rank 1, which is stopped by a signal");
}

TEST(Why, WhoeverWaitsForItself) {
  EXPECT_TRUE(
      Explain({Receives(0, 3, 1)})[0].starts_with("deadlock: rank 0 waits for itself: it "));
}

TEST(Why, AMissingMember) {
  const std::uint32_t any = NotedEntry::kNobody;
  const auto lines =
      Explain({Meets(Call::MPI_Allreduce, any, 4, 4), Meets(Call::MPI_Allreduce, any, 4, 4),
               Computes(), Meets(Call::MPI_Allreduce, any, 4, 4)});
  EXPECT_EQ(lines[0],
            "ranks 0, 1 and 3 wait for rank 2, which computes; its last call was MPI_Barrier");
  EXPECT_EQ(lines[1], "ranks 0, 1 and 3 wait in MPI_Allreduce of MPI_COMM_WORLD, for 2.0 s");
}

TEST(Why, ACollectiveByMessagesWaitsForThoseWhoAreNotInIt) {
  // Rank 0 waits for rank 2, which has come, and waits for rank 1, which has not.
  const auto meets = [](std::uint32_t from) {
    RankView view = Waits(Call::MPI_Barrier, 3);
    view.wait.entries = {Entry(NotedEntry::kReceive, from, 4)};
    view.wait.entries[0].plane = NotedEntry::kCollective;
    return view;
  };
  const auto lines = Explain({meets(2), Receives(0, 5, 3), meets(1)});
  EXPECT_EQ(
      lines[0],
      "deadlock: rank 0 waits in MPI_Barrier of MPI_COMM_WORLD; rank 1 waits in MPI_Recv for a "
      "message from rank 0 with tag 5");
}

TEST(Why, DifferentCallsOfOneCommunicator) {
  const auto lines = Explain({Meets(Call::MPI_Bcast, 1, 4, 2), Meets(Call::MPI_Barrier, 0, 5, 2)});
  EXPECT_TRUE(lines[0].ends_with(": all members of a communicator must call the same")) << lines[0];
}

TEST(Why, DifferentOrder) {
  std::vector<RankView> ranks = {Meets(Call::MPI_Barrier, 1, 1, 2),
                                 Meets(Call::MPI_Barrier, 0, 1, 2)};
  ranks[1].wait.comms[0].context = 9;
  EXPECT_TRUE(Explain(ranks)[0].ends_with(
      ": all members must call collective operations in the same order"));
}

TEST(Why, ShortCirclesArePreferred) {
  // Rank 0 waits for rank 1 first, and for rank 2, which waits for rank 0.
  std::vector<RankView> ranks = {Waits(Call::MPI_Waitall, 3), Receives(2, 1, 3), Receives(0, 1, 3)};
  ranks[0].wait.entries = {Entry(NotedEntry::kReceive, 1, 1), Entry(NotedEntry::kReceive, 2, 1)};
  const std::string line = Explain(ranks)[0];
  EXPECT_EQ(line.find("rank 1 waits"), line.npos) << line;
}

TEST(Why, ATagThatNearlyFits) {
  std::vector<RankView> ranks = {Computes(), Receives(0, 5, 2)};
  ranks[1].wait.entries.push_back(Entry(NotedEntry::kUnexpected, 0, 6));
  EXPECT_EQ(
      Explain(ranks)[1],
      "rank 1 has a message from rank 0 with tag 6, which it does not receive: it waits for tag 5");
}

TEST(Why, ProcessesOfOtherJobsMayDoAnything) {
  const auto lines = Explain({Receives(7, 0, 2), Receives(0, 0, 2)});
  for (const std::string& line : lines) EXPECT_EQ(line.find("deadlock"), line.npos) << line;
  EXPECT_NE(lines[0].find("from a process of another job with tag 0"), lines[0].npos) << lines[0];
  const RankView own[] = {Receives(1, 0, 2), Receives(0, 0, 2)};
  const RankView others[] = {Receives(7, 0, 2), Receives(0, 0, 2)};
  EXPECT_FALSE(AnyAwaitsAnotherJob(own));
  EXPECT_TRUE(AnyAwaitsAnotherJob(others));
}

TEST(Why, AllLocksOfAWindow) {
  RankView view = Computes();
  view.lock_of = 1;
  view.lock_holder = 0;
  EXPECT_NE(DoesWords(view, 3).find("for a lock of rank 1, which rank 0 holds"), std::string::npos)
      << DoesWords(view, 3);
  view.locks_all = true;
  EXPECT_NE(DoesWords(view, 3).find("for the locks of all ranks, one of which rank 0 holds"),
            std::string::npos)
      << DoesWords(view, 3);
}

TEST(Why, QueuesAreListed) {
  std::vector<RankView> ranks = {Receives(1, 5, 2), Computes()};
  ranks[0].wait.entries[0].bytes = 8;
  const auto lines = ExplainWaits(ranks, kNowMs, true);
  EXPECT_EQ(lines.back(), "rank 0: receive from rank 1 with tag 5, 8 bytes");
}

// In a collective that goes by messages: it waits for these.
RankView Gathers(const std::vector<std::uint32_t>& from, std::uint32_t ranks) {
  RankView view = Waits(Call::MPI_Gather, ranks);
  for (const std::uint32_t peer : from) {
    view.wait.entries.push_back(Entry(NotedEntry::kReceive, peer, 7));
    view.wait.entries.back().plane = NotedEntry::kCollective;
  }
  return view;
}

// The work grows no faster than the square of the number of ranks. Beyond that the test would run
// out of its time.
TEST(Why, ManyRanks) {
  constexpr std::uint32_t kRanks = 1000;
  std::vector<RankView> half;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    half.push_back(rank % 2 == 0 ? Computes()
                                 : Meets(Call::MPI_Allreduce, NotedEntry::kNobody, 3, kRanks));
  EXPECT_TRUE(Explain(half)[0].ends_with(", which compute; their last call was MPI_Barrier"));
  // A tree whose leaves wait for nobody who is there.
  std::vector<RankView> tree;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    tree.push_back(rank == kRanks - 1 ? Computes()
                                      : Gathers({std::min(rank * 2 + 1, kRanks - 1),
                                                 std::min(rank * 2 + 2, kRanks - 1)},
                                                kRanks));
  EXPECT_EQ(Explain(tree)[0],
            "ranks 0-998 wait for rank 999, which computes; its last call was MPI_Barrier");
  // A circle of all, and pairs.
  std::vector<RankView> circle, pairs;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    circle.push_back(Receives((rank + 1) % kRanks, 0, kRanks));
    pairs.push_back(Receives(rank ^ 1, 0, kRanks));
  }
  EXPECT_NE(Explain(circle)[0].find("; and so on through 994 more ranks"), std::string::npos);
  EXPECT_TRUE(Explain(pairs)[kRanks / 2 - 1].starts_with("deadlock: rank 998 waits in MPI_Recv"));
}

}  // namespace
}  // namespace lamina::launcher
