// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every operation at a board does what the standard says, for any number of members, root,
//         length and layout, however far members run ahead of each other.
// Method: threads are the members. All of them draw the same random operations from one seed. The
//         data says where it comes from, so each member knows what it must find without asking.
//         A board with slots of a page makes pieces of almost everything, and one member dawdles.
#include "collectives/board/operations.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "collectives/board/memory.h"
#include "runtime/base/log.h"
#include "runtime/datatype/construct.h"

namespace lamina::collective::board {
namespace {

using datatype::Datatype;
using datatype::FindDatatype;
using Words = std::vector<std::uint32_t>;

// Threads have no process to put to sleep.
class Yielding final : public BoardWaiter {
 public:
  void Wait(const Expectation& expectation) override {
    while (!expectation.IsOver()) std::this_thread::yield();
  }
  void Wake(Rank) override { FAIL() << "nobody sleeps"; }
};

// Runs `member` on a thread for each of `ranks` members of one board.
void Play(Rank ranks, Sharing sharing, std::uint64_t area_bytes,
          const std::function<void(Participant&)>& member) {
  auto board = Board::Create(ranks, area_bytes, nullptr);
  ASSERT_TRUE(board.ok()) << board.status().message();
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Yielding waiter;
      Participant self(board->get(), rank, sharing, &waiter);
      (*board)->member(rank).pid.store(getpid());
      member(self);
    });
  for (std::thread& thread : threads) thread.join();
}

std::uint32_t Word(std::uint32_t serial, Rank from, Rank to, std::size_t index) {
  std::uint32_t word = serial * 0x9e3779b9u + static_cast<std::uint32_t>(from) * 0x85ebca6bu +
                       static_cast<std::uint32_t>(to) * 0xc2b2ae35u +
                       static_cast<std::uint32_t>(index) * 0x27d4eb2fu;
  return word ^ word >> 15;
}

// Data with holes: two integers of every three.
Datatype* Spread() {
  static Datatype* const type = [] {
    Datatype* made =
        datatype::MakeResized(0, 12, datatype::MakeVector(2, 1, 4, FindDatatype(MPI_UINT32_T)));
    datatype::Commit(made);
    return made;
  }();
  return type;
}

// Some words in memory, plain or spread.
class Field {
 public:
  Field(std::size_t count, bool spread)
      : spread_(spread && count % 2 == 0), memory_(spread_ ? count / 2 * 3 : count, kHole) {}
  std::uint32_t& operator[](std::size_t i) { return memory_[spread_ ? i / 2 * 3 + i % 2 : i]; }
  // Words [first, first + count).
  Buffer At(std::size_t first, std::size_t count) {
    const auto words = static_cast<std::int64_t>(count);
    if (!spread_) return {memory_.data() + first, words, FindDatatype(MPI_UINT32_T)};
    return {memory_.data() + first / 2 * 3, words / 2, Spread()};
  }
  bool HolesUntouched() const {
    for (std::size_t i = 2; spread_ && i < memory_.size(); i += 3)
      if (memory_[i] != kHole) return false;
    return true;
  }

 private:
  static constexpr std::uint32_t kHole = 0x5a5a5a5au;
  bool spread_;
  Words memory_;
};

// A word is a map x -> a x + b of half words. Doing one map after another does not commute.
std::uint64_t After(std::uint64_t first, std::uint64_t second) {
  const auto factor = [](std::uint64_t map) { return static_cast<std::uint32_t>(map >> 32); };
  const auto term = [](std::uint64_t map) { return static_cast<std::uint32_t>(map); };
  return std::uint64_t{factor(first) * factor(second)} << 32 |
         std::uint32_t{factor(second) * term(first) + term(second)};
}

void Compose(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) {
    std::uint64_t a, b;
    std::memcpy(&a, static_cast<std::byte*>(in) + i * 8, 8);
    std::memcpy(&b, static_cast<std::byte*>(inout) + i * 8, 8);
    const std::uint64_t both = After(a, b);
    std::memcpy(static_cast<std::byte*>(inout) + i * 8, &both, 8);
  }
}

