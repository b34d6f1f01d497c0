// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a transport that reaches memory of its peers keeps the contract of one_sided.h, and those
//         that do not say so.
// Method: two transports in this process: random puts and gets against a model; moves that lie
//         outside, keys that are damaged. Two processes, of which the one that owns the memory
//         sleeps meanwhile.
#include "transports/one_sided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "transports/conformance/node.h"
#include "transports/conformance/processes.h"

namespace lamina::conformance {
namespace {

struct Counted : transport::Completion {
  Counted() { done = Ended; }
  static void Ended(transport::Completion* self, Code code) {
    auto* const it = static_cast<Counted*>(self);
    ++it->ended;
    it->last = code;
  }
  int ended = 0;
  Code last = Code::kOk;
};

// Begins a move and progresses until it is accepted; both processes may have to.
template <class Move, class Progress>
Code Begin(const Move& move, const Progress& progress) {
  const auto deadline = Clock::now() + kPatience;
  Code code;
  while ((code = move()) == Code::kAgain && Clock::now() < deadline) progress();
  return code;
}

class OneSided : public testing::TestWithParam<Configuration> {
 protected:
  void SetUp() override {
    for (const std::uint32_t id : {0u, 1u})
      nodes_.push_back(std::make_unique<Node>(GetParam(), id, 2));
    if (!GetParam().other_processes) return;
    ASSERT_TRUE(A().Connect(1, B().Address()).ok());
    ASSERT_TRUE(B().Connect(0, A().Address()).ok());
  }
  Node& A() { return *nodes_[0]; }
  Node& B() { return *nodes_[1]; }
  void Progress() {
    A().transport().Progress(16);
    B().transport().Progress(16);
  }
  bool ProgressUntil(const std::function<bool()>& done) {
    const auto deadline = Clock::now() + kPatience;
    while (!done() && Clock::now() < deadline) Progress();
    return done();
  }

