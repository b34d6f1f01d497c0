// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a lock is held by one writer or by readers, lock_all and exclusive locks exclude each
//         other, everybody gets in in the end, also where locks are nested, and nobody waits for
//         ever.
// Method: actors are played one step at a time in every order (depth first, on copies of all
//         words); a state in which nobody can go on before all have ended is a deadlock.
#include "runtime/rma/lock.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace lamina::rma {
namespace {

// What an actor does, one after the other: 'A' lock_all, 'N' the same on behalf of an origin on
// another node, which may hold other locks, 'a' unlock_all; a digit d locks target d
// exclusively, with 's' before it shared, and with 'u' before it unlocks it.
struct Step {
  char what;
  int target;
};
std::vector<Step> Parse(const std::string& text) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == 'A' || text[i] == 'N') {
      steps.push_back({'A', text[i] == 'N'});
    } else if (text[i] == 'a') {
      steps.push_back({'a', 0});
    } else if (text[i] == 's' || text[i] == 'u') {
      steps.push_back({text[i], text[i + 1] - '0'});
      ++i;
    } else {
      steps.push_back({'x', text[i] - '0'});
    }
  }
  return steps;
}

constexpr int kTargets = 2;

struct Actor {
  std::size_t step = 0;
  int stage = 0;  // 0: not asked; 1: waits for the node's word; 2: has its ticket
  std::uint16_t phase = 0;
  std::uint32_t ticket = 0;
  int holds[kTargets] = {0, 0};  // 1 shared, 2 exclusive
  bool all = false;
};

struct World {
  std::array<TicketLock, kTargets> locks;
  NodeWord word;
  std::vector<Actor> actors;
};

class Player {
 public:
  explicit Player(const std::vector<std::string>& programs) {
    for (const std::string& program : programs) programs_.push_back(Parse(program));
  }
  // Returns what went wrong, or "".
  std::string Play() {
    World world;
    world.actors.resize(programs_.size());
    Visit(world);
    return wrong_;
  }
  std::size_t states() const { return seen_.size(); }

 private:
  static std::string KeyOf(const World& world) {
    std::string key;
    const auto add = [&key](const auto& value) {
      key.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    for (const TicketLock& lock : world.locks) {
      add(lock.next.load());
      add(lock.read.load());
      add(lock.write.load());
    }
    std::uint64_t word;
    std::memcpy(&word, static_cast<const void*>(&world.word), sizeof word);
    add(word);
    for (const Actor& actor : world.actors) {
      add(actor.step);
      add(actor.stage);
      add(actor.phase);
      add(actor.ticket);
      add(actor.holds);
      add(actor.all);
    }
    return key;
  }
  static void Copy(const World& from, World* to) {
    for (std::size_t i = 0; i < kTargets; ++i) {
      to->locks[i].next.store(from.locks[i].next.load());
      to->locks[i].read.store(from.locks[i].read.load());
      to->locks[i].write.store(from.locks[i].write.load());
    }
    std::memcpy(static_cast<void*>(&to->word), static_cast<const void*>(&from.word),
                sizeof to->word);
    to->actors = from.actors;
  }

  void Visit(const World& world) {
    if (!wrong_.empty() || !seen_.insert(KeyOf(world)).second) return;
    bool moved = false, ended = true;
    for (std::size_t i = 0; i < world.actors.size(); ++i) {
      if (world.actors[i].step == programs_[i].size()) continue;
      ended = false;
      World next;
      Copy(world, &next);
      if (!Advance(&next, i)) continue;
      moved = true;
      Check(next);
      Visit(next);
    }
    if (!ended && !moved) wrong_ = "deadlock";
  }

  // One step of an actor. False: it waits.
  bool Advance(World* world, std::size_t index) {
    Actor& actor = world->actors[index];
    const Step step = programs_[index][actor.step];
    TicketLock& lock = world->locks[static_cast<std::size_t>(step.target)];
    switch (step.what) {
      case 'A':
        if (actor.stage == 0 && !world->word.Enter(Side::kAll, step.target != 0, &actor.phase)) {
          actor.stage = 1;
          return true;
        }
        if (actor.stage == 1 && !world->word.HasCome(actor.phase)) return false;
        actor.all = true;
        break;
      case 'a':
        world->word.Leave();
        actor.all = false;
        break;
      case 'u':
        if (actor.holds[step.target] == 1) {
          lock.ReleaseShared();
        } else {
          lock.ReleaseExclusive();
          world->word.Leave();
        }
        actor.holds[step.target] = 0;
        break;
      case 's':
        if (actor.stage == 0) {
          actor.ticket = lock.Draw();
          actor.stage = 2;
          return true;
        }
        if (!lock.TryShared(actor.ticket)) return false;
        actor.holds[step.target] = 1;
        break;
      default:
        if (actor.stage == 0) {
          const bool nested = actor.holds[0] != 0 || actor.holds[1] != 0;
          if (!world->word.Enter(Side::kExclusive, nested, &actor.phase)) {
            actor.stage = 1;
            return true;
          }
        }
        if (actor.stage == 1 && !world->word.HasCome(actor.phase)) return false;
        if (actor.stage != 2) {
          actor.ticket = lock.Draw();
          actor.stage = 2;
          return true;
        }
        if (!lock.TryExclusive(actor.ticket)) return false;
        actor.holds[step.target] = 2;
    }
    ++actor.step;
    actor.stage = 0;
    return true;
  }

  void Check(const World& world) {
    for (int target = 0; target < kTargets; ++target) {
      int readers = 0, writers = 0, all = 0;
      for (const Actor& actor : world.actors) {
        readers += actor.holds[target] == 1;
        writers += actor.holds[target] == 2;
        all += actor.all;
      }
      if (writers > 1 || (writers == 1 && (readers > 0 || all > 0))) wrong_ = "not exclusive";
    }
  }

  std::vector<std::vector<Step>> programs_;
  std::set<std::string> seen_;
  std::string wrong_;
};

TEST(Locks, ExcludeAndNeverStandStill) {
  const std::vector<std::vector<std::string>> sets = {
      {"0u0", "0u0", "0u0"},
      {"s0u0", "s0u0", "0u0"},
      {"s0u0s0u0", "0u00u0", "s0u0"},
      {"Aa", "0u0", "Aa"},
      {"AaAa", "0u00u0", "s0u0"},
      {"Aa", "01u0u1", "s1u1"},
      {"Aa", "01u1u0", "01u0u1"},
      {"Aa", "s01u1u0", "Aa"},
      {"AaAa", "s0s1u0u1", "0s1u1u0"},
      {"Aa", "Aa", "01u0u1", "s0u0"},
      {"Aa", "0u0", "s01u1u0", "s0s1u1u0"},
      {"Na", "0u0", "NaAa"},
      {"NaNa", "01u1u0", "Aa", "s0u0"},
  };
  for (const auto& programs : sets) {
    Player player(programs);
    EXPECT_EQ(player.Play(), "") << programs[0] << " " << programs[1] << " " << programs[2];
    EXPECT_GT(player.states(), 10u);
  }
}

// The player notices what it is there to notice.
TEST(Locks, TheOrderOfTargetsIsUpToTheUser) {
  EXPECT_EQ(Player({"01u0u1", "10u0u1"}).Play(), "deadlock");
}

}  // namespace
}  // namespace lamina::rma