// Random operations that all members do together.
class Script {
 public:
  Script(std::uint32_t seed, Rank ranks) : random_(seed), ranks_(ranks) {
    compose_.user = reinterpret_cast<void (*)()>(Compose);
    compose_.commutative = false;
  }

  void Step(Participant& self, std::uint32_t serial) {
    serial_ = serial;
    const auto kind = Draw(8);
    root_ = static_cast<Rank>(Draw(static_cast<std::uint32_t>(ranks_)));
    count_ = Length();
    spread_ = Draw(2) != 0;
    in_place_ = Draw(2) != 0;
    direct_ = Draw(2) != 0 && !self.denied();  // all threads are one process
    if (Draw(static_cast<std::uint32_t>(ranks_)) == static_cast<std::uint32_t>(self.rank()))
      for (int i = 0; i < 20; ++i) std::this_thread::yield();  // dawdles
    switch (kind) {
      case 0:
        ASSERT_TRUE(Barrier(self));
        break;
      case 1:
        return TryBcast(self);
      case 2:
        return TryAllgather(self);
      case 3:
        return TryGather(self);
      case 4:
        return TryScatter(self);
      case 5:
        return TryAlltoall(self);
      default:
        return TryReduction(self, kind == 6);
    }
  }

 private:
  std::uint32_t Draw(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  std::size_t Length() {
    switch (Draw(4)) {
      case 0:
        return 1 + Draw(16);
      case 1:
        return 1 + Draw(300);
      case 2:
        return 1 + Draw(3000);
      default:
        return 2 * (1 + Draw(100));
    }
  }

  void TryBcast(Participant& self) {
    Field data(count_, spread_ && self.rank() % 2 == 0);  // ranks describe it differently
    if (self.rank() == root_)
      for (std::size_t i = 0; i < count_; ++i) data[i] = Word(serial_, root_, 0, i);
    const bool done = direct_ && WentDirect(self, BcastDirect(self, root_, data.At(0, count_)));
    ASSERT_TRUE(done || Bcast(self, root_, data.At(0, count_)));
    for (std::size_t i = 0; i < count_; ++i) ASSERT_EQ(data[i], Word(serial_, root_, 0, i));
    ASSERT_TRUE(data.HolesUntouched());
  }

  // Block `block` of `field` becomes what `from` has for `to`.
  void Fill(Field& field, Rank block, Rank from, Rank to) {
    for (std::size_t i = 0; i < count_; ++i)
      field[static_cast<std::size_t>(block) * count_ + i] = Word(serial_, from, to, i);
  }
  void Expect(Field& field, Rank block, Rank from, Rank to) {
    for (std::size_t i = 0; i < count_; ++i)
      ASSERT_EQ(field[static_cast<std::size_t>(block) * count_ + i], Word(serial_, from, to, i))
          << "operation " << serial_ << " block " << block << " word " << i;
    ASSERT_TRUE(field.HolesUntouched());
  }
  std::size_t All() const { return count_ * static_cast<std::size_t>(ranks_); }
  Buffer Block(Field& field, Rank rank) {
    return field.At(static_cast<std::size_t>(rank) * count_, count_);
  }
  // A field of blocks can be spread only if each block has whole elements.
  bool Spreads() const { return spread_ && count_ % 2 == 0; }
  // All go another way if the data of one member has holes, or if one member may no longer reach
  // the memory of the others.
  bool WentDirect(const Participant& self, Outcome outcome) const {
    EXPECT_EQ(outcome, Spreads() || self.denied() ? Outcome::kElsewhere : Outcome::kDone);
    return outcome == Outcome::kDone;
  }

  void TryAllgather(Participant& self) {
    Field own(count_, false), all(All(), Spreads() && self.rank() == root_);
    Fill(own, 0, self.rank(), 0);
    Fill(all, self.rank(), self.rank(), 0);
    const Buffer mine = in_place_ ? Block(all, self.rank()) : own.At(0, count_);
    const bool done = direct_ && WentDirect(self, AllgatherDirect(self, mine, {Block(all, 0)}));
    ASSERT_TRUE(done || Allgather(self, mine, {Block(all, 0)}));
    for (Rank rank = 0; rank < ranks_; ++rank) Expect(all, rank, rank, 0);
  }

  void TryGather(Participant& self) {
    Field own(count_, false), all(All(), Spreads());
    Fill(own, 0, self.rank(), 0);
    Fill(all, self.rank(), self.rank(), 0);
    const bool placed = in_place_ && self.rank() == root_;
    const Buffer mine = placed ? Block(all, root_) : own.At(0, count_);
    ASSERT_TRUE(Gather(self, root_, mine, {Block(all, 0)}));
    for (Rank rank = 0; self.rank() == root_ && rank < ranks_; ++rank) Expect(all, rank, rank, 0);
  }

  void TryScatter(Participant& self) {
    Field own(count_, false), all(All(), Spreads());
    for (Rank rank = 0; rank < ranks_; ++rank) Fill(all, rank, root_, rank);
    const bool placed = in_place_ && self.rank() == root_;
    const Buffer mine = placed ? Block(all, root_) : own.At(0, count_);
    ASSERT_TRUE(Scatter(self, root_, {Block(all, 0)}, mine));
    if (!placed) Expect(own, 0, root_, self.rank());
  }

  void TryAlltoall(Participant& self) {
    Field out(All(), Spreads()), in(All(), Spreads());
    for (Rank rank = 0; rank < ranks_; ++rank) Fill(in_place_ ? in : out, rank, self.rank(), rank);
    const bool done = direct_ && !in_place_ &&
                      WentDirect(self, AlltoallDirect(self, {Block(out, 0)}, {Block(in, 0)}));
    ASSERT_TRUE(done || Alltoall(self, {Block(in_place_ ? in : out, 0)}, {Block(in, 0)}));
    for (Rank rank = 0; rank < ranks_; ++rank) Expect(in, rank, rank, self.rank());
  }

  static std::uint64_t Element(std::uint32_t serial, Rank rank, std::size_t i) {
    return static_cast<std::uint64_t>(Word(serial, rank, 1, i)) << 32 | Word(serial, rank, 2, i);
  }

  // The operation is the user's, or one that the library knows and works ahead with.
  void TryReduction(Participant& self, bool to_all) {
    const bool sums = Draw(2) != 0;
    const datatype::Op* const op = sums ? datatype::FindOp(MPI_SUM) : &compose_;
    std::vector<std::uint64_t> input(count_), output(count_), expected(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      input[i] = Element(serial_, self.rank(), i);
      expected[i] = Element(serial_, 0, i);
      for (Rank rank = 1; rank < ranks_; ++rank) {
        const std::uint64_t next = Element(serial_, rank, i);
        expected[i] = sums ? expected[i] + next : After(expected[i], next);
      }
    }
    const bool has_result = to_all || self.rank() == root_;
    const bool placed = in_place_ && has_result;
    if (placed) output = input;
    const Reduction it{placed ? output.data() : input.data(), has_result ? output.data() : nullptr,
                       static_cast<std::int64_t>(count_), FindDatatype(MPI_UINT64_T), op};
    const Rank root = to_all ? -1 : root_;
    ASSERT_TRUE(direct_  ? ReduceDirect(self, root, it) == Outcome::kDone
                : to_all ? Allreduce(self, it)
                         : Reduce(self, root_, it));
    if (!has_result) return;
    ASSERT_EQ(output, expected) << "operation " << serial_;
  }

  std::mt19937 random_;
  const Rank ranks_;
  datatype::Op compose_;
  std::uint32_t serial_ = 0;
  Rank root_ = 0;
  std::size_t count_ = 0;
  bool spread_ = false;
  bool in_place_ = false;
  bool direct_ = false;
};

struct Scene {
  Rank ranks;
  Sharing sharing;
  std::uint64_t area_bytes;
};

class Operations : public testing::TestWithParam<Scene> {};

TEST_P(Operations, RandomOnesDoWhatTheyShould) {
  const Scene scene = GetParam();
  constexpr std::uint32_t kSteps = 400;
  Spread();
  Play(scene.ranks, scene.sharing, scene.area_bytes, [&](Participant& self) {
    Script script(4711, scene.ranks);
    for (std::uint32_t step = 0; step < kSteps && !testing::Test::HasFatalFailure(); ++step)
      script.Step(self, step);
  });
}

// From now on the kernel denies this thread to write the memory of other processes, and if
// `reading` says so to read it.
void GiveUp(unsigned reading) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, reading, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(code), code};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

