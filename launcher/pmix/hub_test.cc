// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a fence ends when all its nodes are there and not before, questions find their rank and
//         answers their asker, names are published once for all nodes.
// Method: letters by hand from the servers of three nodes; look at what is sent to whom.
#include "launcher/pmix/hub.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launcher/wire/bytes.h"

namespace lamina::launcher::pmix {
namespace {

class HubTest : public testing::Test {
 protected:
  HubTest()
      : plan_(MakePlan()),
        hub_(plan_, {0, 1, 2, 3}, true,
             {[this](std::uint32_t host, const std::string& letter) { Note(host, letter); },
              [this](std::uint32_t rank, int code, std::string message) {
                sent_ += "abort by " + std::to_string(rank) + " with " + std::to_string(code) +
                         ": " + message + "\n";
              }}) {}

  // Ranks 0 and 1 on host 0, 2 on host 2, 3 on host 3; nothing on host 1.
  static Plan MakePlan() {
    Plan plan;
    for (const char* name : {"n0", "n1", "n2", "n3"}) plan.hosts.emplace_back().name = name;
    for (const std::uint32_t host : {0u, 0u, 2u, 3u}) {
      RankPlan rank;
      rank.rank = static_cast<std::uint32_t>(plan.ranks.size());
      rank.host = host;
      plan.ranks.push_back(rank);
    }
    return plan;
  }
  void Note(std::uint32_t host, const std::string& bytes) {
    const Result<Letter> letter = DecodeLetter(bytes);
    ASSERT_TRUE(letter.ok());
    sent_ += std::to_string(host) + (letter->subject == Subject::kModex ? " asked about " : " ") +
             (letter->subject == Subject::kModex ? std::to_string(letter->rank) + " " : "") + "#" +
             std::to_string(letter->id) + (letter->good ? " " : " bad ") + letter->body + "\n";
  }
  bool Send(std::uint32_t host, Subject subject, std::uint32_t id, std::uint32_t rank,
            std::string body, bool good = true) {
    return hub_.Receive(host, Encode(Letter{subject, good, id, rank, std::move(body)})).ok();
  }
  bool Fence(std::uint32_t host, std::uint32_t id, std::vector<std::uint32_t> ranks,
             std::string_view data) {
    wire::Writer body;
    body.U32(static_cast<std::uint32_t>(ranks.size()));
    for (const std::uint32_t rank : ranks) body.U32(rank);
    return Send(host, Subject::kFence, id, 0, body.Raw(data).Take());
  }
  static std::string Names(const std::vector<std::string>& names) {
    wire::Writer writer;
    writer.U32(static_cast<std::uint32_t>(names.size()));
    for (const std::string& name : names) writer.Text(name);
    return writer.Take();
  }
  static std::string Notices(const std::string& name, const std::string& value) {
    return wire::Writer().U8(0).U32(1).Text(name).Text(value).Take();
  }
  std::string Take() { return std::exchange(sent_, ""); }

