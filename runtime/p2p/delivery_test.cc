// SPDX-License-Identifier: BSD-3-Clause
// Goal:   each protocol of README.md, from either end: which frames go out, where the data ends up,
//         what the request says; frames that make no sense are refused.
// Method: the parts of the engine that move messages, over a fake transport. The test plays the
// peer
//         and hands in its frames.
#include "runtime/p2p/delivery.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/comm.h"
#include "runtime/p2p/dispatch.h"
#include "runtime/p2p/fake_transport.h"
#include "runtime/p2p/rendezvous.h"

namespace lamina::p2p {
namespace {

using core::Request;

constexpr PeerId kSelf{0}, kPeer{1};
constexpr ContextId kContext{8};
constexpr int kTag = 5;
constexpr std::uint64_t kPeersToken = 77;

class DeafInbox final : public transport::Inbox {
 public:
  PeerId Identify(transport::ProcessName) override { return kNoPeer; }
  void Arrived(PeerId, const transport::Header&, std::span<const std::byte>) override {}
  void Offered(PeerId, const transport::Header&, std::size_t, transport::Parcel*) override {}
  void Lost(PeerId, Status) override {}
};

template <class T>
std::span<const std::byte> BytesOf(const T& object) {
  return {reinterpret_cast<const std::byte*>(&object), sizeof object};
}

class DeliveryTest : public testing::Test {
 protected:
  DeliveryTest() {
    carriers.Add({"fake", std::make_unique<FakeTransport>(&road), false, false});
    comm.peers = peers;
    comm.rank = 0;
    comm.references = 1;
  }
  static datatype::Buffer Bytes(std::string* text) {
    return {text->data(), static_cast<std::int64_t>(text->size()),
            datatype::FindDatatype(MPI_BYTE)};
  }
  void Fill(Request* request, Request::Type type, std::string* text) {
    request->type = type;
    request->comm = &comm;
    request->context = kContext;
    request->peer = 1;
    request->match_tag = kTag;
    request->buffer = Bytes(text);
  }
  void Receive(Request* request, std::string* into) {
    Fill(request, Request::Type::kReceive, into);
    delivery.Start(request);
  }
  void Send(Request* request, std::string* from, Request::Mode mode) {
    Fill(request, Request::Type::kSend, from);
    request->mode = mode;
    dispatch.Start(request);
  }
  static transport::Header FromPeer(FrameKind kind) { return PackMatch(kind, kContext, 1, kTag); }
  void ArriveEager(const std::string& text) {
    delivery.Eager(kPeer, FromPeer(FrameKind::kEager), std::as_bytes(std::span(text)));
  }
  bool ArriveOffer(const std::string& text, bool in_one_piece) {
    const Offer offer{text.size(), kPeersToken,
                      in_one_piece ? reinterpret_cast<std::uint64_t>(text.data()) : 0};
    return delivery.Offered(kPeer, FromPeer(FrameKind::kReadyToSend), BytesOf(offer));
  }
  // What was sent last.
  const FakeRoad::Sent& Last() const { return road.sent.back(); }
  FrameKind LastKind() const { return KindOf(Last().header); }

