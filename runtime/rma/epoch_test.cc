// SPDX-License-Identifier: BSD-3-Clause
// Goal:   an epoch allows what the standard allows, and what it refuses changes nothing.
// Method: every call in every state, against a table written from MPI-5.0, section 12.5.
#include "runtime/rma/epoch.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace lamina::rma {
namespace {

constexpr Rank kMembers = 4;
const Rank kStarted[] = {1, 2};

// The calls, each with a letter.
struct Action {
  char letter;
  std::function<int(Epoch&)> call;
};
const Action kActions[] = {
    {'f', [](Epoch& epoch) { return epoch.Fence(0); }},
    {'p', [](Epoch& epoch) { return epoch.Fence(MPI_MODE_NOPRECEDE); }},
    {'s', [](Epoch& epoch) { return epoch.Start(kStarted); }},
    {'c', [](Epoch& epoch) { return epoch.Complete(); }},
    {'o', [](Epoch& epoch) { return epoch.Post(); }},
    {'w', [](Epoch& epoch) { return epoch.MayWait(); }},
    {'l', [](Epoch& epoch) { return epoch.Lock(1, MPI_LOCK_SHARED, 0); }},
    {'L', [](Epoch& epoch) { return epoch.Lock(2, MPI_LOCK_EXCLUSIVE, MPI_MODE_NOCHECK); }},
    {'u', [](Epoch& epoch) { return epoch.Unlock(1); }},
    {'a', [](Epoch& epoch) { return epoch.LockAll(0); }},
    {'e', [](Epoch& epoch) { return epoch.UnlockAll(); }},
    {'1', [](Epoch& epoch) { return epoch.MayAccess(1); }},
    {'3', [](Epoch& epoch) { return epoch.MayAccess(3); }},
    {'0', [](Epoch& epoch) { return epoch.MayAccess(MPI_PROC_NULL); }},
    {'r', [](Epoch& epoch) { return epoch.MayRequest(1); }},
    {'h', [](Epoch& epoch) { return epoch.MayFlushAll(); }},
    {'x', [](Epoch& epoch) { return epoch.MayFree(); }},
};

// How a state is reached, and the calls that it allows.
struct State {
  const char* name;
  std::function<void(Epoch&)> reach;
  const char* allowed;
};

void Reached(int error) { ASSERT_EQ(error, MPI_SUCCESS); }

const State kStates[] = {
    {"nothing", [](Epoch&) {}, "fpsolLax"},
    {"after a fence", [](Epoch& epoch) { Reached(epoch.Fence(0)); }, "fpsolLa130x"},
    {"after a last fence", [](Epoch& epoch) { Reached(epoch.Fence(MPI_MODE_NOSUCCEED)); },
     "fpsolLax"},
    {"in a fence's epoch",
     [](Epoch& epoch) {
       Reached(epoch.Fence(0));
       epoch.Use();
     },
     "f130"},
    {"started", [](Epoch& epoch) { Reached(epoch.Start(kStarted)); }, "co10"},
    {"posted", [](Epoch& epoch) { Reached(epoch.Post()); }, "swlLa"},
    {"started and posted",
     [](Epoch& epoch) {
       Reached(epoch.Start(kStarted));
       Reached(epoch.Post());
     },
     "cw10"},
    {"one locked", [](Epoch& epoch) { Reached(epoch.Lock(1, MPI_LOCK_SHARED, 0)); }, "Lou10rh"},
    {"another locked", [](Epoch& epoch) { Reached(epoch.Lock(3, MPI_LOCK_SHARED, 0)); }, "olL30h"},
    {"all locked", [](Epoch& epoch) { Reached(epoch.LockAll(0)); }, "oe130rh"},
};

TEST(Epoch, AllowsWhatTheStandardAllows) {
  for (const State& state : kStates)
    for (const Action& action : kActions) {
      Epoch epoch(kMembers);
      state.reach(epoch);
      const bool allowed = std::string(state.allowed).find(action.letter) != std::string::npos;
      EXPECT_EQ(action.call(epoch), allowed ? 0 : int{MPI_ERR_RMA_SYNC})
          << action.letter << " " << state.name;
    }
}

TEST(Epoch, IsAsBeforeAfterARefusal) {
  for (const State& state : kStates)
    for (const Action& refused : kActions) {
      Epoch tried(kMembers);
      state.reach(tried);
      if (refused.call(tried) == MPI_SUCCESS) continue;
      for (const Action& action : kActions) {
        Epoch again(kMembers), fresh(kMembers);
        state.reach(again);
        state.reach(fresh);
        static_cast<void>(refused.call(again));
        EXPECT_EQ(action.call(again), action.call(fresh))
            << refused.letter << " then " << action.letter << " " << state.name;
      }
    }
}

TEST(Epoch, IsOverWhenItsLastLockIsReleased) {
  Epoch epoch(kMembers);
  Reached(epoch.Lock(1, MPI_LOCK_SHARED, 0));
  Reached(epoch.Lock(2, MPI_LOCK_EXCLUSIVE, MPI_MODE_NOCHECK));
  EXPECT_EQ(epoch.LockOf(1), MPI_LOCK_SHARED);
  EXPECT_EQ(epoch.LockOf(2), MPI_LOCK_EXCLUSIVE);
  EXPECT_FALSE(epoch.Unchecked(1));
  EXPECT_TRUE(epoch.Unchecked(2));
  EXPECT_EQ(epoch.locks(), 2);
  epoch.Use();
  Reached(epoch.Unlock(1));
  EXPECT_EQ(epoch.MayAccess(1), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(epoch.MayFree(), MPI_ERR_RMA_SYNC);
  Reached(epoch.Unlock(2));
  EXPECT_EQ(epoch.LockOf(2), 0);
  EXPECT_EQ(epoch.MayFree(), MPI_SUCCESS);
  EXPECT_EQ(epoch.Fence(MPI_MODE_NOPRECEDE), MPI_SUCCESS);
}

TEST(Epoch, GroupsAreForgottenWhenComplete) {
  Epoch epoch(kMembers);
  Reached(epoch.Start(kStarted));
  EXPECT_EQ(epoch.targets().size(), 2u);
  Reached(epoch.Complete());
  const Rank other[] = {3};
  Reached(epoch.Start(other));
  EXPECT_EQ(epoch.MayAccess(1), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(epoch.MayAccess(3), MPI_SUCCESS);
}

}  // namespace
}  // namespace lamina::rma