  Plan plan_;
  std::string sent_;
  Hub hub_;
};

TEST_F(HubTest, FenceWaitsForAllNodes) {
  EXPECT_TRUE(Fence(0, 7, {}, "a"));
  EXPECT_TRUE(Fence(3, 1, {}, "c"));
  EXPECT_EQ(Take(), "");
  EXPECT_TRUE(Fence(2, 5, {}, "b"));
  EXPECT_EQ(Take(), "0 #7 acb\n2 #5 acb\n3 #1 acb\n");
}

TEST_F(HubTest, AFastNodeIsInTheNextFenceAlready) {
  Fence(0, 1, {}, "a1");
  Fence(0, 2, {}, "a2");
  Fence(2, 1, {}, "b1");
  Fence(3, 1, {}, "c1");
  EXPECT_EQ(Take(), "0 #1 a1b1c1\n2 #1 a1b1c1\n3 #1 a1b1c1\n");
  Fence(3, 2, {}, "c2");
  Fence(2, 2, {}, "b2");
  EXPECT_EQ(Take(), "0 #2 a2c2b2\n2 #2 a2c2b2\n3 #2 a2c2b2\n");
}

TEST_F(HubTest, FencesOfSubsetsDoNotMix) {
  Fence(0, 1, {1, 3}, "x");
  Fence(0, 2, {0, 2}, "y");
  Fence(2, 9, {2, 0}, "z");  // in any order
  EXPECT_EQ(Take(), "0 #2 yz\n2 #9 yz\n");
  EXPECT_FALSE(Fence(2, 3, {1, 3}, "stranger"));
  EXPECT_FALSE(Fence(0, 3, {99}, ""));
}

TEST_F(HubTest, QuestionsAndAnswers) {
  EXPECT_TRUE(Send(0, Subject::kModex, 11, 3, ""));
  EXPECT_TRUE(Send(2, Subject::kModex, 11, 3, ""));
  EXPECT_EQ(Take(), "3 asked about 3 #1 \n3 asked about 3 #2 \n");
  EXPECT_TRUE(Send(3, Subject::kAnswer, 2, 0, "card"));
  EXPECT_TRUE(Send(3, Subject::kAnswer, 1, 0, "", false));
  EXPECT_EQ(Take(), "2 #11 card\n0 #11 bad \n");
  EXPECT_FALSE(Send(3, Subject::kAnswer, 2, 0, "again"));
  EXPECT_FALSE(Send(3, Subject::kModex, 1, 4, ""));
}

TEST_F(HubTest, OneBoardForAll) {
  EXPECT_TRUE(Send(0, Subject::kPublish, 1, 1, Notices("service", "port")));
  EXPECT_TRUE(Send(2, Subject::kPublish, 2, 2, Notices("service", "other")));
  EXPECT_EQ(Take(), "0 #1 \n2 #2 bad \n");
  EXPECT_TRUE(Send(3, Subject::kLookup, 3, 3, Names({"nothing", "service"})));
  EXPECT_EQ(Take(),
            "3 #3 " + wire::Writer().U32(1).Text("service").U32(1).Text("port").Take() + "\n");
  EXPECT_TRUE(Send(2, Subject::kUnpublish, 4, 2, Names({"service"})));
  EXPECT_TRUE(Send(0, Subject::kUnpublish, 5, 1, Names({"service"})));
  EXPECT_EQ(Take(), "2 #4 bad \n0 #5 \n");
}

TEST_F(HubTest, AbortIsHeard) {
  EXPECT_TRUE(Send(3, Subject::kAbort, 42, 3, "no memory"));
  EXPECT_EQ(Take(), "abort by 3 with 42: no memory\n");
  EXPECT_FALSE(Send(3, Subject::kAbort, 42, 9, ""));
}

TEST_F(HubTest, WhoIsWaitedFor) {
  EXPECT_FALSE(hub_.LongestWait(1000).has_value());
  Fence(2, 1, {}, "b");
  EXPECT_EQ(hub_.LongestWait(1000)->ms, 0u);
  Send(0, Subject::kModex, 11, 3, "");
  EXPECT_EQ(hub_.LongestWait(1500)->words, "a fence (MPI_Init) waits for ranks on n0 and n3");
  Fence(0, 1, {}, "a");
  EXPECT_EQ(hub_.LongestWait(3000)->ms, 2000u);
  EXPECT_EQ(hub_.LongestWait(3000)->words, "a fence (MPI_Init) waits for ranks on n3");
  Fence(3, 1, {}, "c");
  EXPECT_EQ(hub_.LongestWait(3000)->ms, 1500u);
  EXPECT_EQ(hub_.LongestWait(3000)->words, "the address of rank 3 on n3 is waited for");
}

TEST_F(HubTest, NonsenseIsRefused) {
  EXPECT_FALSE(hub_.Receive(0, "").ok());
  EXPECT_FALSE(hub_.Receive(0, std::string(10, '\xff')).ok());
  EXPECT_FALSE(Send(0, Subject::kPublish, 1, 0, "x"));
  EXPECT_FALSE(Send(0, Subject::kLookup, 1, 0, std::string(4, '\xff')));
  EXPECT_FALSE(Send(0, Subject::kFence, 1, 0, std::string(4, '\xff')));
  EXPECT_EQ(Take(), "");
}

// A hub on the way: hosts 2 and 3 behind edges 7 and 8, everything else further up.
class MiddleHubTest : public HubTest {
 protected:
  MiddleHubTest()
      : middle_(plan_, {Hub::kUp, Hub::kUp, 7, 8}, false,
                {[this](Hub::Edge edge, const std::string& letter) {
                   if (edge == Hub::kUp) up_.push_back(letter);
                   Note(edge == Hub::kUp ? 99 : edge, letter);
                 },
                 nullptr}) {}
  bool Tell(Hub::Edge edge, Subject subject, std::uint32_t id, std::uint32_t rank,
            std::string body) {
    return middle_.Receive(edge, Encode(Letter{subject, true, id, rank, std::move(body)})).ok();
  }
  static std::string FenceOf(std::vector<std::uint32_t> ranks, std::string_view data) {
    wire::Writer body;
    body.U32(static_cast<std::uint32_t>(ranks.size()));
    for (const std::uint32_t rank : ranks) body.U32(rank);
    return body.Raw(data).Take();
  }