// It does not matter which operation notices first, and which members have lost the right.
TEST_P(Operations, GoOnWhereRightsWereGivenUp) {
  const Scene scene = GetParam();
  for (const std::uint32_t after : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 20u})
    for (const unsigned reading : {SYS_process_vm_readv, SYS_process_vm_writev})
      Play(scene.ranks, scene.sharing, scene.area_bytes, [&](Participant& self) {
        Script script(1234 + after, scene.ranks);
        const bool all = after % 2 != 0;
        for (std::uint32_t step = 0; step < after + 30 && !testing::Test::HasFatalFailure();
             ++step) {
          if (step == after && (all || self.rank() == scene.ranks / 2)) GiveUp(reading);
          script.Step(self, step);
        }
        EXPECT_TRUE(self.denied());
      });
}

TEST_P(Operations, NobodyLeavesABarrierBeforeAllHaveEntered) {
  const Scene scene = GetParam();
  std::atomic<int> entered{0};
  Play(scene.ranks, scene.sharing, scene.area_bytes, [&](Participant& self) {
    for (int round = 1; round <= 500; ++round) {
      entered.fetch_add(1);
      ASSERT_TRUE(Barrier(self));
      ASSERT_GE(entered.load(), round * scene.ranks);
    }
  });
  EXPECT_EQ(entered.load(), 500 * scene.ranks);
}