  FakeRoad road;
  Carriers carriers;
  PeerTable table{1, 4};
  Cards cards{kSelf, carriers, table, nullptr};
  DeafInbox inbox;
  Lanes lanes{2, carriers, cards, inbox};
  TokenTable tokens;
  Scratch scratch;
  Dispatch dispatch{lanes, tokens, scratch};
  Rendezvous rendezvous{lanes, tokens, scratch, kSelf, /*may_push=*/false};
  Delivery delivery{lanes, rendezvous};
  const PeerId peers[2] = {kSelf, kPeer};
  core::Comm comm;
};

TEST_F(DeliveryTest, AShortMessageGoesIntoThePostedReceive) {
  Request request;
  std::string into(8, '.');
  Receive(&request, &into);
  ArriveEager("hello");
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(into, "hello...");
  EXPECT_EQ(request.bytes, 5);
  EXPECT_EQ(request.source, 1);
  EXPECT_EQ(request.tag, kTag);
  EXPECT_EQ(request.error, MPI_SUCCESS);
}

TEST_F(DeliveryTest, AMessageThatIsTooLongIsCut) {
  Request request;
  std::string into(3, '.');
  Receive(&request, &into);
  ArriveEager("hello");
  EXPECT_EQ(into, "hel");
  EXPECT_EQ(request.error, MPI_ERR_TRUNCATE);
}

TEST_F(DeliveryTest, UnexpectedMessagesAreKeptInOrder) {
  ArriveEager("first");
  ArriveEager("second");
  std::string into(6, '.');
  Request first, second;
  Receive(&first, &into);
  EXPECT_EQ(into, "first.");
  Receive(&second, &into);
  EXPECT_EQ(into, "second");
  EXPECT_EQ(delivery.spaces().Of(kContext).unexpected(), 0u);
}

TEST_F(DeliveryTest, ASynchronousMessageIsAcknowledgedWhenItIsMatched) {
  const std::string text = std::string(BytesOf(kPeersToken).size(), '\0') + "hello";
  std::string frame = text;
  std::memcpy(frame.data(), &kPeersToken, sizeof kPeersToken);
  const auto arrive = [&] {
    return delivery.EagerSync(kPeer, FromPeer(FrameKind::kEagerSync),
                              std::as_bytes(std::span(frame)));
  };
  ASSERT_TRUE(arrive());
  EXPECT_TRUE(road.sent.empty()) << "it has not been matched yet";
  Request request, other;
  std::string into(5, '.');
  Receive(&request, &into);
  EXPECT_EQ(into, "hello");
  ASSERT_EQ(road.sent.size(), 1u);
  EXPECT_EQ(LastKind(), FrameKind::kDone);
  EXPECT_EQ(TokenOf(Last().header), kPeersToken);
  Receive(&other, &into);
  ASSERT_TRUE(arrive());
  EXPECT_EQ(road.sent.size(), 2u);
}

TEST_F(DeliveryTest, AnOfferIsFetchedWhereMemoryCanBeRead) {
  road.get_bytes_max = 100;
  const std::string text(250, 'x');
  Request request;
  std::string into(250, '.');
  Receive(&request, &into);
  ASSERT_TRUE(ArriveOffer(text, true));
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(into, text);
  EXPECT_EQ(road.got, (std::vector<std::uint64_t>{0, 100, 200}));
  EXPECT_EQ(LastKind(), FrameKind::kDone);
}

TEST_F(DeliveryTest, AnOfferThatCannotBeFetchedIsGrantedAndPushed) {
  road.get_bytes_max = 100;
  const std::string text = std::string(100, 'a') + std::string(100, 'b');
  ASSERT_TRUE(ArriveOffer(text, false));
  Request request;
  std::string into(150, '.');
  Receive(&request, &into);
  EXPECT_EQ(LastKind(), FrameKind::kClearToSend);
  EXPECT_EQ(TokenOf(Last().header), kPeersToken);
  Grant grant;
  ASSERT_EQ(Last().payload.size(), sizeof grant);
  std::memcpy(&grant, Last().payload.data(), sizeof grant);
  EXPECT_EQ(grant.bytes, 150u);
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_TRUE(
      rendezvous.Data(kPeer, PackToken(FrameKind::kData, grant.token, 0), bytes.first(100)));
  EXPECT_FALSE(request.complete);
  EXPECT_FALSE(
      rendezvous.Data(kPeer, PackToken(FrameKind::kData, grant.token, 100), bytes.first(51)))
      << "more than was asked for";
  EXPECT_FALSE(
      rendezvous.Data(kSelf, PackToken(FrameKind::kData, grant.token, 100), bytes.first(50)))
      << "from somebody else";
  EXPECT_TRUE(rendezvous.Data(kPeer, PackToken(FrameKind::kData, grant.token, 100),
                              bytes.subspan(100, 50)));
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(request.error, MPI_ERR_TRUNCATE);
  EXPECT_EQ(into, text.substr(0, 150));
  EXPECT_EQ(tokens.size(), 0u);
}

TEST_F(DeliveryTest, AMessageThatWasNotMatchedIsGivenBack) {
  const std::string text(250, 'x');
  ASSERT_TRUE(ArriveOffer(text, true));
  delivery.Withdraw(kPeer, PackToken(FrameKind::kWithdraw, kPeersToken + 1));
  EXPECT_TRUE(road.sent.empty()) << "there is no such message";
  delivery.Withdraw(kPeer, PackToken(FrameKind::kWithdraw, kPeersToken));
  EXPECT_EQ(LastKind(), FrameKind::kWithdrawn);
  EXPECT_EQ(delivery.spaces().Of(kContext).unexpected(), 0u);
}

// The sender does not see whether a parcel was received or dropped, so it is answered in any case.
TEST_F(DeliveryTest, AParcelIsGivenBackByItsNumber) {
  struct Box final : transport::Parcel {
    void Accept(std::span<std::byte>, transport::Completion*) override { ++accepted; }
    void Drop() override { ++dropped; }
    int accepted = 0, dropped = 0;
  } first, second;
  delivery.Lent(kPeer, FromPeer(FrameKind::kParcel), 500, &first);
  delivery.Lent(kPeer, FromPeer(FrameKind::kParcel), 500, &second);
  EXPECT_EQ(delivery.spaces().Awaiting().size(), 2u);
  delivery.Withdraw(kPeer, PackToken(FrameKind::kWithdraw, kPeersToken, 2));
  EXPECT_EQ(LastKind(), FrameKind::kWithdrawn);
  EXPECT_EQ(TokenOf(Last().header), kPeersToken);
  EXPECT_EQ(second.dropped, 1);
  Request request;
  std::string into(500, '.');
  Receive(&request, &into);
  EXPECT_EQ(first.accepted, 1);
  delivery.Withdraw(kPeer, PackToken(FrameKind::kWithdraw, kPeersToken, 1));
  EXPECT_EQ(LastKind(), FrameKind::kDone);
  EXPECT_EQ(first.dropped, 0);
}

TEST_F(DeliveryTest, WhoeverWaitsForAMatchIsKnownWhenTheContextHasGone) {
  const std::string text(250, 'x');
  ASSERT_TRUE(ArriveOffer(text, true));
  delivery.spaces().Drop(kContext);
  EXPECT_EQ(delivery.spaces().Awaiting(), std::vector<PeerId>{kPeer});
}

TEST_F(DeliveryTest, AReceiveIsCancelledUntilItHasMatched) {
  Request request;
  std::string into(8, '.');
  Receive(&request, &into);
  EXPECT_TRUE(delivery.Cancel(&request));
  EXPECT_TRUE(request.cancelled);
  ArriveEager("hello");
  EXPECT_EQ(into, "........");
}

TEST_F(DeliveryTest, FramesThatMakeNoSenseAreRefused) {
  const std::uint32_t half = 0;
  EXPECT_FALSE(delivery.EagerSync(kPeer, FromPeer(FrameKind::kEagerSync), BytesOf(half)));
  EXPECT_FALSE(delivery.Offered(kPeer, FromPeer(FrameKind::kReadyToSend), BytesOf(half)));
  EXPECT_FALSE(rendezvous.Data(kPeer, PackToken(FrameKind::kData, 9), {}));
  EXPECT_FALSE(
      dispatch.Granted(kPeer, PackToken(FrameKind::kClearToSend, 9), BytesOf(Grant{1, 1})));
  EXPECT_FALSE(dispatch.Ended(kPeer, PackToken(FrameKind::kDone, 9), false));
}

TEST_F(DeliveryTest, ASendThatFindsNoRoomWaitsAndIsNotOvertaken) {
  road.room = 0;
  std::string first = "first", second = "second";
  Request one, two;
  Send(&one, &first, Request::Mode::kStandard);
  road.room = 100;
  Send(&two, &second, Request::Mode::kStandard);
  EXPECT_FALSE(one.complete || two.complete);
  EXPECT_TRUE(lanes.Flush(dispatch));
  EXPECT_TRUE(one.complete && two.complete);
  EXPECT_EQ(road.sent[0].payload.size(), first.size());
  EXPECT_EQ(road.sent[1].payload.size(), second.size());
}

TEST_F(DeliveryTest, ASynchronousSendEndsWithItsAcknowledgement) {
  std::string text = "hello";
  Request request;
  Send(&request, &text, Request::Mode::kSynchronous);
  EXPECT_EQ(LastKind(), FrameKind::kEagerSync);
  EXPECT_FALSE(request.complete);
  EXPECT_TRUE(dispatch.Ended(kPeer, PackToken(FrameKind::kDone, request.remote_request), false));
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(tokens.size(), 0u);
}

TEST_F(DeliveryTest, ASendIsAnsweredByItsReceiverAloneAndNotBeforeItHasLeft) {
  std::string text(700, 'x');
  Request sent, waiting;
  Send(&sent, &text, Request::Mode::kStandard);
  const std::uint64_t token = sent.remote_request;
  EXPECT_FALSE(
      dispatch.Granted(kSelf, PackToken(FrameKind::kClearToSend, token), BytesOf(Grant{1, 1})));
  EXPECT_FALSE(dispatch.Ended(kSelf, PackToken(FrameKind::kDone, token), false));
  EXPECT_FALSE(sent.complete);
  road.room = 0;
  for (const auto mode : {Request::Mode::kStandard, Request::Mode::kSynchronous}) {
    Send(&waiting, &text, mode);
    EXPECT_EQ(tokens.size(), 1u) << "the send that has left is the only one that can be named";
    EXPECT_TRUE(dispatch.Cancel(&waiting));
  }
  EXPECT_TRUE(dispatch.Ended(kPeer, PackToken(FrameKind::kDone, token), false));
  EXPECT_TRUE(sent.complete);
}

TEST_F(DeliveryTest, ALongSendPushesWhatIsGrantedAsThereIsRoom) {
  std::string text(700, 'x');
  Request request;
  Send(&request, &text, Request::Mode::kStandard);
  ASSERT_EQ(LastKind(), FrameKind::kReadyToSend);
  road.room = 1;
  const Grant grant{99, 600};
  ASSERT_TRUE(dispatch.Granted(kPeer, PackToken(FrameKind::kClearToSend, request.remote_request),
                               BytesOf(grant)));
  EXPECT_TRUE(dispatch.pushing());
  EXPECT_EQ(request.moved, 256);
  EXPECT_FALSE(dispatch.PushAll());
  road.room = 100;
  EXPECT_TRUE(dispatch.PushAll());
  EXPECT_FALSE(dispatch.pushing());
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(TokenOf(Last().header), 99u);
  EXPECT_EQ(OffsetOf(Last().header), 512u);
  EXPECT_EQ(Last().payload.size(), 600u - 512u);
}

TEST_F(DeliveryTest, ASendIsCancelledIfItHasNotLeftElseAskedBack) {
  std::string text(700, 'x');
  Request sent, waiting;
  Send(&sent, &text, Request::Mode::kStandard);
  EXPECT_FALSE(dispatch.Cancel(&sent));
  EXPECT_EQ(LastKind(), FrameKind::kWithdraw);
  EXPECT_TRUE(dispatch.Ended(kPeer, PackToken(FrameKind::kWithdrawn, sent.remote_request), true));
  EXPECT_TRUE(sent.complete && sent.cancelled);
  road.room = 0;
  Send(&waiting, &text, Request::Mode::kStandard);
  EXPECT_TRUE(dispatch.Cancel(&waiting));
  EXPECT_TRUE(waiting.complete && waiting.cancelled);
  EXPECT_EQ(tokens.size(), 0u);
}

TEST_F(DeliveryTest, ASendThatWasAskedBackEndsWhenItsReceiverLeaves) {
  std::string text(700, 'x');
  Request before, after;
  Send(&before, &text, Request::Mode::kStandard);
  EXPECT_FALSE(dispatch.Cancel(&before));
  lanes.To(kPeer).goodbye_received = true;
  dispatch.PeerHasLeft(kPeer);
  EXPECT_TRUE(before.complete && before.cancelled);
  Send(&after, &text, Request::Mode::kStandard);
  EXPECT_TRUE(dispatch.Cancel(&after));
  EXPECT_TRUE(after.complete && after.cancelled);
  EXPECT_EQ(tokens.size(), 0u);
}

// What was lent is over when the receiver has given it back, whatever the transport still does.
TEST_F(DeliveryTest, AParcelIsCancelledIfItsReceiverGivesItBack) {
  road.lends = true;
  std::string text(700, 'x');
  Request dropped, taken, left;
  for (Request* request : {&dropped, &taken, &left}) Send(request, &text, Request::Mode::kStandard);
  ASSERT_EQ(road.lent.size(), 3u);
  EXPECT_FALSE(dispatch.Cancel(&dropped));
  EXPECT_EQ(OffsetOf(Last().header), 1u);
  EXPECT_FALSE(dropped.complete);
  EXPECT_TRUE(
      dispatch.Ended(kPeer, PackToken(FrameKind::kWithdrawn, dropped.remote_request), true));
  EXPECT_TRUE(dropped.complete && dropped.cancelled);
  road.lent[0]->done(road.lent[0], Code::kOk);  // nobody waits for it any more

  EXPECT_FALSE(dispatch.Cancel(&taken));
  EXPECT_EQ(OffsetOf(Last().header), 2u);
  road.lent[1]->done(road.lent[1], Code::kOk);
  EXPECT_FALSE(taken.complete) << "the answer says what became of it";
  EXPECT_TRUE(dispatch.Ended(kPeer, PackToken(FrameKind::kDone, taken.remote_request), false));
  EXPECT_TRUE(taken.complete && !taken.cancelled);

  EXPECT_FALSE(dispatch.Cancel(&left));
  dispatch.PeerHasLeft(kPeer);
  EXPECT_TRUE(left.complete && left.cancelled);
  EXPECT_EQ(tokens.size(), 0u);
}

struct Box final : transport::Parcel {
  void Accept(std::span<std::byte>, transport::Completion* completion) override {
    done = completion;
  }
  void Drop() override { ++dropped; }
  transport::Completion* done = nullptr;
  int dropped = 0;
};

// Transports end while messages lie with them, and their senders say anew where the data is.
TEST_F(DeliveryTest, AParcelKeepsItsPlaceWhenTransportsEnd) {
  const std::string first(500, '1'), second(500, '2'), third(500, '3');
  Box boxes[3];
  for (Box& box : boxes) delivery.Lent(kPeer, FromPeer(FrameKind::kParcel), 500, &box);
  delivery.DropParcels();
  for (const Box& box : boxes) EXPECT_EQ(box.dropped, 1);
  Request early, late;
  std::string into_early(500, '.'), into_late(500, '.');
  Receive(&early, &into_early);
  EXPECT_FALSE(delivery.Cancel(&early)) << "it has been matched";
  const auto reoffer = [this](std::uint64_t number, const std::string& text) {
    const Grant data{reinterpret_cast<std::uint64_t>(text.data()), text.size()};
    return delivery.Reoffered(kPeer, PackToken(FrameKind::kReoffer, kPeersToken + number, number),
                              BytesOf(data));
  };
  road.get_bytes_max = 1 << 20;
  EXPECT_TRUE(reoffer(2, second));
  EXPECT_TRUE(road.sent.empty()) << "it waits for its receive";
  EXPECT_TRUE(reoffer(1, first));
  EXPECT_TRUE(early.complete);
  EXPECT_EQ(into_early, first);
  EXPECT_EQ(LastKind(), FrameKind::kDone);
  EXPECT_EQ(TokenOf(Last().header), kPeersToken + 1);
  Receive(&late, &into_late);
  EXPECT_TRUE(late.complete);
  EXPECT_EQ(into_late, second);
  EXPECT_EQ(TokenOf(Last().header), kPeersToken + 2);
  // It was asked back meanwhile, and the answer to that is the last word.
  delivery.Withdraw(kPeer, PackToken(FrameKind::kWithdraw, kPeersToken + 3, 3));
  EXPECT_EQ(LastKind(), FrameKind::kWithdrawn);
  EXPECT_EQ(delivery.spaces().Of(kContext).unexpected(), 0u);
  EXPECT_FALSE(delivery.Reoffered(kPeer, PackToken(FrameKind::kReoffer, 1, 1), {}));
}

TEST_F(DeliveryTest, AReceiveFromAnybodyFailsWhereAllAreLost) {
  core::Group remote;
  comm.remote = &remote;
  const PeerId theirs[] = {kPeer};
  comm.peers = theirs;
  comm.destinations = 1;
  Request alive, lost, named, within;
  std::string into(4, '.');
  const auto receive = [&](Request* request, Rank source) {
    Fill(request, Request::Type::kReceive, &into);
    request->peer = source;
    delivery.Start(request);
  };
  receive(&alive, MPI_ANY_SOURCE);
  EXPECT_FALSE(alive.complete);
  ASSERT_FALSE(lanes.To(kPeer).lost);
  ASSERT_TRUE(lanes.Lose(kPeer, Error(Code::kPeerLost, "gone")));
  receive(&lost, MPI_ANY_SOURCE);
  EXPECT_TRUE(lost.complete && lost.error == MPI_ERR_PROC_ABORTED);
  receive(&named, 0);
  EXPECT_TRUE(named.complete && named.error == MPI_ERR_PROC_ABORTED);
  comm.remote = nullptr;  // this process itself may send
  receive(&within, MPI_ANY_SOURCE);
  EXPECT_FALSE(within.complete);
}

TEST_F(DeliveryTest, AReceiveFailsIfItsMessageIsNotOfferedAnew) {
  Box box;
  delivery.Lent(kPeer, FromPeer(FrameKind::kParcel), 500, &box);
  delivery.DropParcels();
  Request request;
  std::string into(500, '.');
  Receive(&request, &into);
  EXPECT_TRUE(delivery.TakePromised(kSelf).empty());
  EXPECT_EQ(delivery.TakePromised(kPeer), std::vector<Request*>{&request});
}

TEST_F(DeliveryTest, WhatIsBeingFetchedIsCounted) {
  Box box;
  Request request;
  std::string into(500, '.');
  Receive(&request, &into);
  const std::uint64_t before = Rendezvous::accepting();
  delivery.Lent(kPeer, FromPeer(FrameKind::kParcel), 500, &box);
  EXPECT_EQ(Rendezvous::accepting(), before + 1);
  box.done->done(box.done, Code::kOk);
  EXPECT_EQ(Rendezvous::accepting(), before);
  EXPECT_TRUE(request.complete);
}

// Whether a message has been received is not to be told from how its loan ends, because that may
// be due to a peer that has let its transports go.
TEST_F(DeliveryTest, WhatWasLentIsOfferedAnewWhenTransportsHaveEnded) {
  road.lends = true;
  std::string text(700, 'x');
  Request open, failed, good;
  for (Request* request : {&open, &failed, &good}) Send(request, &text, Request::Mode::kStandard);
  dispatch.BeginRest();
  road.lent[1]->done(road.lent[1], Code::kPeerLost);
  road.lent[2]->done(road.lent[2], Code::kOk);
  dispatch.TransportsHaveEnded();
  EXPECT_FALSE(open.complete || failed.complete || good.complete);
  road.sent.clear();
  dispatch.EndRest();
  ASSERT_EQ(road.sent.size(), 3u);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    const FakeRoad::Sent& sent = road.sent[number - 1];
    EXPECT_EQ(KindOf(sent.header), FrameKind::kReoffer);
    EXPECT_EQ(OffsetOf(sent.header), number);
    EXPECT_EQ(sent.payload.size(), sizeof(Grant));
  }
  EXPECT_EQ(TokenOf(road.sent[0].header), open.remote_request);
  EXPECT_TRUE(dispatch.Ended(kPeer, PackToken(FrameKind::kDone, good.remote_request), false));
  EXPECT_TRUE(good.complete);
  EXPECT_EQ(tokens.size(), 2u);
}

TEST_F(DeliveryTest, ALoanThatEndsWhileTheJobComesToRestCountsLater) {
  road.lends = true;
  std::string text(700, 'x');
  Request request;
  Send(&request, &text, Request::Mode::kStandard);
  dispatch.BeginRest();
  road.lent[0]->done(road.lent[0], Code::kOk);
  EXPECT_FALSE(request.complete);
  dispatch.EndRest();
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(tokens.size(), 0u);
}

}  // namespace
}  // namespace lamina::p2p
