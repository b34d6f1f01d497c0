// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every transport keeps the contract of transport.h, as shipped and with its fast ways
// shut. Method: two transports in this process (one, for self), which need no second process to
// meet all
//         of their own code. Frames carry their number and a payload that follows from it; the
//         inbox checks order and content. What needs real processes is in processes_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "transports/conformance/node.h"

namespace lamina::conformance {
namespace {

constexpr PeerId kA{0};
constexpr PeerId kB{1};

class Conformance : public testing::TestWithParam<Configuration> {
 protected:
  // Node a sends to node b; for self they are one.
  struct Pair {
    explicit Pair(const Configuration& configuration) : a(configuration, 0, 2) {
      if (configuration.other_processes) other.emplace(configuration, 1, 2);
    }
    Node& b() { return other ? *other : a; }
    bool Connect() {
      if (!a.ok() || !b().ok()) return false;
      Status status = a.Connect(to(), b().Address());
      if (status.ok() && other) status = b().Connect(0, a.Address());
      EXPECT_TRUE(status.ok()) << status.message();
      return status.ok();
    }
    std::uint32_t to() const { return other ? 1 : 0; }
    std::uint64_t arrived() { return b().inbox().arrived[kA]; }
    void Progress() {
      a.transport().Progress(16);
      if (other) b().transport().Progress(16);
    }
    bool ProgressUntil(const std::function<bool()>& done) {
      const auto deadline = Clock::now() + kPatience;
      while (!done() && Clock::now() < deadline) Progress();
      return done();
    }
    Code Send(std::size_t bytes) {
      return a.Send(to(), bytes, [this] { Progress(); });
    }
    Code Lend(std::span<const std::byte> payload, transport::Completion* done) {
      Code code;
      const transport::Header header{{a.sent(to()), payload.size()}};
      while ((code = a.to(to()).SendZeroCopy({header, payload}, done)) == Code::kAgain) Progress();
      return code;
    }
    Node a;
    std::optional<Node> other;
  };

  void Run(const std::function<void(Pair&)>& body) {
    RunUnderExceptions(GetParam(), [&] {
      Pair pair(GetParam());
      ASSERT_TRUE(pair.Connect());
      body(pair);
    });
  }
};

TEST_P(Conformance, CapsAreHonest) {
  Run([](Pair& pair) {
    const transport::EndpointCaps caps = pair.a.to(pair.to()).caps();
    EXPECT_GE(caps.short_bytes_max, 256u);
    EXPECT_LE(caps.eager_bytes_max, caps.short_bytes_max);
    EXPECT_EQ(caps.get_bytes_max > 0, GetParam().get);
    EXPECT_EQ(caps.zero_copy_bytes_max > 0, GetParam().zero_copy);
  });
}

TEST_P(Conformance, FramesOfEverySizeArriveInOrderAndIntact) {
  Run([](Pair& pair) {
    const std::size_t largest = pair.a.to(pair.to()).caps().short_bytes_max;
    std::uint64_t sent = 0;
    for (std::size_t bytes = 0; bytes <= std::min<std::size_t>(largest, 300); ++bytes, ++sent)
      ASSERT_EQ(pair.Send(bytes), Code::kOk);
    for (std::size_t bytes = 512; bytes <= largest; bytes *= 2)
      for (std::size_t exactly : {bytes - 1, bytes, std::min(bytes + 1, largest)}) {
        ASSERT_EQ(pair.Send(exactly), Code::kOk);
        ++sent;
      }
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == sent; }));
    EXPECT_LE(pair.b().inbox().identified, 1u);
  });
}

TEST_P(Conformance, RandomSizesSurviveManyTurnsOfTheRings) {
  Run([](Pair& pair) {
    const std::size_t largest = pair.a.to(pair.to()).caps().short_bytes_max;
    std::mt19937 random(20011);
    for (int i = 0; i < 4000; ++i) {
      const std::size_t bytes = random() % 8 == 0 ? random() % (largest + 1) : random() % 100;
      ASSERT_EQ(pair.Send(std::min(bytes, largest)), Code::kOk);
      if (random() % 16 == 0) pair.Progress();
    }
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == 4000; }));
  });
}

TEST_P(Conformance, AFullWayPushesBackAndRecovers) {
  Run([](Pair& pair) {
    const std::size_t bytes = pair.a.to(pair.to()).caps().short_bytes_max;
    std::uint64_t sent = 1;
    Code code = pair.Send(bytes);
    for (int i = 0; i < 200000 && (code = pair.a.TrySend(pair.to(), bytes)) == Code::kOk; ++i)
      ++sent;
    EXPECT_EQ(code, Code::kAgain) << "bounded memory means that somebody must wait";
    ASSERT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == sent; }));
    for (int i = 0; i < 50; ++i) ASSERT_EQ(pair.Send(8), Code::kOk);
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == sent + 50; }));
  });
}

