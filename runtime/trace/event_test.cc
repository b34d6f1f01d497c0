// SPDX-License-Identifier: BSD-3-Clause
// Goal:   an event reaches the callback that may run where it happens, or waits for a place where
//         it may; what finds no room is counted; nothing runs after its end was told (MPI-5.0,
//         section 15.3.8).
// Method: events are emitted by hand, as runtime/p2p does.
#include "runtime/trace/event.h"

#include <gtest/gtest.h>

#include <thread>

namespace lamina::trace {
namespace {

struct Heard {
  int calls = 0;
  int tag = 0;
  MPI_T_cb_safety safety = MPI_T_CB_REQUIRE_NONE;
  MPI_Count dropped = 0;
  int ends = 0;
  std::int64_t time = 0;
};

void Hear(MPI_T_event_instance instance, MPI_T_event_registration, MPI_T_cb_safety safety,
          void* user_data) {
  auto* heard = static_cast<Heard*>(user_data);
  ++heard->calls;
  heard->safety = safety;
  TheEvents().WithInstance(reinterpret_cast<EventInstance*>(instance),
                           [&](const EventInstance& one) {
                             heard->tag = one.data.tag;
                             EXPECT_GE(one.time, heard->time);
                             heard->time = one.time;
                           });
}
void HearDropped(MPI_Count count, MPI_T_event_registration, int, MPI_T_cb_safety, void* user_data) {
  static_cast<Heard*>(user_data)->dropped += count;
}
void HearEnd(MPI_T_event_registration, MPI_T_cb_safety, void* user_data) {
  ++static_cast<Heard*>(user_data)->ends;
}
void FreeMyself(MPI_T_event_instance, MPI_T_event_registration registration, MPI_T_cb_safety,
                void* user_data) {
  auto* heard = static_cast<Heard*>(user_data);
  ++heard->calls;
  TheEvents().Free(reinterpret_cast<EventRegistration*>(registration), HearEnd, heard);
  EXPECT_EQ(heard->ends, 0);  // this very callback still runs
}

void Happen(int tag) { MessageEvent(EventType::kUnexpected, {1, tag, 8, 0}); }
void EndCall() { const AfterCall after; }

EventRegistration* Register(Heard* heard, std::size_t safety, MPI_T_event_cb_function* function) {
  EventRegistration* made = TheEvents().MakeRegistration(EventType::kUnexpected, {});
  made->callbacks[safety] = {function, heard, {}};
  return made;
}

TEST(Event, OneThatMayRunInsideRunsAtOnce) {
  Heard heard;
  EventRegistration* made = Register(&heard, 1, Hear);
  Happen(11);
  EXPECT_EQ(heard.calls, 1);
  EXPECT_EQ(heard.tag, 11);
  EXPECT_EQ(heard.safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
  MessageEvent(EventType::kRendezvousStarted, {1, 12, 8, 0});
  EXPECT_EQ(heard.calls, 1);
  EXPECT_TRUE(TheEvents().Free(made, HearEnd, &heard));
  EXPECT_EQ(heard.ends, 1);
  EXPECT_FALSE(TheEvents().Free(made, nullptr, nullptr));
  Happen(13);
  EXPECT_EQ(heard.calls, 1);
}

TEST(Event, OneThatMayNotWaitsForTheEndOfTheCall) {
  Heard heard;
  EventRegistration* made = Register(&heard, 0, Hear);
  Happen(21);
  EXPECT_EQ(heard.calls, 0);
  EndCall();
  EXPECT_EQ(heard.calls, 1);
  EXPECT_EQ(heard.tag, 21);
  EXPECT_EQ(heard.safety, MPI_T_CB_REQUIRE_NONE);
  Happen(22);
  EXPECT_TRUE(TheEvents().Free(made, nullptr, nullptr));
  EndCall();
  EXPECT_EQ(heard.calls, 1);
}

void HearAndCall(MPI_T_event_instance instance, MPI_T_event_registration registration,
                 MPI_T_cb_safety safety, void* user_data) {
  const int before = static_cast<Heard*>(user_data)->calls;
  EndCall();
  EXPECT_EQ(static_cast<Heard*>(user_data)->calls, before);
  Hear(instance, registration, safety, user_data);
}

TEST(Event, OneIsOverBeforeTheNext) {
  Heard heard;
  EventRegistration* made = Register(&heard, 0, HearAndCall);
  for (int tag = 51; tag < 54; ++tag) Happen(tag);
  EndCall();
  EXPECT_EQ(heard.calls, 3);
  EXPECT_EQ(heard.tag, 53);
  TheEvents().Free(made, nullptr, nullptr);
}

TEST(Event, TheLeastRestrictedThatFitsIsChosen) {
  Heard heard;
  EventRegistration* made = Register(&heard, 3, Hear);
  made->callbacks[2] = {Hear, &heard, {}};
  Happen(31);
  EXPECT_EQ(heard.safety, MPI_T_CB_REQUIRE_THREAD_SAFE);
  made->callbacks[2].function = nullptr;
  Happen(32);
  EXPECT_EQ(heard.safety, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
  TheEvents().Free(made, nullptr, nullptr);
}

TEST(Event, WhatFindsNoRoomIsCounted) {
  Heard heard;
  EventRegistration* made = Register(&heard, 0, Hear);
  made->dropped_function = HearDropped;
  for (int i = 0; i < 300; ++i) Happen(i);
  EndCall();
  EXPECT_EQ(heard.calls + heard.dropped, 300);
  EXPECT_GT(heard.dropped, 0);
  TheEvents().Free(made, nullptr, nullptr);
}

TEST(Event, ACallbackMayFreeItsOwnRegistration) {
  Heard heard;
  Register(&heard, 1, FreeMyself);
  Happen(41);
  Happen(42);
  EXPECT_EQ(heard.calls, 1);
  EXPECT_EQ(heard.ends, 1);
}

TEST(Event, ThreadsMayEmitAndRegisterAtOnce) {
  Heard heard[4];
  std::thread threads[4];
  for (int t = 0; t < 4; ++t)
    threads[t] = std::thread([&heard, t] {
      for (int i = 0; i < 200; ++i) {
        EventRegistration* made = TheEvents().MakeRegistration(EventType::kRendezvousStarted, {});
        TheEvents().With(made, [&](EventRegistration& one) {
          one.callbacks[0] = {Hear, &heard[t], {}};
        });
        Happen(i);
        TheEvents().Free(made, nullptr, nullptr);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EndCall();
  for (const Heard& one : heard) EXPECT_EQ(one.calls, 0);
}

TEST(Event, HintsAreUpdatedByKey) {
  Hints hints = {{"a", "1"}, {"b", "2"}};
  Update(&hints, {{"b", "3"}, {"c", "4"}});
  EXPECT_EQ(hints, (Hints{{"a", "1"}, {"b", "3"}, {"c", "4"}}));
}

}  // namespace
}  // namespace lamina::trace
