// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a message goes to the earliest posted receive that fits, and a receive takes the earliest
//         message that fits, wildcards included (MPI-5.0, section 3.5).
// Method: random posts, arrivals and withdrawals are played against two naive lists, with many
// seeds.
#include "runtime/p2p/match.h"

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <random>

namespace lamina::p2p {
namespace {

using core::Request;

// Says what matching means, as plainly as possible.
class NaiveLists {
 public:
  static bool FitsTag(int wanted, int tag) { return wanted == MPI_ANY_TAG || wanted == tag; }
  static bool FitsSource(Rank wanted, Rank source) {
    return wanted == MPI_ANY_SOURCE || wanted == source;
  }
  Request* TakePosted(Rank source, int tag) {
    for (auto i = posted.begin(); i != posted.end(); ++i)
      if (FitsSource((*i)->peer, source) && FitsTag((*i)->match_tag, tag)) {
        Request* request = *i;
        posted.erase(i);
        return request;
      }
    return nullptr;
  }
  Message* FindUnexpected(Rank source, int tag) const {
    for (Message* message : unexpected)
      if (FitsSource(source, message->source) && FitsTag(tag, message->tag)) return message;
    return nullptr;
  }

  std::list<Request*> posted;
  std::list<Message*> unexpected;
};

class MatchModel : public testing::TestWithParam<unsigned> {};

TEST_P(MatchModel, AgreesWithNaiveLists) {
  std::mt19937 random(GetParam());
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  const unsigned ranks = 1 + random() % 9;
  const unsigned tags = 1 + random() % 40;
  const unsigned wildcard_percent = random() % 60;
  MatchSpace space;
  NaiveLists model;
  std::vector<std::unique_ptr<Request>> requests;
  std::vector<std::unique_ptr<Message>> messages;

  for (int step = 0; step < 3000; ++step) {
    const int choice = below(100);
    if (choice < 45) {  // a receive
      const Rank source = random() % 100 < wildcard_percent ? MPI_ANY_SOURCE : below(ranks);
      const int tag = random() % 100 < wildcard_percent ? MPI_ANY_TAG : below(tags);
      Message* expected = model.FindUnexpected(source, tag);
      ASSERT_EQ(space.FindUnexpected(source, tag), expected) << "step " << step;
      if (expected != nullptr) {
        space.RemoveUnexpected(expected);
        model.unexpected.remove(expected);
      } else {
        requests.push_back(std::make_unique<Request>());
        requests.back()->peer = source;
        requests.back()->match_tag = tag;
        space.Post(requests.back().get());
        model.posted.push_back(requests.back().get());
      }
    } else if (choice < 90) {  // an arrival
      const Rank source = below(ranks);
      const int tag = below(tags);
      Request* expected = model.TakePosted(source, tag);
      ASSERT_EQ(space.TakePosted(source, tag), expected) << "step " << step;
      if (expected == nullptr) {
        messages.push_back(std::make_unique<Message>());
        messages.back()->source = source;
        messages.back()->tag = tag;
        space.AddUnexpected(messages.back().get());
        model.unexpected.push_back(messages.back().get());
      }
    } else if (!model.posted.empty()) {  // a cancel
      auto victim = model.posted.begin();
      std::advance(victim, below(static_cast<unsigned>(model.posted.size())));
      space.Withdraw(*victim);
      model.posted.erase(victim);
    }
    ASSERT_EQ(space.posted(), model.posted.size());
    ASSERT_EQ(space.Posted().size(), model.posted.size());
    ASSERT_EQ(space.unexpected(), model.unexpected.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MatchModel, testing::Range(1u, 41u));

TEST(MatchSpace, KeepsAHundredThousandMessagesFindable) {
  MatchSpace space;
  std::vector<Message> messages(100000);
  for (int i = 0; i < 100000; ++i) {
    messages[i].source = i % 7;
    messages[i].tag = i;
    space.AddUnexpected(&messages[i]);
  }
  for (int i = 99999; i >= 0; --i) {  // the worst order for a list
    Message* message = space.FindUnexpected(i % 7, i);
    ASSERT_EQ(message, &messages[i]);
    space.RemoveUnexpected(message);
  }
  EXPECT_EQ(space.unexpected(), 0u);
}

}  // namespace
}  // namespace lamina::p2p