TEST_P(Conformance, ProgressIsBounded) {
  Run([](Pair& pair) {
    if (GetParam().zero_copy) return;  // bounded by events of the device, not by frames
    std::uint64_t sent = 0;
    while (sent < 40 && pair.a.TrySend(pair.to(), 8) == Code::kOk) ++sent;
    ASSERT_GE(sent, 2u);
    EXPECT_EQ(pair.b().transport().Progress(0), 0u);
    EXPECT_EQ(pair.b().transport().Progress(1), 1u);
    EXPECT_EQ(pair.arrived(), 1u);
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == sent; }));
    EXPECT_EQ(pair.b().transport().Progress(16), 0u);
  });
}

TEST_P(Conformance, AReceiverMaySendAndProgressFromInside) {
  Run([](Pair& pair) {
    int answers = 0;
    pair.b().inbox().on_arrival = [&](PeerId) {
      EXPECT_EQ(pair.b().transport().Progress(16), 0u) << "no frame may overtake this one";
      if (answers < 10 && pair.b().TrySend(0, 100) == Code::kOk) ++answers;
    };
    for (int i = 0; i < 20; ++i) ASSERT_EQ(pair.Send(100), Code::kOk);
    const auto enough = [&] {
      return answers == 10 && pair.a.inbox().arrived[pair.other ? kB : kA] >= 10u;
    };
    EXPECT_TRUE(pair.ProgressUntil(enough));
    const std::uint64_t at_b = pair.other ? 20 : 30;
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == at_b; }));
  });
}

TEST_P(Conformance, AReceiverMayConnectFromInside) {
  RunUnderExceptions(GetParam(), [&] {
    Pair pair(GetParam());
    if (!pair.other) return;
    ASSERT_TRUE(pair.a.ok() && pair.b().ok());
    ASSERT_TRUE(pair.a.Connect(1, pair.b().Address()).ok());
    ASSERT_EQ(pair.Send(100), Code::kOk);
    ASSERT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == 1; }));
    std::uint64_t sent = 1;  // more than one lies there when the first is delivered
    while (sent < 20 && pair.a.TrySend(1, 100) == Code::kOk) ++sent;
    ASSERT_GE(sent, 3u);
    bool connected = false;
    pair.b().inbox().on_arrival = [&](PeerId) {
      if (!std::exchange(connected, true)) {
        EXPECT_TRUE(pair.b().Connect(0, pair.a.Address()).ok());
      }
    };
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == sent; }));
    ASSERT_TRUE(connected);
    EXPECT_EQ(pair.b().Send(0, 100, [&] { pair.Progress(); }), Code::kOk);
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.a.inbox().arrived[kB] == 1; }));
  });
}

TEST_P(Conformance, GetFetchesEveryPartOfARegion) {
  Run([](Pair& pair) {
    if (!GetParam().get) {
      EXPECT_EQ(pair.a.to(pair.to()).caps().get_bytes_max, 0u);
      return;
    }
    constexpr std::size_t kBytes = 8u << 20;
    const std::vector<std::byte> source = PatternOf(1, kBytes);
    std::vector<std::byte> into(kBytes);
    const transport::Region region{reinterpret_cast<std::uintptr_t>(source.data()), kBytes};
    struct Told : transport::Completion {
      int times = 0;
      Code code = Code::kAgain;
    } told;
    told.done = [](transport::Completion* self, Code code) {
      ++static_cast<Told*>(self)->times;
      static_cast<Told*>(self)->code = code;
    };
    int gets = 0;
    for (std::size_t bytes : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, std::size_t{65537},
                              std::size_t{1} << 20, kBytes})
      for (std::size_t offset : {std::size_t{0}, std::size_t{3}, kBytes - bytes}) {
        if (offset + bytes > kBytes) continue;
        std::fill(into.begin(), into.end(), std::byte{0});
        ASSERT_EQ(pair.a.to(pair.to()).Get(region, offset, {into.data(), bytes}, &told), Code::kOk);
        ASSERT_TRUE(pair.ProgressUntil([&] { return told.times == gets + 1; }));
        ++gets;
        EXPECT_EQ(told.code, Code::kOk);
        EXPECT_TRUE(std::equal(into.begin(), into.begin() + static_cast<std::ptrdiff_t>(bytes),
                               source.begin() + static_cast<std::ptrdiff_t>(offset)));
        EXPECT_TRUE(bytes == kBytes || into[bytes] == std::byte{0}) << "wrote too far";
      }
    EXPECT_EQ(pair.a.to(pair.to()).Get(region, kBytes - 1, {into.data(), 2}, &told),
              Code::kInvalid);
    EXPECT_EQ(told.times, gets) << "a refused Get completes nothing";
  });
}

