// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every message comes out as it went in; what is cut, stretched or made up is refused
//         without reserving memory for what it claims.
// Method: golden bytes for one; round trips; every prefix.
#include "launcher/wire/messages.h"

#include <gtest/gtest.h>

#include <functional>

#include "launcher/wire/frame.h"

namespace lamina::launcher::wire {
namespace {

Orders SomeOrders() {
  Orders orders;
  orders.host = 1;
  orders.job = "00112233445566778899aabbccddeeff";
  orders.directory = "/home/ada";
  orders.silence_ms = 10'000;
  orders.open_files_max = 1024;
  orders.profiled = true;
  orders.trace_keeps_first = true;
  orders.held = true;
  orders.plan.hosts.resize(3);
  orders.plan.hosts[0].name = "node01";
  orders.plan.hosts[1].name = "node02.east";
  orders.plan.hosts[2].name = "node03";
  App app;
  app.argv = {"./ring", "", "a b"};
  app.environment = {"PATH=/bin", "EMPTY="};
  app.wdir = "sub";
  app.path = "/opt/bin";
  app.ranks = 4;
  orders.plan.apps = {app};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    RankPlan place;
    place.rank = rank;
    place.host = rank == 0 ? 0 : rank == 3 ? 2 : 1;
    place.local_rank = rank == 2 ? 1 : 0;
    orders.plan.ranks.push_back(place);
  }
  orders.plan.universe_slots = 8;
  orders.plan.mapping.map_by = MapBy::kNuma;
  orders.plan.mapping.rank_by = MapBy::kSlot;
  orders.plan.mapping.cpus_per_rank = 4;
  orders.plan.mapping.hwthreads_are_cpus = true;
  orders.plan.mapping.cpu_set = "0-7";
  orders.plan.ranks[1].place = "1:0-3";
  orders.ranks = {{1, "0-3", true, {"A=1"}}, {2, "", false, {}}, {3, "", false, {}}};
  orders.rules = {32, 16, 6, 30'000, {"Connection closed by"}, {"name resolution"}};
  orders.below = {{2, {"ssh", "node03", "exec mpiexec"}}};
  orders.saving = {"criu", "/home/ada/D", 7,    "/home/ada/D",
                   10'011, true,          true, "0123456789abcdef.mark"};
  return orders;
}

Ended SomeEnd() {
  Ended ended;
  ended.rank = 3;
  ended.kind = 2;
  ended.code = -1;
  ended.signal = 11;
  ended.process = 4242;
  ended.why = "because";
  ended.ring_head = std::string(16, 'h');
  ended.events = {std::string(128, 'e'), ""};
  ended.profile = std::string(24, 'p');
  return ended;
}

Gone SomeLoss() { return {true, {4, 5}, "node04 is lost"}; }

Beat SomeBeat() {
  Beat beat;
  beat.heads = {{7, "head"}, {8, ""}};
  return beat;
}

SavingWord SomeSavingWord() {
  return {3, SavingWord::Kind::kSaved, "", 10'003, 10'011, {"pipe:[77]", ""}, 4096};
}

StoreWord SomeStoreWord() {
  return {StoreWord::Kind::kDone,
          7,
          3,
          2,
          {4, 5},
          {{"core.img", 9, 10}, {}},
          6,
          "core.img",
          8,
          "plan",
          "no"};
}

std::vector<RankUsage> SomeUsage() {
  return {{3, 1, 'R', 2, 3, true, 4, 5, 6, 7, 8}, {4, 1, 'S', 2, 3, false, 0, 0, 0, 0, 0}};
}

const Hello kHello{kVersion, "0.1.0", "node07", "#3", 99};

// One of each kind: its bytes, and a decoder that says whether it takes some.
struct Case {
  std::string bytes;
  std::function<bool(std::string_view)> takes;
};
std::vector<Case> Cases() {
  return {
      {Encode(kHello), [](std::string_view b) { return DecodeHello(b).ok(); }},
      {Encode(SomeOrders()), [](std::string_view b) { return DecodeOrders(b).ok(); }},
      {Encode({SomeEnd(), SomeEnd()}), [](std::string_view b) { return DecodeEnds(b).ok(); }},
      {Encode(SomeLoss()), [](std::string_view b) { return DecodeGone(b).ok(); }},
      {Encode(Credit{3, 1, 77}), [](std::string_view b) { return DecodeCredit(b).ok(); }},
      {Encode(SignalOrder{15, {3, 4}}), [](std::string_view b) { return DecodeSignal(b).ok(); }},
      {Encode(SomeBeat()), [](std::string_view b) { return DecodeBeat(b).ok(); }},
      {Encode(Ready{7, "2 allowed of 2"}), [](std::string_view b) { return DecodeReady(b).ok(); }},
      {Encode(Start{Sharing::kShared}), [](std::string_view b) { return DecodeStart(b).ok(); }},
      {Encode(Visit{7, 9, "job\n"}),
       [](std::string_view b) {
         const Result<Visit> visit = DecodeVisit(b);
         return visit.ok() && visit->host == 7 && visit->guest == 9 && visit->bytes == "job\n";
       }},
      {Encode(SomeSavingWord()),
       [](std::string_view b) {
         const Result<SavingWord> word = DecodeSavingWord(b);
         return word.ok() && *word == SomeSavingWord();
       }},
      {Encode(SomeStoreWord()),
       [](std::string_view b) {
         const Result<StoreWord> word = DecodeStoreWord(b);
         return word.ok() && *word == SomeStoreWord();
       }},
      {Encode(Ping{7, 5, true, 9}),
       [](std::string_view b) {
         const Result<Ping> ping = DecodePing(b);
         return ping.ok() && ping->host == 7 && ping->sent_ns == 5 && ping->usage &&
                ping->clock_ns == 9;
       }},
      {Encode(SomeUsage()),
       [](std::string_view b) {
         const Result<std::vector<RankUsage>> usage = DecodeUsage(b);
         return usage.ok() && *usage == SomeUsage();
       }},
  };
}

TEST(MessagesTest, GoldenBytes) {
  const std::string_view golden("\x03\0\0\0\x01hello", 10);
  EXPECT_EQ(Encode(Piece{3, 1, "hello"}), golden);
  const Result<Piece> piece = DecodePiece(golden);
  ASSERT_TRUE(piece.ok());
  EXPECT_EQ(piece->rank, 3u);
  EXPECT_EQ(piece->stream, 1u);
  EXPECT_EQ(piece->bytes, "hello");
}

TEST(MessagesTest, OrdersComeBack) {
  const Orders orders = SomeOrders();
  const Result<Orders> back = DecodeOrders(Encode(orders));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->plan, orders.plan);
  EXPECT_EQ(back->host, orders.host);
  EXPECT_EQ(back->job, orders.job);
  EXPECT_EQ(back->directory, orders.directory);
  EXPECT_EQ(back->silence_ms, orders.silence_ms);
  EXPECT_EQ(back->open_files_max, orders.open_files_max);
  EXPECT_EQ(back->profiled, orders.profiled);
  EXPECT_EQ(back->trace_keeps_first, orders.trace_keeps_first);
  EXPECT_EQ(back->held, orders.held);
  EXPECT_EQ(back->rules, orders.rules);
  EXPECT_EQ(back->below, orders.below);
  EXPECT_EQ(back->saving, orders.saving);
  ASSERT_EQ(back->ranks.size(), 3u);
  EXPECT_EQ(back->ranks[0].cpuset, "0-3");
  EXPECT_TRUE(back->ranks[0].reads_input);
  EXPECT_EQ(back->ranks[0].own_environment, orders.ranks[0].own_environment);
  EXPECT_FALSE(back->ranks[1].reads_input);
}

TEST(MessagesTest, EndComesBack) {
  const Ended ended = SomeEnd();
  const Result<std::vector<Ended>> both = DecodeEnds(Encode({ended, ended}));
  ASSERT_TRUE(both.ok());
  ASSERT_EQ(both->size(), 2u);
  const Ended* back = &both->back();
  EXPECT_EQ(back->rank, ended.rank);
  EXPECT_EQ(back->kind, ended.kind);
  EXPECT_EQ(back->code, ended.code);
  EXPECT_EQ(back->signal, ended.signal);
  EXPECT_EQ(back->process, ended.process);
  EXPECT_EQ(back->why, ended.why);
  EXPECT_EQ(back->ring_head, ended.ring_head);
  EXPECT_EQ(back->events, ended.events);
  EXPECT_EQ(back->profile, ended.profile);
}

TEST(MessagesTest, LossReadinessStartAndSignalComeBack) {
  const Result<Gone> gone = DecodeGone(Encode(SomeLoss()));
  ASSERT_TRUE(gone.ok());
  EXPECT_TRUE(gone->lost);
  EXPECT_EQ(gone->hosts, SomeLoss().hosts);
  EXPECT_EQ(gone->why, SomeLoss().why);
  const Result<Ready> ready = DecodeReady(Encode(Ready{2, "1 allowed of 8"}));
  ASSERT_TRUE(ready.ok());
  EXPECT_EQ(ready->sharing_host, 2u);
  EXPECT_EQ(ready->why, "1 allowed of 8");
  for (const Sharing sharing : {Sharing::kExclusive, Sharing::kShared}) {
    const Result<Start> start = DecodeStart(Encode(Start{sharing}));
    ASSERT_TRUE(start.ok());
    EXPECT_EQ(start->sharing, sharing);
  }
  const Result<SignalOrder> order = DecodeSignal(Encode(SignalOrder{15, {3, 4}}));
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->signal, 15u);
  EXPECT_EQ(order->ranks, (std::vector<std::uint32_t>{3, 4}));
}

// Ranks that follow a rule cost nothing more, however many there are; others come back as well.
TEST(MessagesTest, PlacesAreRuns) {
  Orders orders = SomeOrders();
  const std::size_t bytes = Encode(orders).size();
  const auto place = [&orders](std::uint32_t host, std::uint32_t local) {
    RankPlan rank;
    rank.rank = static_cast<std::uint32_t>(orders.plan.ranks.size());
    rank.host = host;
    rank.local_rank = local;
    orders.plan.ranks.push_back(rank);
  };
  for (std::uint32_t rank = 0; rank < 10'000; ++rank) place(2, rank + 1);
  EXPECT_LE(Encode(orders).size(), bytes + 24);
  for (const std::uint32_t local : {7u, 3u, 3u, 9u})
    for (const std::uint32_t host : {0u, 1u, 2u}) place(host, local);
  place(1, 1);
  const Result<Orders> back = DecodeOrders(Encode(orders));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->plan, orders.plan);
}

TEST(MessagesTest, GreetingOfAnotherVersionTellsItsVersion) {
  Hello hello = kHello;
  hello.wire_version = 77;
  const Result<Hello> back = DecodeHello(Encode(hello) + "and more");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->wire_version, 77u);
  EXPECT_EQ(back->version, "0.1.0");
}

