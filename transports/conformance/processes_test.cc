// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the contract of transport.h between real processes: traffic among many, sleeping and
// being
//         woken, memory of another process, and the death of a peer.
// Method: forked processes that exchange addresses through their parent and make their transports
//         after the fork. Schedules are random with a printed seed; whatever must happen has a time
//         limit, and a wake that got lost shows as a sleep that lasted.
#include "transports/conformance/processes.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <map>
#include <random>

#include "transports/conformance/node.h"

namespace lamina::conformance {
namespace {

class Processes : public testing::TestWithParam<Configuration> {
 protected:
  // Each process has a node that is connected to all others.
  void Run(std::uint32_t count, const std::function<void(Member&, Node&)>& body) {
    RunUnderExceptions(GetParam(), [&] {
      RunProcesses(count, [&](Member& member) {
        Node node(GetParam(), member.rank(), member.count());
        ASSERT_TRUE(node.ok());
        const std::vector<Bytes> addresses = member.Exchange(node.Address());
        for (std::uint32_t peer = 0; peer < member.count(); ++peer) {
          if (peer == member.rank()) continue;
          const Status status = node.Connect(peer, addresses[peer]);
          ASSERT_TRUE(status.ok()) << status.message();
        }
        member.Barrier();
        body(member, node);
      });
    });
  }

  static bool End(Member& member, Node& node) {
    const bool drained = node.PollUntil([&] { return node.transport().Drained(); });
    member.Barrier();
    return drained;
  }