  std::vector<std::string> up_;
  Hub middle_;
};

TEST_F(MiddleHubTest, AFenceGoesUpOnceAndItsAnswerDownToAll) {
  EXPECT_TRUE(Tell(7, Subject::kFence, 5, 0, FenceOf({}, "a")));
  EXPECT_TRUE(up_.empty());
  EXPECT_TRUE(Tell(8, Subject::kFence, 6, 0, FenceOf({}, "b")));
  EXPECT_EQ(Take(), "99 #1 " + FenceOf({}, "ab") + "\n");
  EXPECT_TRUE(Tell(Hub::kUp, Subject::kAnswer, 1, 0, "all"));
  EXPECT_EQ(Take(), "7 #5 all\n8 #6 all\n");
  EXPECT_FALSE(Tell(Hub::kUp, Subject::kAnswer, 1, 0, "again"));
  EXPECT_FALSE(Tell(Hub::kUp, Subject::kFence, 1, 0, FenceOf({}, "from above")));
}

TEST_F(MiddleHubTest, AFenceAmongThoseBelowStaysBelow) {
  EXPECT_TRUE(Tell(8, Subject::kFence, 6, 0, FenceOf({2, 3}, "b")));
  EXPECT_TRUE(Tell(7, Subject::kFence, 5, 0, FenceOf({2, 3}, "a")));
  EXPECT_EQ(Take(), "7 #5 ba\n8 #6 ba\n");
}

TEST_F(MiddleHubTest, WhoIsGivenBackIsWaitedForNoLonger) {
  EXPECT_TRUE(Tell(7, Subject::kFence, 5, 0, FenceOf({}, "a")));
  EXPECT_TRUE(Tell(7, Subject::kFence, 6, 0, FenceOf({2, 3}, "x")));
  EXPECT_EQ(Take(), "");
  middle_.Move(3, Hub::kUp);
  EXPECT_EQ(Take(), "99 #1 " + FenceOf({}, "a") + "\n99 #2 " + FenceOf({2, 3}, "x") + "\n");
  EXPECT_FALSE(Tell(8, Subject::kFence, 9, 0, FenceOf({}, "stranger")));
}

TEST_F(MiddleHubTest, WhoIsWaitedForFurtherUp) {
  EXPECT_TRUE(Tell(7, Subject::kLookup, 5, 99, Names({"ocean"})));  // there is no such rank
  EXPECT_EQ(middle_.LongestWait(1000)->words, "a published name is waited for");
  EXPECT_TRUE(Tell(Hub::kUp, Subject::kAnswer, 1, 0, ""));
  EXPECT_TRUE(Tell(7, Subject::kFence, 5, 0, FenceOf({0, 2}, "a")));
  EXPECT_EQ(middle_.LongestWait(1000)->words, "a fence waits for other hosts");
}

TEST_F(MiddleHubTest, QuestionsTakeTheShortestWay) {
  EXPECT_TRUE(Tell(7, Subject::kModex, 11, 3, ""));  // rank 3 is behind 8
  EXPECT_EQ(Take(), "8 asked about 3 #1 \n");
  EXPECT_TRUE(Tell(8, Subject::kAnswer, 1, 0, "card"));
  EXPECT_EQ(Take(), "7 #11 card\n");
  EXPECT_TRUE(Tell(7, Subject::kModex, 12, 0, ""));  // rank 0 is elsewhere
  EXPECT_EQ(Take(), "99 asked about 0 #2 \n");
  EXPECT_TRUE(Tell(Hub::kUp, Subject::kAnswer, 2, 0, "far"));
  EXPECT_EQ(Take(), "7 #12 far\n");
  EXPECT_TRUE(Tell(Hub::kUp, Subject::kModex, 40, 2, ""));  // somebody far asks about rank 2
  EXPECT_EQ(Take(), "7 asked about 2 #3 \n");
  EXPECT_TRUE(Tell(7, Subject::kAnswer, 3, 0, "near"));
  EXPECT_EQ(Take(), "99 #40 near\n");
  EXPECT_FALSE(Tell(Hub::kUp, Subject::kModex, 41, 0, ""));  // neither below nor above
}

TEST_F(MiddleHubTest, WhatTheTopKeepsGoesUp) {
  EXPECT_TRUE(Tell(8, Subject::kLookup, 3, 3, Names({"service"})));
  EXPECT_EQ(Take(), "99 #1 " + Names({"service"}) + "\n");
  EXPECT_TRUE(Tell(Hub::kUp, Subject::kAnswer, 1, 0, "found"));
  EXPECT_EQ(Take(), "8 #3 found\n");
  EXPECT_TRUE(Tell(8, Subject::kAbort, 42, 3, "no memory"));
  EXPECT_EQ(Take(), "99 #42 no memory\n");
}

// The same fence through two middle hubs and a top one, with real letters between them.
TEST_F(MiddleHubTest, ATreeOfHubs) {
  std::string low;
  std::unique_ptr<Hub> top, left, right;
  const auto note = [&low](Hub::Edge edge, const std::string& bytes) {
    const Result<Letter> letter = DecodeLetter(bytes);
    low += std::to_string(edge) + ":" + std::to_string(letter->id) + letter->body + " ";
  };
  top = std::make_unique<Hub>(plan_, std::vector<Hub::Edge>{0, 0, 1, 1}, true,
                              Hub::Outlets{[&](Hub::Edge edge, const std::string& letter) {
                                             Hub* hub = (edge == 0 ? left : right).get();
                                             EXPECT_TRUE(hub->Receive(Hub::kUp, letter).ok());
                                           },
                                           nullptr});
  const auto middle = [&](Hub::Edge own, std::vector<Hub::Edge> edges) {
    return std::make_unique<Hub>(plan_, std::move(edges), false,
                                 Hub::Outlets{[&, own](Hub::Edge edge, const std::string& letter) {
                                                if (edge == Hub::kUp)
                                                  EXPECT_TRUE(top->Receive(own, letter).ok());
                                                else
                                                  note(edge, letter);
                                              },
                                              nullptr});
  };
  left = middle(0, {10, 11, Hub::kUp, Hub::kUp});
  right = middle(1, {Hub::kUp, Hub::kUp, 12, 13});
  const auto fence = [](std::uint32_t id, std::string_view data) {
    return Encode(Letter{Subject::kFence, true, id, 0, FenceOf({}, data)});
  };
  EXPECT_TRUE(left->Receive(10, fence(1, "a")).ok());
  EXPECT_TRUE(right->Receive(13, fence(3, "c")).ok());
  EXPECT_EQ(low, "");
  EXPECT_TRUE(right->Receive(12, fence(2, "b")).ok());
  EXPECT_EQ(low, "10:1acb 12:2acb 13:3acb ");
}

}  // namespace
}  // namespace lamina::launcher::pmix