// Leaders of nodes make barriers of a reduce and a bcast of nothing.
TEST_P(Operations, OfNothingOneWaitsForAllAndAllForOne) {
  const Scene scene = GetParam();
  const datatype::Datatype* const bytes = FindDatatype(MPI_BYTE);
  std::byte unused{};
  std::atomic<int> entered{0}, released{0};
  Play(scene.ranks, scene.sharing, scene.area_bytes, [&](Participant& self) {
    for (int round = 1; round <= 50; ++round) {
      const Rank leader = round % scene.ranks;
      entered.fetch_add(1);
      ASSERT_TRUE(Reduce(self, leader, {&unused, nullptr, 0, bytes, nullptr}));
      if (self.rank() == leader) {
        ASSERT_EQ(entered.load(), round * scene.ranks);
        released.store(round);
      }
      ASSERT_TRUE(Bcast(self, leader, {&unused, 0, bytes}));
      ASSERT_EQ(released.load(), round);
    }
  });
}

// A root goes on before the others have read, for as long as there is room, and overwrites nothing
// that they have yet to read.
TEST_P(Operations, ARootThatBroadcastsRunsAheadAsFarAsThereIsRoom) {
  const Scene scene = GetParam();
  const std::size_t operations = Participant::RingRowsMin(scene.sharing);
  const std::size_t short_max = RingBytes(scene.ranks) / operations;
  const auto room = [&](std::size_t bytes) -> Number {
    if (bytes <= kInlineBytes) return kDepth;
    return bytes <= short_max ? operations : kSlots;
  };
  for (const std::size_t bytes : {kInlineBytes, short_max, short_max + 4}) {
    constexpr std::uint32_t kCalls = 3 * kDepth;
    std::atomic<std::uint32_t> told{0};
    Play(scene.ranks, scene.sharing, scene.area_bytes, [&](Participant& self) {
      const auto await = [&told](std::uint32_t calls) {
        while (told.load() < calls) sched_yield();
      };
      Words data(bytes / sizeof(std::uint32_t));
      for (std::uint32_t call = 1; call <= kCalls; ++call) {
        if (self.rank() == 0) {
          data.assign(data.size(), call);
        } else if (call == 1) {
          await(static_cast<std::uint32_t>(room(bytes)));
          for (int turn = 0; turn < 1000; ++turn) sched_yield();  // time in which to go too far
        }
        ASSERT_TRUE(Bcast(
            self, 0,
            {data.data(), static_cast<std::int64_t>(data.size()), FindDatatype(MPI_UINT32_T)}));
        if (self.rank() == 0) told.store(call);
        EXPECT_EQ(data.front(), call);
        EXPECT_EQ(data.back(), call);
      }
    });
  }
}