// Counts what its owner is told.
struct Told : transport::Completion {
  Told()
      : Completion{[](Completion* self, Code code) {
          ++static_cast<Told*>(self)->times;
          EXPECT_EQ(code, Code::kOk);
        }} {}
  int times = 0;
};

TEST_P(Conformance, ZeroCopyIsFetchedAndTellsItsOwner) {
  Run([](Pair& pair) {
    if (!GetParam().zero_copy) return;
    Told told;
    for (std::size_t bytes : {std::size_t{1}, std::size_t{1000}, std::size_t{100000},
                              std::size_t{1} << 20, std::size_t{5} << 20}) {
      const std::vector<std::byte> payload = pair.a.Next(pair.to(), bytes);
      ASSERT_EQ(pair.Lend(payload, &told), Code::kOk);
      const std::uint64_t number = pair.a.sent(pair.to());
      ASSERT_TRUE(pair.ProgressUntil([&] {
        return told.times == static_cast<int>(number) && pair.b().inbox().fetched == number;
      })) << bytes;
    }
  });
}

TEST_P(Conformance, ZeroCopyKeepsItsPlaceInTheOrderAndMayWait) {
  Run([](Pair& pair) {
    if (!GetParam().zero_copy) return;
    constexpr std::size_t kBytes = 300000;
    constexpr std::uint64_t kParcels = 5;
    Told told;
    pair.b().inbox().keep = true;
    std::vector<std::vector<std::byte>> payloads;
    for (std::uint64_t i = 0; i < kParcels; ++i) {
      ASSERT_EQ(pair.Send(i % 2 == 0 ? 8 : 60000), Code::kOk);
      payloads.push_back(pair.a.Next(pair.to(), kBytes));
      ASSERT_EQ(pair.Lend(payloads.back(), &told), Code::kOk);
    }
    ASSERT_EQ(pair.Send(8), Code::kOk);
    ASSERT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == 2 * kParcels + 1; }));
    EXPECT_EQ(pair.b().inbox().offered, kParcels);
    EXPECT_EQ(told.times, 0) << "nobody has fetched anything";
    for (std::uint64_t i = 0; i < kParcels; ++i)
      i % 2 == 0 ? pair.b().inbox().AcceptKept() : pair.b().inbox().DropKept();
    EXPECT_TRUE(pair.ProgressUntil([&] { return told.times == kParcels; }));
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.b().inbox().fetched == 3; }));
  });
}

TEST_P(Conformance, DrainedComesTrueWhenAllHasLeft) {
  Run([](Pair& pair) {
    for (int i = 0; i < 10; ++i) ASSERT_EQ(pair.Send(200), Code::kOk);
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.a.transport().Drained(); }));
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == 10; }));
  });
}

TEST_P(Conformance, ArmRefusesWhileAFrameWaits) {
  Run([](Pair& pair) {
    if (GetParam().zero_copy) return;  // the frame may still be on its way
    ASSERT_EQ(pair.a.TrySend(pair.to(), 8), Code::kOk);
    transport::Bell bell;
    EXPECT_EQ(pair.b().transport().Arm(GetParam().descriptor_sleep, &bell), Code::kAgain);
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == 1; }));
    EXPECT_EQ(pair.b().transport().Arm(GetParam().descriptor_sleep, &bell), Code::kOk);
    pair.b().transport().Disarm();
  });
}

TEST_P(Conformance, WakeEndsASleepFromAnotherThread) {
  Run([](Pair& pair) {
    Node& sleeper = pair.b();
    for (int i = 0; i < 200; ++i) {
      while (pair.ProgressUntil([&] { return sleeper.transport().Progress(1) == 0; })) {
        transport::Bell bell;
        if (sleeper.transport().Arm(GetParam().descriptor_sleep, &bell) == Code::kOk) break;
      }
      sleeper.transport().Disarm();
      // The waker may come before, while and after the sleeper lies down; it repeats itself until
      // it hears that it worked.
      std::atomic<bool> awake{false};
      std::thread waker([&] {
        while (!awake.load()) {
          sleeper.transport().Wake();
          sched_yield();
        }
      });
      sleeper.SleepOnce(milliseconds(10000));
      awake.store(true);
      waker.join();
    }
    EXPECT_LT(sleeper.longest_sleep, milliseconds(5000));
    // Nothing of it may disturb what follows.
    ASSERT_EQ(pair.Send(8), Code::kOk);
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == 1; }));
  });
}

