// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what waits in a lane leaves in order and nothing overtakes it; a peer that is lost or
// that
//         nobody reaches says why; goodbyes go to network peers once.
// Method: a fake transport that takes as many frames as the test says, and a sender that writes
// down
//         what it was asked to send.
#include "runtime/p2p/lanes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/p2p/fake_transport.h"
#include "runtime/p2p/resting_lanes.h"

namespace lamina::p2p {
namespace {

using core::Request;

constexpr PeerId kSelf{0}, kPeer{1}, kOther{2};

class NotedInbox final : public transport::Inbox {
 public:
  PeerId Identify(transport::ProcessName) override { return kNoPeer; }
  void Arrived(PeerId, const transport::Header&, std::span<const std::byte>) override {}
  void Offered(PeerId, const transport::Header&, std::size_t, transport::Parcel*) override {}
  void Lost(PeerId peer, Status why) override {
    last_why = why.message();
    lanes->Lose(peer, std::move(why));
  }
  Lanes* lanes = nullptr;
  std::string last_why;
};

// Sends one frame for each request, with the request's tag.
class NotedSender final : public Lanes::Sender {
 public:
  Code TrySend(Lane& lane, Request* request) override {
    return lane.endpoint->SendShort(
        {PackMatch(FrameKind::kEager, ContextId{0}, 0, request->match_tag), {}});
  }
  void FailSend(Lane&, Request* request) override { failed.push_back(request->match_tag); }
  std::vector<int> failed;
};

class LanesTest : public testing::Test {
 protected:
  LanesTest() {
    inbox.lanes = &lanes;
    carriers.Add({"fake", std::make_unique<FakeTransport>(&road), /*network=*/true, false});
    for (int tag = 0; tag < 8; ++tag) requests[tag].match_tag = tag;
  }
  std::vector<int> SentTags() const {
    std::vector<int> tags;
    for (const FakeRoad::Sent& sent : road.sent) tags.push_back(TagOf(sent.header));
    return tags;
  }
  std::vector<FrameKind> SentKinds() const {
    std::vector<FrameKind> kinds;
    for (const FakeRoad::Sent& sent : road.sent) kinds.push_back(KindOf(sent.header));
    return kinds;
  }