constexpr Sharing kExclusive = Sharing::kExclusive, kShared = Sharing::kShared;
INSTANTIATE_TEST_SUITE_P(Scenes, Operations,
                         testing::Values(Scene{2, kExclusive, 1 << 20}, Scene{2, kExclusive, 16384},
                                         Scene{2, kShared, 16384}, Scene{3, kExclusive, 16384},
                                         Scene{4, kShared, 1 << 20}, Scene{7, kShared, 16384},
                                         Scene{8, kExclusive, 1 << 20}, Scene{13, kShared, 16384}));

// Some calls fill all slots, and then a call goes in cells of them.
TEST(Bcast, OverwritesNoSlotThatSomebodyHasYetToRead) {
  constexpr std::uint64_t kSlotBytes = 4096;
  constexpr std::size_t kHalf = kSlotBytes / 2 / sizeof(std::uint32_t);  // in words
  for (const Rank ranks : {2, 3}) {
    Play(ranks, kExclusive, kSlots * kSlotBytes, [&](Participant& self) {
      // Waits until the root is at `number` and has had time to go too far.
      const auto await = [&self](Number number) {
        while (self.board().post(0, number).number.load() < number) sched_yield();
        for (int turn = 0; turn < 1000; ++turn) sched_yield();
      };
      const auto tell = [&self](std::uint32_t serial, std::size_t words) {
        Words data(words);
        for (std::size_t i = 0; self.rank() == 0 && i < words; ++i) data[i] = Word(serial, 0, 0, i);
        ASSERT_TRUE(Bcast(
            self, 0, {data.data(), static_cast<std::int64_t>(words), FindDatatype(MPI_UINT32_T)}));
        for (std::size_t i = 0; i < words; ++i) ASSERT_EQ(data[i], Word(serial, 0, 0, i));
      };
      if (self.rank() != 0) await(kSlots);
      for (std::uint32_t call = 1; call <= kSlots; ++call) tell(call, 2 * kHalf);
      if (self.rank() != 0) await(kSlots + kCells * kSlots);
      tell(kSlots + 1, 3 * kCells * kSlots * kHalf);
    });
  }
}

// Blocks of an output that is written with streaming stores begin and end in the middle of a line.
TEST(Alltoall, OfMoreThanTheCachesHold) {
  constexpr Rank kRanks = 4;
  constexpr std::int64_t kCount = (2 << 20) / 4 + 1;
  Play(kRanks, kShared, 1 << 20, [&](Participant& self) {
    const auto all = static_cast<std::size_t>(kCount * kRanks);
    Words out(all + 1), in(all + 1);
    const auto first = [&](Words& words) {
      return Blocks{{words.data() + 1, kCount, FindDatatype(MPI_UINT32_T)}};
    };
    for (std::size_t i = 0; i < all; ++i) out[i + 1] = Word(0, self.rank(), 0, i);
    ASSERT_TRUE(Alltoall(self, first(out), first(in)));
    const auto block = static_cast<std::size_t>(kCount);
    for (std::size_t i = 0; i < all; ++i) {
      const std::size_t place = static_cast<std::size_t>(self.rank()) * block + i % block;
      ASSERT_EQ(in[i + 1], Word(0, static_cast<Rank>(i / block), 0, place)) << i;
    }
    EXPECT_EQ(in[0], 0u);
  });
}