TEST(MessagesTest, OrdersAboutNobodyAreRefused) {
  Orders orders = SomeOrders();
  orders.ranks[0].rank = 0;  // another host's
  EXPECT_FALSE(DecodeOrders(Encode(orders)).ok());
  orders = SomeOrders();
  orders.plan.ranks[1].app = 9;
  EXPECT_FALSE(DecodeOrders(Encode(orders)).ok());
  orders = SomeOrders();
  orders.host = 5;
  EXPECT_FALSE(DecodeOrders(Encode(orders)).ok());
  orders = SomeOrders();
  orders.below[0].host = 5;
  EXPECT_FALSE(DecodeOrders(Encode(orders)).ok());
  orders = SomeOrders();
  orders.below.clear();  // but a rank of that host
  EXPECT_FALSE(DecodeOrders(Encode(orders)).ok());
}

TEST(MessagesTest, WholeOrNotAtAll) {
  for (const Case& one : Cases()) {
    EXPECT_TRUE(one.takes(one.bytes));
    EXPECT_FALSE(one.takes(one.bytes + "x"));
    for (std::size_t bytes = 0; bytes < one.bytes.size(); ++bytes)
      ASSERT_FALSE(one.takes(std::string_view(one.bytes).substr(0, bytes))) << bytes;
  }
}

}  // namespace
}  // namespace lamina::launcher::wire