TEST_P(Conformance, DamagedAddressesAreRefused) {
  Run([](Pair& pair) {
    const std::vector<std::byte> good = pair.b().Address();
    std::mt19937 random(7);
    for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
      const Status status = pair.a.Connect(50, std::span(good).first(bytes));
      EXPECT_EQ(status.code(), Code::kInvalid) << "cut to " << bytes;
    }
    for (int i = 0; i < 200; ++i) {
      std::vector<std::byte> garbage(random() % 300);
      for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
      EXPECT_EQ(pair.a.Connect(50, garbage).code(), Code::kInvalid);
    }
    // One bit changed: any answer will do that is an answer.
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::vector<std::byte> bad = good;
      bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      const Status status = pair.a.Connect(50, bad);
      EXPECT_EQ(status.ok(), status.message().empty());
      pair.a.Disconnect(50);
    }
    ASSERT_EQ(pair.Send(8), Code::kOk);
    EXPECT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == 1; }));
  });
}

TEST_P(Conformance, AddressesOfOtherTransportsAreRefused) {
  Run([](Pair& pair) {
    for (const Configuration& other : AllConfigurations()) {
      if (other.describe().info.name == GetParam().describe().info.name) continue;
      Node stranger(other, 1, 2);
      ASSERT_TRUE(stranger.ok());
      const Status status = pair.a.Connect(51, stranger.Address());
      EXPECT_EQ(status.code(), Code::kInvalid) << other.name;
      EXPECT_FALSE(status.message().empty());
    }
  });
}

TEST_P(Conformance, AnEndpointMayBeClosedAndOpenedAgain) {
  Run([](Pair& pair) {
    std::uint64_t sent = 0;
    for (int i = 0; i < 200; ++i) {
      ASSERT_EQ(pair.Send(300 % (pair.a.to(pair.to()).caps().short_bytes_max + 1)), Code::kOk);
      ++sent;
      if (GetParam().zero_copy && i >= 5) break;
      pair.a.Disconnect(pair.to());
      ASSERT_TRUE(pair.a.Connect(pair.to(), pair.b().Address()).ok());
      ASSERT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == sent; })) << "turn " << i;
    }
  });
}

TEST_P(Conformance, ATransportThatEndsTellsNobody) {
  Run([](Pair& pair) {
    if (!pair.other) return;  // would have to read what it sends
    ASSERT_EQ(pair.Send(8), Code::kOk);
    ASSERT_TRUE(pair.ProgressUntil([&] { return pair.arrived() == 1; }));
    // b still has something to send, so that its end takes a while; and there is a frame to it.
    const std::size_t bytes = pair.b().to(0).caps().short_bytes_max;
    ASSERT_EQ(pair.b().Send(0, bytes, [&] { pair.Progress(); }), Code::kOk);
    for (int i = 0; i < 1000 && pair.b().TrySend(0, bytes) == Code::kOk; ++i) continue;
    ASSERT_EQ(pair.a.Send(1, 8), Code::kOk);
    ASSERT_TRUE(pair.a.PollUntil([&] { return pair.a.transport().Drained(); }));
    const CheckingInbox& inbox = pair.b().inbox();
    const std::uint64_t identified = inbox.identified;
    pair.b().End();
    EXPECT_EQ(pair.arrived(), 1u);
    EXPECT_EQ(inbox.identified, identified);
    EXPECT_TRUE(inbox.lost.empty());
  });
}

// A process that shares its CPU yields after every poll in vain.
TEST(SharedCpu, OnePollFindsAFrameFromAnyOfManyPeers) {
  constexpr std::uint32_t kPeers = 40;
  const std::vector<Configuration> all = AllConfigurations();
  Configuration shm = *std::find_if(all.begin(), all.end(),
                                    [](const Configuration& it) { return it.name == "shm"; });
  shm.sharing = Sharing::kShared;
  Node reader(shm, 0, kPeers + 1);
  std::vector<std::unique_ptr<Node>> peers;
  for (std::uint32_t id = 1; id <= kPeers; ++id) {
    peers.push_back(std::make_unique<Node>(shm, id, kPeers + 1));
    ASSERT_TRUE(peers.back()->ok());
    ASSERT_TRUE(peers.back()->Connect(0, reader.Address()).ok());
  }
  for (std::uint32_t i = 0; i < 4 * kPeers; ++i) {
    const std::uint32_t turn = i * 17 % kPeers;
    ASSERT_EQ(peers[turn]->TrySend(0, 8), Code::kOk);
    ASSERT_EQ(reader.transport().Progress(16), 1u) << "frame " << i << ", from peer " << turn + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Conformance, testing::ValuesIn(AllConfigurations()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lamina::conformance