// Moves blocks of odd lengths straight between the buffers, several times.
void MoveDirect(std::size_t count) {
  constexpr Rank kRanks = 3;
  Play(kRanks, kExclusive, 16384, [&](Participant& self) {
    const auto block = [&](Words& words) {
      return Buffer{words.data(), static_cast<std::int64_t>(count), FindDatatype(MPI_UINT32_T)};
    };
    for (std::uint32_t serial = 0; serial < 3; ++serial) {
      Words out(count * kRanks), gathered(out.size()), in(out.size());
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = Word(serial, self.rank(), 0, i);
      ASSERT_EQ(AllgatherDirect(self, block(out), {block(gathered)}), Outcome::kDone);
      ASSERT_EQ(AlltoallDirect(self, {block(out)}, {block(in)}), Outcome::kDone);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto from = static_cast<Rank>(i / count);
        const std::size_t place = static_cast<std::size_t>(self.rank()) * count + i % count;
        // So many ASSERT_EQ would take seconds.
        if (gathered[i] != Word(serial, from, 0, i % count)) FAIL() << "gathered " << i;
        if (in[i] != Word(serial, from, 0, place)) FAIL() << "in " << i;
      }
    }
  });
}
TEST(Direct, MovesLongBlocks) { MoveDirect((600 << 10) / 4 + 1); }
TEST(Direct, MovesMoreThanTheCachesHold) { MoveDirect((4 << 20) / 4 + 1); }

// A member that died ends the waiting of the others.
TEST(Board, IsBrokenByADeath) {
  auto board = Board::Create(2, 16384, nullptr);
  ASSERT_TRUE(board.ok());
  (*board)->member(0).pid.store(getpid());
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);  // a zombie
  (*board)->member(1).pid.store(child);
  (*board)->member(1).finished.store(7);
  (*board)->BreakIfDead(7);
  EXPECT_FALSE((*board)->broken()) << "it had done its part";
  (*board)->BreakIfDead(8);
  EXPECT_TRUE((*board)->broken());
  Yielding waiter;
  Participant self(board->get(), 0, kShared, &waiter);
  EXPECT_FALSE(Barrier(self));
  waitpid(child, nullptr, 0);
}

// A member that finds a contradiction is told of one, even if another member finds it at the same
// time.
TEST(Board, IsBrokenForAllWhoFindAContradiction) {
  for (int i = 0; i < 2000 && !HasFailure(); ++i) {
    std::atomic<int> ready{0};
    Play(2, kExclusive, 4096, [&](Participant& self) {
      ready.fetch_add(1);
      while (ready.load() < self.ranks()) continue;
      const auto terms = static_cast<Terms>(self.rank());
      self.board().Break({self.rank(), self.rank() + 1, terms, terms + 1});
      const Contradiction* const found = self.board().contradiction();
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->other, found->rank + 1);
      EXPECT_EQ(found->terms, static_cast<Terms>(found->rank));
    });
  }
}

TEST(Board, IsOpenedByInvitationOnly) {
  auto board = Board::Create(3, 16384, nullptr);
  ASSERT_TRUE(board.ok());
  auto same = Board::Open((*board)->invitation(), nullptr);
  ASSERT_TRUE(same.ok()) << same.status().message();
  (*board)->member(2).finished.store(5);
  EXPECT_EQ((*same)->member(2).finished.load(), 5u);
  Invitation other = (*board)->invitation();
  other.token ^= 1;
  EXPECT_FALSE(Board::Open(other, nullptr).ok());
  (*board)->CloseInvitation();
  EXPECT_FALSE(Board::Open((*board)->invitation(), nullptr).ok());
}

TEST(Memory, SaysWhyItCannotBeHad) {
  if (std::uint64_t word = 7; !CanReach(getpid(), AddressOf(&word), word))
    GTEST_SKIP() << "the kernel forbids process_vm_readv";
  std::byte byte{};
  testing::internal::CaptureStderr();
  EXPECT_FALSE(CanReach(getpid(), 8, 0)) << "a question, no error";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  SetLogLevel(lamina::Level::kInfo);
  testing::internal::CaptureStderr();
  EXPECT_EQ(ReadFrom(getpid(), 8, &byte, 1), Access::kDenied);
  EXPECT_EQ(WriteTo(getpid(), 8, &byte, 1), Access::kDenied);
  const std::string said = testing::internal::GetCapturedStderr();
  SetLogLevel(lamina::Level::kWarn);
  EXPECT_NE(said.find("can no longer be read: Bad address"), std::string::npos) << said;
  EXPECT_NE(said.find("can no longer be written: Bad address"), std::string::npos) << said;
}

}  // namespace
}  // namespace lamina::collective::board
