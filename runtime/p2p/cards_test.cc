// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a peer that does not fit this process is refused, and the message says what to change.
// Method: a bootstrap that hands out the cards that the test wrote.
#include "runtime/p2p/cards.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/version.h"
#include "runtime/p2p/fake_transport.h"

namespace lamina::p2p {
namespace {

class FakeBootstrap final : public bootstrap::Bootstrap {
 public:
  const bootstrap::Identity& identity() const override { return identity_; }
  Status Publish(std::span<const std::byte> card) override {
    published.assign(card.begin(), card.end());
    return {};
  }
  Result<std::vector<std::byte>> Card(std::uint32_t) override { return card; }
  Result<std::uint32_t> Node(std::uint32_t) override { return 0u; }
  const std::vector<bootstrap::ProcessSet>& ProcessSets() override { return sets_; }
  void Abort(int, const char*) override {}
  Status Leave() override { return {}; }
  Status Return(std::uint32_t) override { return {}; }

  std::vector<std::byte> published;
  std::vector<std::byte> card;  // of every peer

 private:
  bootstrap::Identity identity_;
  std::vector<bootstrap::ProcessSet> sets_;
};

class CardsTest : public testing::Test {
 protected:
  CardsTest() {
    carriers.Add({"fake", std::make_unique<FakeTransport>(&road), false, false});
    cards.SetAgreed("ours", "A=1");
  }
  // What is said of a peer with that card; empty if it is accepted.
  std::string Refusal(const bootstrap::Card& card) {
    bootstrap.card = bootstrap::Encode(card);
    return std::string(cards.Of(PeerId{1}).status().message());
  }

  FakeRoad road;
  Carriers carriers;
  FakeBootstrap bootstrap;
  PeerTable peers{1, 2};
  Cards cards{PeerId{0}, carriers, peers, &bootstrap};
};

TEST_F(CardsTest, WhatIsPublishedIsAcceptedByAPeerOfTheSameKind) {
  ASSERT_TRUE(cards.Publish().ok());
  bootstrap.card = bootstrap.published;
  const Result<bootstrap::Card> card = cards.Of(PeerId{1});
  ASSERT_TRUE(card.ok());
  ASSERT_EQ(card->addresses.size(), 1u);
  EXPECT_EQ(card->addresses[0].first, "fake");
  EXPECT_EQ(card->addresses[0].second.size(), 4u);
}

TEST_F(CardsTest, APeerThatDoesNotFitIsRefused) {
  EXPECT_EQ(Refusal({kVersion, "ours", "A=1", {}}), "");
  EXPECT_NE(Refusal({"99.0.0", "ours", "A=1", {}}).find("use one version"), std::string::npos);
  EXPECT_NE(Refusal({kVersion, "theirs", "A=1", {}}).find("LAMINA_COMPONENT_PATH"),
            std::string::npos);
  EXPECT_NE(Refusal({kVersion, "ours", "A=2", {}}).find("\"A=2\""), std::string::npos);
}

TEST_F(CardsTest, ACardThatCannotBeReadIsRefused) {
  bootstrap.card.resize(3);
  const Result<bootstrap::Card> card = cards.Of(PeerId{1});
  ASSERT_FALSE(card.ok());
  EXPECT_NE(std::string(card.status().message()).find("its card"), std::string::npos);
}

TEST_F(CardsTest, ItsOwnCardIsNotAskedFor) {
  bootstrap.card.resize(3);
  const Result<bootstrap::Card> card = cards.Of(PeerId{0});
  ASSERT_TRUE(card.ok());
  EXPECT_EQ(card->addresses.size(), 1u);
}

}  // namespace
}  // namespace lamina::p2p