  std::vector<std::unique_ptr<Node>> nodes_;
};

TEST_P(OneSided, IsThereWhereTheConfigurationSaysSo) {
  if (!GetParam().other_processes) {
    ASSERT_TRUE(A().Connect(0, A().Address()).ok());
    EXPECT_EQ(A().to(0).one_sided(), nullptr);
  } else {
    EXPECT_EQ(A().to(1).one_sided() != nullptr, GetParam().one_sided);
  }
}

TEST_P(OneSided, MovesWhatAModelMoves) {
  if (!GetParam().one_sided) GTEST_SKIP() << "it reaches no memory";
  constexpr std::size_t kBytes = 300000;
  std::vector<std::byte> memory(kBytes), model(kBytes), data(kBytes), got(kBytes);
  auto exposed = B().to(0).one_sided()->Expose(memory);
  ASSERT_TRUE(exposed.ok()) << exposed.status().message();
  auto remote = A().to(1).one_sided()->Open((*exposed)->key());
  ASSERT_TRUE(remote.ok()) << remote.status().message();
  EXPECT_EQ((*remote)->bytes(), kBytes);
  std::minstd_rand random(5);
  for (int round = 0; round < 60; ++round) {
    Counted put, flushed, fetched;
    int puts = 0;
    for (; puts < 20; ++puts) {
      const std::size_t bytes = round % 7 == 0 ? kBytes / 20 : 1 + random() % 300;
      // Puts that overlap have no order, so each has a place of its own.
      const std::size_t at = static_cast<std::size_t>(puts) * (kBytes / 20);
      for (std::size_t i = 0; i < bytes; ++i)
        model[at + i] = data[at + i] = static_cast<std::byte>(random());
      ASSERT_EQ(Begin(
                    [&] {
                      return (*remote)->Put(at, {data.data() + at, bytes}, &put);
                    },
                    [this] { Progress(); }),
                Code::kOk);
    }
    ASSERT_EQ(Begin([&] { return (*remote)->Flush(&flushed); }, [this] { Progress(); }), Code::kOk);
    ASSERT_TRUE(ProgressUntil([&] { return flushed.ended == 1 && put.ended == puts; }));
    EXPECT_EQ(flushed.last, Code::kOk);
    ASSERT_EQ(memory, model);
    const std::size_t at = random() % kBytes, bytes = 1 + random() % (kBytes - at);
    std::fill(got.begin(), got.end(), std::byte{0});
    ASSERT_EQ(Begin(
                  [&] {
                    return (*remote)->Get(at, {got.data(), bytes}, &fetched);
                  },
                  [this] { Progress(); }),
              Code::kOk);
    ASSERT_TRUE(ProgressUntil([&] { return fetched.ended == 1; }));
    ASSERT_EQ(std::memcmp(got.data(), model.data() + at, bytes), 0);
  }
}

TEST_P(OneSided, RefusesWhatLiesOutside) {
  if (!GetParam().one_sided) GTEST_SKIP() << "it reaches no memory";
  std::vector<std::byte> memory(64), data(64);
  auto exposed = B().to(0).one_sided()->Expose(memory);
  ASSERT_TRUE(exposed.ok()) << exposed.status().message();
  auto remote = A().to(1).one_sided()->Open((*exposed)->key());
  ASSERT_TRUE(remote.ok()) << remote.status().message();
  Counted done;
  EXPECT_EQ((*remote)->Put(1, data, &done), Code::kInvalid);
  EXPECT_EQ((*remote)->Get(65, {data.data(), 1}, &done), Code::kInvalid);
  EXPECT_EQ((*remote)->Get(UINT64_MAX, {data.data(), 2}, &done), Code::kInvalid);
  EXPECT_EQ(done.ended, 0);
}

TEST_P(OneSided, RefusesKeysThatAreNone) {
  if (!GetParam().one_sided) GTEST_SKIP() << "it reaches no memory";
  std::vector<std::byte> memory(64);
  auto exposed = B().to(0).one_sided()->Expose(memory);
  ASSERT_TRUE(exposed.ok()) << exposed.status().message();
  const auto key = (*exposed)->key();
  transport::OneSided& device = *A().to(1).one_sided();
  EXPECT_EQ(device.Open({}).status().code(), Code::kInvalid);
  EXPECT_EQ(device.Open(key.first(key.size() - 1)).status().code(), Code::kInvalid);
  std::vector<std::byte> damaged(key.begin(), key.end());
  damaged[0] ^= std::byte{1};
  EXPECT_EQ(device.Open(damaged).status().code(), Code::kInvalid);
}

// Over TCP the owner has to wake up for each move.
TEST_P(OneSided, MemoryOfASleeperIsReached) {
  if (!GetParam().one_sided) GTEST_SKIP() << "it reaches no memory";
  nodes_.clear();
  RunProcesses(2, [](Member& member) {
    Node node(GetParam(), member.rank(), 2);
    const std::vector<Bytes> addresses = member.Exchange(node.Address());
    const std::uint32_t other = 1 - member.rank();
    ASSERT_TRUE(node.Connect(other, addresses[other]).ok());
    std::vector<std::byte> memory(5000);
    Result<std::unique_ptr<transport::Exposed>> exposed = Error(Code::kInternal, "not yet");
    Bytes key;
    if (member.rank() == 1) {
      exposed = node.to(0).one_sided()->Expose(memory);
      ASSERT_TRUE(exposed.ok()) << exposed.status().message();
      key.assign((*exposed)->key().begin(), (*exposed)->key().end());
    }
    const std::vector<Bytes> keys = member.Exchange(key);
    if (member.rank() == 1) {
      EXPECT_TRUE(node.SleepUntil([&] { return node.inbox().arrived[PeerId{0}] == 1; }));
      EXPECT_EQ(memory, PatternOf(3, memory.size()));
    } else {
      auto remote = node.to(1).one_sided()->Open(keys[1]);
      ASSERT_TRUE(remote.ok()) << remote.status().message();
      const std::vector<std::byte> data = PatternOf(3, 5000);
      Counted put, flushed;
      const auto progress = [&] { node.transport().Progress(16); };
      ASSERT_EQ(Begin([&] { return (*remote)->Put(0, data, &put); }, progress), Code::kOk);
      ASSERT_EQ(Begin([&] { return (*remote)->Flush(&flushed); }, progress), Code::kOk);
      EXPECT_TRUE(node.SleepUntil([&] { return flushed.ended == 1 && put.ended == 1; }));
      EXPECT_EQ(node.Send(1, 8), Code::kOk);
      EXPECT_TRUE(node.PollUntil([&] { return node.transport().Drained(); }));
    }
    member.Barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, OneSided, testing::ValuesIn(AllConfigurations()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace lamina::conformance