  FakeRoad road;
  Carriers carriers;
  PeerTable table{1, 4};
  Cards cards{kSelf, carriers, table, nullptr};
  NotedInbox inbox;
  Lanes lanes{4, carriers, cards, inbox};
  NotedSender sender;
  Request requests[8];
};

TEST_F(LanesTest, ALaneIsConnectedOnFirstUseAndKept) {
  EXPECT_EQ(lanes.Find(kPeer), nullptr);
  Lane& lane = lanes.To(kPeer);
  EXPECT_EQ(&lanes.To(kPeer), &lane);
  EXPECT_EQ(lanes.Find(kPeer), &lane);
  EXPECT_EQ(lane.fast_bytes_max, 64);
}

TEST_F(LanesTest, WhatWaitsLeavesInOrderAsThereIsRoom) {
  Lane& lane = lanes.To(kPeer);
  for (Request& request : requests) lanes.Queue(lane, &request);
  EXPECT_EQ(lane.fast_bytes_max, -1) << "nothing may overtake";
  road.room = 3;
  EXPECT_TRUE(lanes.Flush(sender));
  EXPECT_EQ(SentTags(), (std::vector<int>{0, 1, 2}));
  EXPECT_TRUE(lanes.waiting());
  EXPECT_EQ(lane.fast_bytes_max, -1);
  EXPECT_FALSE(lanes.Flush(sender));
  road.room = 100;
  EXPECT_TRUE(lanes.Flush(sender));
  EXPECT_EQ(SentTags(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(lanes.waiting());
  EXPECT_EQ(lane.fast_bytes_max, 64);
}

TEST_F(LanesTest, AWithdrawnRequestLeavesTheOthersInOrder) {
  Lane& lane = lanes.To(kPeer);
  for (int tag = 0; tag < 4; ++tag) lanes.Queue(lane, &requests[tag]);
  EXPECT_TRUE(lanes.Withdraw(lane, &requests[0]));
  EXPECT_TRUE(lanes.Withdraw(lane, &requests[2]));
  EXPECT_TRUE(lanes.Withdraw(lane, &requests[3]));
  EXPECT_FALSE(lanes.Withdraw(lane, &requests[3]));
  lanes.Queue(lane, &requests[4]);
  lanes.Flush(sender);
  EXPECT_EQ(SentTags(), (std::vector<int>{1, 4}));
}

TEST_F(LanesTest, OneBlockedLaneDoesNotHoldUpAnother) {
  Lane& blocked = lanes.To(kPeer);
  lanes.Queue(blocked, &requests[0]);
  lanes.Queue(lanes.To(kOther), &requests[1]);
  lanes.Lose(kPeer, Error(Code::kPeerLost, "it is gone"));
  lanes.Flush(sender);
  EXPECT_EQ(sender.failed, (std::vector<int>{0}));
  EXPECT_EQ(SentTags(), (std::vector<int>{1}));
  EXPECT_FALSE(lanes.waiting());
}

TEST_F(LanesTest, AnAnswerWithoutRoomWaitsAndGoesBeforeMessages) {
  Lane& lane = lanes.To(kPeer);
  road.room = 0;
  const Grant grant{7, 100};
  lanes.SendAnswer(lane, PackToken(FrameKind::kClearToSend, 5), &grant);
  lanes.SendAnswer(lane, PackToken(FrameKind::kDone, 6));
  lanes.Queue(lane, &requests[0]);
  EXPECT_TRUE(lanes.waiting());
  road.room = 100;
  lanes.Flush(sender);
  EXPECT_EQ(SentKinds(),
            (std::vector<FrameKind>{FrameKind::kClearToSend, FrameKind::kDone, FrameKind::kEager}));
  EXPECT_EQ(road.sent[0].payload.size(), sizeof grant);
  EXPECT_EQ(road.sent[1].payload.size(), 0u);
  EXPECT_FALSE(lanes.waiting());
}

TEST_F(LanesTest, ANudgeIsDroppedWhereAnswersWait) {
  road.room = 0;
  lanes.Nudge(kPeer);
  lanes.Nudge(kPeer);
  road.room = 100;
  lanes.Flush(sender);
  EXPECT_EQ(SentKinds(), (std::vector<FrameKind>{FrameKind::kNudge}));
}

TEST_F(LanesTest, APeerThatNobodyReachesIsLostAndSaysWhy) {
  road.reaches = false;
  EXPECT_TRUE(lanes.To(kPeer).lost);
  EXPECT_EQ(inbox.last_why, "no transport reaches it (fake: it is on another planet)");
  lanes.SendAnswer(lanes.To(kPeer), PackToken(FrameKind::kDone, 1));
  EXPECT_FALSE(lanes.waiting()) << "an answer to a lost peer is dropped";
}

// Others tell that a process has ended, but a network may lose one that lives.
TEST_F(LanesTest, AProcessThatHasEndedIsNoLostConnection) {
  road.reaches = false;
  EXPECT_FALSE(lanes.To(kPeer).ended);
  road.has_ended = true;
  EXPECT_TRUE(lanes.To(kOther).ended);
  road = {};
  EXPECT_FALSE(lanes.To(PeerId{3}).ended);
  EXPECT_TRUE(lanes.Lose(PeerId{3}, Error(Code::kPeerLost, "connection reset")));
  EXPECT_FALSE(lanes.To(PeerId{3}).ended);

  Carriers near_carriers;
  near_carriers.Add({"fake", std::make_unique<FakeTransport>(&road), /*network=*/false, false});
  Lanes near(4, near_carriers, cards, inbox);
  EXPECT_FALSE(near.To(kPeer).ended);
  EXPECT_TRUE(near.Lose(kPeer, Error(Code::kPeerLost, "process 7 is gone")));
  EXPECT_TRUE(near.To(kPeer).ended);
}

TEST_F(LanesTest, APeerThatIsLetGoHasNoLane) {
  lanes.To(kPeer);
  lanes.LetGo(kPeer);
  EXPECT_TRUE(lanes.EndThoseLetGo());
  EXPECT_EQ(lanes.Find(kPeer), nullptr);
  lanes.Grow(9);
  EXPECT_TRUE(lanes.Has(PeerId{8}));
  EXPECT_EQ(lanes.Find(PeerId{8}), nullptr);
}

TEST_F(LanesTest, APeerIsLostOnce) {
  EXPECT_FALSE(lanes.Lose(kPeer, Error(Code::kPeerLost, "unknown"))) << "no lane yet";
  EXPECT_FALSE(lanes.Lose(PeerId{4}, Error(Code::kPeerLost, "no such peer")));
  Lane& lane = lanes.To(kPeer);
  EXPECT_FALSE(lanes.any_lost());
  EXPECT_TRUE(lanes.Lose(kPeer, Error(Code::kPeerLost, "first")));
  EXPECT_TRUE(lanes.any_lost());
  EXPECT_FALSE(lanes.Lose(kPeer, Error(Code::kPeerLost, "second")));
  EXPECT_EQ(lane.lost_why, "first");
  EXPECT_EQ(lane.fast_bytes_max, -1);
}

TEST_F(LanesTest, GoodbyeIsSaidOnceAndBothSidesMustSayIt) {
  Lane& lane = lanes.To(kPeer);
  EXPECT_FALSE(lanes.Parted());
  lanes.SayGoodbye();
  lanes.SayGoodbye();
  EXPECT_EQ(SentKinds(), (std::vector<FrameKind>{FrameKind::kGoodbye}));
  EXPECT_FALSE(lanes.Parted());
  lane.goodbye_received = true;
  EXPECT_TRUE(lanes.Parted());
}

TEST_F(LanesTest, ClosedLanesAreMadeAgain) {
  lanes.Queue(lanes.To(kPeer), &requests[0]);
  lanes.Close();
  EXPECT_FALSE(lanes.waiting());
  EXPECT_EQ(lanes.Find(kPeer), nullptr);
  EXPECT_EQ(lanes.To(kPeer).fast_bytes_max, 64);
}

// A peer that lets its transports go first looks as if it were lost.
TEST_F(LanesTest, ALossWhileTheJobLetsGoIsForgotten) {
  lanes.To(kPeer);
  RestingLanes rest(lanes);
  rest.Close(1, {});
  EXPECT_TRUE(rest.SendMarkers());
  inbox.Lost(kPeer, Error(Code::kPeerLost, "connection reset"));
  EXPECT_FALSE(lanes.any_lost());
  rest.Disconnect();
  rest.Reopen();
  EXPECT_FALSE(lanes.any_lost());
  EXPECT_EQ(lanes.To(kPeer).fast_bytes_max, 64);
}

TEST_F(LanesTest, ALossBeforeTheJobLetsGoIsToldLater) {
  lanes.To(kPeer);
  RestingLanes rest(lanes);
  rest.Close(1, {});
  inbox.Lost(kPeer, Error(Code::kPeerLost, "connection reset"));
  EXPECT_FALSE(lanes.To(kPeer).lost);
  rest.Reopen();
  EXPECT_TRUE(lanes.To(kPeer).lost);
  EXPECT_EQ(lanes.To(kPeer).lost_why, "connection reset");
}

// Nobody has spoken to the peer since, and it waits for our goodbye all the same.
TEST_F(LanesTest, GoodbyeIsSaidOnLanesThatHaveLostTheirEndpoints) {
  lanes.To(kPeer);
  RestingLanes rest(lanes);
  rest.Close(1, {});
  rest.SendMarkers();
  rest.Disconnect();
  rest.Reopen();
  road.sent.clear();
  lanes.SayGoodbye();
  EXPECT_EQ(SentKinds(), (std::vector<FrameKind>{FrameKind::kGoodbye}));
}

}  // namespace
}  // namespace lamina::p2p