  static void AllToAll(Member& member, Node& node) {
    constexpr std::uint64_t kFrames = 150;
    std::mt19937 random(1000 + member.rank());
    std::uint64_t to_send = kFrames;
    const auto all_arrived = [&] {
      for (std::uint32_t peer = 0; peer < member.count(); ++peer)
        if (peer != member.rank() && node.inbox().arrived[PeerId{peer}] < kFrames) return false;
      return true;
    };
    for (; to_send > 0; --to_send)
      for (std::uint32_t peer = 0; peer < member.count(); ++peer) {
        if (peer == member.rank()) continue;
        const std::size_t largest = node.to(peer).caps().short_bytes_max;
        const std::size_t bytes = random() % 10 == 0 ? random() % (largest + 1) : random() % 80;
        ASSERT_EQ(node.Send(peer, bytes, [] { sched_yield(); }), Code::kOk);
      }
    EXPECT_TRUE(node.SleepUntil(all_arrived));
    EXPECT_TRUE(End(member, node));
    EXPECT_TRUE(node.inbox().lost.empty());
  }
};

// One process a CPU, so that they really run at the same time: the scheduler likes to put a sleeper
// beside its waker, where no race is possible.
void SpreadOut(const Member& member) {
  cpu_set_t allowed, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int nth = static_cast<int>(member.rank()) % CPU_COUNT(&allowed);
  int cpu = 0;
  for (; !CPU_ISSET(cpu, &allowed) || nth > 0; ++cpu) nth -= CPU_ISSET(cpu, &allowed) ? 1 : 0;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

TEST_P(Processes, TwoTalk) { Run(2, AllToAll); }
TEST_P(Processes, FourTalk) { Run(4, AllToAll); }
TEST_P(Processes, EightTalk) { Run(8, AllToAll); }

// One side asks and lies down at once; the other polls and answers after a random moment, so that
// the answer comes just before, while and after the sleeper lies down. They take turns at it.
TEST_P(Processes, NoWakeIsLost) {
  Run(2, [](Member& member, Node& node) {
    constexpr std::uint64_t kRounds = 5000;
    SpreadOut(member);
    const PeerId peer{1 - member.rank()};
    std::mt19937 random(4711);
    std::atomic<unsigned> spins{0};
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      const auto arrived = [&] { return node.inbox().arrived[peer] >= round; };
      if (round / 500 % 2 == member.rank()) {
        ASSERT_EQ(node.Send(Index(peer), 8), Code::kOk);
        ASSERT_TRUE(node.SleepUntil(arrived)) << "round " << round;
        ASSERT_LT(node.longest_sleep, milliseconds(3000)) << "a wake was lost, round " << round;
      } else {
        ASSERT_TRUE(node.PollUntil(arrived)) << "round " << round;
        for (unsigned delay = random() % 256; delay > 0; --delay) ++spins;
        ASSERT_EQ(node.Send(Index(peer), 8), Code::kOk);
      }
    }
    EXPECT_TRUE(End(member, node));
  });
}

// One sends bursts of four frames; the other takes three and arms its bell while the fourth is on
// its way. If arming was granted, the bell must ring. Nobody has to sleep for that, so there can be
// many rounds; and the sender has just read the bell, so that nothing holds up its last look at it.
// Where others use the same CPUs a round can cost both a time slice: the receiver ends it in time.
struct Race {
  alignas(128) std::atomic<std::uint64_t> started;
  alignas(128) std::atomic<std::uint64_t> sent;
};

bool Reaches(const std::atomic<std::uint64_t>& counter, std::uint64_t value) {
  const auto deadline = Clock::now() + kPatience;
  for (unsigned polls = 0; counter.load() < value; ++polls) {
    if (polls % 1024 == 1023) {
      sched_yield();
      if (Clock::now() > deadline) return false;
    }
  }
  return true;
}

TEST_P(Processes, ABellThatWasArmedRings) {
  void* const shared =
      mmap(nullptr, sizeof(Race), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Run(2, [shared](Member& member, Node& node) {
    Race& race = *static_cast<Race*>(shared);
    constexpr std::uint64_t kRounds = 100000;
    constexpr std::uint64_t kEnded = kRounds + 1;
    const auto enough = Clock::now() + std::chrono::seconds(10);
    SpreadOut(member);
    std::mt19937 random(17 + member.rank());
    std::atomic<unsigned> spins{0};
    const auto wait = [&](unsigned most) {
      for (unsigned i = random() % most; i > 0; --i) spins.store(i, std::memory_order_relaxed);
    };
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      if (member.rank() == 0) {
        ASSERT_TRUE(Reaches(race.started, round));
        if (race.started.load() == kEnded) break;
        for (int frame = 0; frame < 4; ++frame) {
          Code code;
          while ((code = node.TrySend(1, 8)) == Code::kAgain) continue;
          ASSERT_EQ(code, Code::kOk);
          wait(8);
        }
        race.sent.store(round);
        continue;
      }
      if (Clock::now() > enough) {
        race.started.store(kEnded);
        break;
      }
      std::uint64_t& arrived = node.inbox().arrived[PeerId{0}];
      race.started.store(round);
      ASSERT_TRUE(node.PollUntil([&] { return arrived >= round * 4 - 1; })) << "round " << round;
      wait(32);
      transport::Bell bell;
      if (arrived < round * 4 &&
          node.transport().Arm(GetParam().descriptor_sleep, &bell) == Code::kOk) {
        ASSERT_TRUE(Reaches(race.sent, round));
        ASSERT_TRUE(node.WaitFor(bell, milliseconds(3000))) << "a wake was lost, round " << round;
        node.transport().Disarm();
      }
      ASSERT_TRUE(node.PollUntil([&] { return arrived == round * 4; })) << "round " << round;
    }
    EXPECT_TRUE(End(member, node));
  });
  munmap(shared, sizeof(Race));
}

TEST_P(Processes, ManyWakeOne) {
  Run(4, [](Member& member, Node& node) {
    constexpr std::uint64_t kRounds = 2000;
    SpreadOut(member);
    std::mt19937 random(99 + member.rank());
    std::atomic<unsigned> spins{0};
    if (member.rank() == 0) {
      node.inbox().on_arrival = [&](PeerId from) {
        EXPECT_EQ(node.TrySend(Index(from), 8), Code::kOk);  // at most one is out for each
      };
      const auto all = [&] {
        for (std::uint32_t peer = 1; peer < 4; ++peer)
          if (node.inbox().arrived[PeerId{peer}] < kRounds) return false;
        return true;
      };
      EXPECT_TRUE(node.SleepUntil(all));
    } else {
      for (std::uint64_t round = 1; round <= kRounds; ++round) {
        for (unsigned delay = random() % 1024; delay > 0; --delay) ++spins;
        ASSERT_EQ(node.Send(0, 8), Code::kOk);
        ASSERT_TRUE(node.SleepUntil([&] { return node.inbox().arrived[PeerId{0}] >= round; }));
      }
    }
    EXPECT_LT(node.longest_sleep, milliseconds(3000)) << "a wake was lost";
    EXPECT_TRUE(End(member, node));
  });
}

TEST_P(Processes, GetReadsAnotherProcess) {
  Run(2, [](Member& member, Node& node) {
    constexpr std::size_t kBytes = 3u << 20;
    const Bytes source = PatternOf(member.rank() + 1, kBytes);
    const std::uint64_t mine = reinterpret_cast<std::uintptr_t>(source.data());
    Bytes blob(sizeof mine);
    std::memcpy(blob.data(), &mine, sizeof mine);
    const std::uint32_t peer = 1 - member.rank();
    std::uint64_t address = 0;
    std::memcpy(&address, member.Exchange(blob)[peer].data(), sizeof address);
    if (GetParam().get) {
      ASSERT_GT(node.to(peer).caps().get_bytes_max, 0u);
      Bytes into(kBytes);
      transport::Completion done{
          [](transport::Completion*, Code code) { EXPECT_EQ(code, Code::kOk); }};
      EXPECT_EQ(node.to(peer).Get({address, kBytes}, 0, into, &done), Code::kOk);
      EXPECT_EQ(into, PatternOf(peer + 1, kBytes));
      EXPECT_NE(node.to(peer).Get({16, kBytes}, 0, into, &done), Code::kOk) << "no such memory";
    } else {
      EXPECT_EQ(node.to(peer).caps().get_bytes_max, 0u);
    }
    member.Barrier();
  });
}

// The owner turns its progress and may copy its part, at any moment of the transfer or too late.
TEST_P(Processes, GetIsRightWhileTheOwnerProgresses) {
  Run(2, [](Member& member, Node& node) {
    if (!GetParam().get) return;
    SpreadOut(member);
    constexpr std::size_t kBytesMax = (2u << 20) + 4321;
    const Bytes source = PatternOf(5, kBytesMax);
    const std::uint64_t mine = reinterpret_cast<std::uintptr_t>(source.data());
    Bytes blob(sizeof mine);
    std::memcpy(blob.data(), &mine, sizeof mine);
    std::uint64_t address = 0;
    std::memcpy(&address, member.Exchange(blob)[1].data(), sizeof address);
    constexpr int kRounds = 100;
    if (member.rank() == 1) {
      EXPECT_TRUE(node.PollUntil([&] { return node.inbox().arrived[PeerId{0}] == kRounds; }));
      return;
    }
    std::mt19937 random(31);
    transport::Completion done{[](transport::Completion*, Code) {}};
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t at = random() % 5000, bytes = random() % (kBytesMax - at);
      Bytes into(bytes + 1);
      const std::span<std::byte> part(into.data(), bytes);
      ASSERT_EQ(node.to(1).Get({address, kBytesMax}, at, part, &done), Code::kOk);
      ASSERT_EQ(std::memcmp(into.data(), source.data() + at, bytes), 0) << at << " " << bytes;
      ASSERT_EQ(into[bytes], std::byte{0}) << "written behind the end";
      ASSERT_EQ(node.Send(1, 8), Code::kOk);
    }
  });
}

TEST_P(Processes, APeerThatDoesNotReadHoldsUpNobodyForEver) {
  Run(2, [](Member& member, Node& node) {
    std::uint64_t sent = 0;
    if (member.rank() == 0) {
      Code code = Code::kOk;
      const std::size_t bytes = node.to(1).caps().short_bytes_max;
      while (sent < 100000 && (code = node.TrySend(1, bytes)) == Code::kOk) ++sent;
      EXPECT_EQ(code, Code::kAgain);
    }
    Bytes blob(sizeof sent);
    std::memcpy(blob.data(), &sent, sizeof sent);
    std::memcpy(&sent, member.Exchange(blob)[0].data(), sizeof sent);
    if (member.rank() == 1) {
      EXPECT_TRUE(node.SleepUntil([&] { return node.inbox().arrived[PeerId{0}] == sent; }));
    }
    EXPECT_TRUE(End(member, node));
  });
}

// What one peer is slow to read is no business of another, who has read all and computes.
TEST_P(Processes, DrainingNeedsNobodyWhoHasReadAll) {
  Run(3, [](Member& member, Node& node) {
    transport::Transport& transport = node.transport();
    std::uint64_t sent = 0;
    if (member.rank() == 0) {
      ASSERT_EQ(node.Send(1, 8), Code::kOk);
      ASSERT_EQ(node.Send(2, 8), Code::kOk);
    } else {
      ASSERT_TRUE(node.PollUntil([&] { return node.inbox().arrived[PeerId{0}] == 1; }));
    }
    member.Barrier();
    if (member.rank() == 0) {
      const std::size_t bytes = node.to(1).caps().short_bytes_max;
      while (node.sent(1) < 100000 && transport.Drained() && node.TrySend(1, bytes) == Code::kOk)
        continue;
      for (int i = 0; i < 100; ++i) transport.Progress(16);  // a question to all would leave now
      sent = node.sent(1);
    }
    Bytes blob(sizeof sent);
    std::memcpy(blob.data(), &sent, sizeof sent);
    std::memcpy(&sent, member.Exchange(blob)[0].data(), sizeof sent);
    if (member.rank() == 0) {
      EXPECT_TRUE(node.PollUntil([&] { return transport.Drained(); }));
    } else if (member.rank() == 1) {
      EXPECT_TRUE(node.PollUntil([&] { return node.inbox().arrived[PeerId{0}] == sent; }));
    }
    member.Barrier();
  });
}

TEST_P(Processes, ASenderNoticesThatItsPeerWasKilled) {
  Run(2, [](Member& member, Node& node) {
    if (member.rank() == 1) {
      EXPECT_EQ(node.Send(0, 8), Code::kOk);
      EXPECT_TRUE(node.SleepUntil([&] { return node.inbox().arrived[PeerId{0}] >= 1; }));
      raise(SIGKILL);
    }
    ASSERT_EQ(node.Send(1, 8), Code::kOk);
    const auto begin = Clock::now();
    Code code = Code::kOk;
    while ((code == Code::kOk || code == Code::kAgain) && Clock::now() - begin < kPatience) {
      code = node.TrySend(1, 64);
      node.transport().Progress(16);
    }
    EXPECT_EQ(code, Code::kPeerLost);
    EXPECT_TRUE(node.PollUntil([&] { return node.inbox().lost.count(PeerId{1}) == 1; }));
    EXPECT_LT(Clock::now() - begin, milliseconds(10000));
    EXPECT_EQ(node.TrySend(1, 64), Code::kPeerLost) << "and so it stays";
  });
}

TEST_P(Processes, ASleeperNoticesThatItsPeerWasKilledAndGetsItsLastFrames) {
  Run(2, [](Member& member, Node& node) {
    if (member.rank() == 1) {
      for (int i = 0; i < 10; ++i) EXPECT_EQ(node.Send(0, 8), Code::kOk);
      EXPECT_TRUE(node.SleepUntil([&] { return node.inbox().arrived[PeerId{0}] >= 1; }));
      raise(SIGKILL);
    }
    ASSERT_EQ(node.Send(1, 8), Code::kOk);
    const auto begin = Clock::now();
    while (node.inbox().lost.empty() && Clock::now() - begin < kPatience)
      if (node.transport().Progress(16) == 0) node.SleepOnce(milliseconds(200));
    EXPECT_EQ(node.inbox().lost.count(PeerId{1}), 1u);
    EXPECT_LT(Clock::now() - begin, milliseconds(10000));
    EXPECT_EQ(node.inbox().arrived[PeerId{1}], 10u);
  });
}

// Neither he who lent it waits for ever, nor he who wants to fetch it.
TEST_P(Processes, WhoIsKilledOverAParcelIsNoticed) {
  Run(2, [](Member& member, Node& node) {
    if (!GetParam().zero_copy) return;
    constexpr std::size_t kBytes = 8u << 20;
    struct Told : transport::Completion {
      Code code = Code::kAgain;
    } told;
    told.done = [](transport::Completion* self, Code code) {
      static_cast<Told*>(self)->code = code;
    };
    const std::uint32_t peer = 1 - member.rank();
    node.inbox().keep = true;
    const Bytes payload = node.Next(peer, kBytes);
    const transport::Frame frame{{{1, kBytes}}, payload};
    Code code;
    while ((code = node.to(peer).SendZeroCopy(frame, &told)) == Code::kAgain)
      node.transport().Progress(16);
    ASSERT_EQ(code, Code::kOk);
    EXPECT_TRUE(node.PollUntil([&] { return node.inbox().offered == 1; }));
    if (member.rank() == 1) {
      EXPECT_EQ(node.Send(0, 8), Code::kOk);
      EXPECT_TRUE(node.PollUntil([&] { return node.inbox().arrived[PeerId{0}] == 2; }));
      raise(SIGKILL);
    }
    EXPECT_TRUE(node.PollUntil([&] { return node.inbox().arrived[PeerId{1}] == 2; }));
    EXPECT_EQ(node.Send(1, 8), Code::kOk);
    EXPECT_TRUE(node.PollUntil([&] { return node.inbox().lost.count(PeerId{1}) == 1; }));
    EXPECT_TRUE(node.PollUntil([&] { return told.code == Code::kPeerLost; }));
    node.inbox().AcceptKept();
    EXPECT_TRUE(node.PollUntil([&] { return node.inbox().failed == 1; }));
  });
}

TEST_P(Processes, ConnectingToTheDeadFails) {
  RunUnderExceptions(GetParam(), [&] {
    RunProcesses(2, [&](Member& member) {
      Node node(GetParam(), member.rank(), 2);
      ASSERT_TRUE(node.ok());
      const Bytes address = member.Exchange(node.Address())[1];
      if (member.rank() == 1) raise(SIGKILL);
      const auto begin = Clock::now();
      Status status;
      // Dying takes a moment; until then it is a peer that does not look after its rings.
      while ((status = node.Connect(1, address)).code() != Code::kPeerLost &&
             Clock::now() - begin < kPatience) {
        node.Disconnect(1);
        sched_yield();
      }
      EXPECT_EQ(status.code(), Code::kPeerLost) << status.message();
    });
  });
}

// Rounds of fresh transports, all of whose connections are made at once. Some begin, towards
// everybody; the others connect to whom they hear of, from inside the Inbox, as an engine does that
// answers an offer. In half of the rounds a third of them does not progress until what the others
// had to say has been accepted, or has found no room for a while.
TEST_P(Processes, FirstConnectionsAtOnce) {
  using Counter = std::atomic<std::uint32_t>;
  void* const shared =
      mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  RunUnderExceptions(GetParam(), [shared] {
    RunProcesses(6, [shared](Member& member) {
      Counter& drained = *static_cast<Counter*>(shared);
      constexpr std::uint64_t kFrames = 6;
      constexpr std::uint32_t kRounds = 12;
      for (std::uint32_t round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
        const auto begins = [&](std::uint32_t rank) { return (rank + round) % 3 != 0; };
        const bool slow = round % 2 == 1 && member.rank() % 3 == round / 2 % 3;
        Node node(GetParam(), member.rank(), member.count());
        const std::vector<Bytes> addresses = member.Exchange(node.Address());
        if (std::any_of(addresses.begin(), addresses.end(),
                        [](const Bytes& one) { return one.empty(); }))
          return;                                       // somebody has died, which is noticed
        std::map<std::uint32_t, std::uint64_t> unsent;  // by peer connected to
        const auto connect = [&](std::uint32_t peer) {
          const Status status = node.Connect(peer, addresses[peer]);
          EXPECT_TRUE(status.ok()) << status.message();
          unsent[peer] = kFrames;
        };
        const auto send_to = [&](std::uint32_t peer) {
          const std::size_t largest = node.to(peer).caps().short_bytes_max;
          const Code code =
              node.TrySend(peer, unsent[peer] % 2 == 0 ? 8 : std::min<std::size_t>(largest, 3000));
          EXPECT_TRUE(code == Code::kOk || code == Code::kAgain) << "to " << peer;
          unsent[peer] -= code == Code::kOk ? 1 : 0;
        };
        node.inbox().on_arrival = [&](PeerId from) {
          if (unsent.count(Index(from)) == 0) connect(Index(from));
          if (unsent[Index(from)] > 0) send_to(Index(from));
        };
        const auto all_sent = [&] {
          for (auto& [peer, frames] : unsent)
            if (frames > 0) send_to(peer);
          return std::all_of(unsent.begin(), unsent.end(),
                             [](const auto& one) { return one.second == 0; });
        };
        const auto all_done = [&] {
          bool done = all_sent();
          for (std::uint32_t peer = 0; peer < member.count(); ++peer)
            if (peer != member.rank() && (begins(peer) || begins(member.rank())))
              done = done && node.inbox().arrived[PeerId{peer}] == kFrames;
          return done;
        };
        if (begins(member.rank()))
          for (std::uint32_t ahead = 1; ahead < member.count(); ++ahead)
            connect((member.rank() + ahead) % member.count());
        if (!slow) node.PollUntil(all_sent, milliseconds(300));
        if (round % 2 == 1) member.Barrier();
        EXPECT_TRUE(node.PollUntil(all_done)) << "round " << round;
        EXPECT_TRUE(node.inbox().lost.empty())
            << "round " << round << ": " << node.inbox().lost.begin()->second;
        EXPECT_TRUE(node.PollUntil([&] { return node.transport().Drained(); }));
        ++drained;  // which may need all others to progress
        EXPECT_TRUE(node.PollUntil([&] { return drained >= (round + 1) * member.count(); }));
      }
    });
  });
  munmap(shared, sizeof(Counter));
}

INSTANTIATE_TEST_SUITE_P(All, Processes, testing::ValuesIn(ConfigurationsBetweenProcesses()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace lamina::conformance
