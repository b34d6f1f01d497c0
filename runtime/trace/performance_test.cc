// SPDX-License-Identifier: BSD-3-Clause
// Goal:   handles of one variable do not disturb each other, and each starts, stops and resets as
//         its class says (MPI-5.0, section 15.3.7).
// Method: the numbers of trace.h are moved by hand; handles are read in between.
#include "runtime/trace/performance.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lamina::trace {
namespace {

std::uint64_t gauge_value = 0;
std::uint64_t ReadOne(Gauge, std::uint64_t context) { return gauge_value + context; }

const PerformanceVariable& Named(const std::string& name) {
  for (const PerformanceVariable& variable : PerformanceVariables())
    if (variable.name == name) return variable;
  ADD_FAILURE() << "no variable " << name;
  return PerformanceVariables().front();
}

class Performance : public testing::Test {
 protected:
  Performance() : session_(all_.MakeSession()) {}
  PerformanceHandle* Make(const char* name) { return all_.MakeHandle(session_, Named(name), 0); }
  std::uint64_t Read(const PerformanceHandle* handle) {
    std::uint64_t value = 0;
    all_.Read(*handle, &value);
    return value;
  }
  Performances all_{ReadOne};
  PerformanceSession* session_;
};

TEST_F(Performance, NamesAreUnique) {
  std::set<std::string> names;
  for (const PerformanceVariable& variable : PerformanceVariables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
    EXPECT_NE(std::string(variable.description), "");
  }
}

TEST_F(Performance, ACounterCountsFromItsStart) {
  Count(Counter::kUnexpected, 5);
  PerformanceHandle* early = Make("p2p.unexpected.messages");
  PerformanceHandle* late = Make("p2p.unexpected.messages");
  EXPECT_EQ(Read(early), 0u);
  all_.Start(early);
  Count(Counter::kUnexpected, 3);
  all_.Start(late);
  Count(Counter::kUnexpected);
  all_.Start(early);  // once more: nothing changes
  EXPECT_EQ(Read(early), 4u);
  EXPECT_EQ(Read(late), 1u);
  all_.Stop(early);
  Count(Counter::kUnexpected, 10);
  EXPECT_EQ(Read(early), 4u);
  all_.Start(early);
  Count(Counter::kUnexpected);
  EXPECT_EQ(Read(early), 5u);
  all_.Reset(early);
  EXPECT_EQ(Read(early), 0u);
  EXPECT_EQ(Read(late), 12u);
  const std::uint64_t hundred = 100;
  all_.Write(late, &hundred);
  Count(Counter::kUnexpected, 2);
  EXPECT_EQ(Read(late), 102u);
}

TEST_F(Performance, AMarkRemembersTheHighestSinceItsStart) {
  RaiseMarked(Level::kUnexpected, 4);
  PerformanceHandle* first = Make("p2p.unexpected.length_max");
  PerformanceHandle* second = Make("p2p.unexpected.length_max");
  all_.Start(first);
  EXPECT_EQ(Read(first), 4u);  // the level when it was started
  RaiseMarked(Level::kUnexpected, 6);
  Lower(Level::kUnexpected, 8);
  all_.Start(second);
  EXPECT_EQ(Read(first), 10u);
  EXPECT_EQ(Read(second), 2u);
  RaiseMarked(Level::kUnexpected, 1);
  EXPECT_EQ(Read(first), 10u);
  EXPECT_EQ(Read(second), 3u);
  all_.Stop(second);
  all_.Reset(first);
  RaiseMarked(Level::kUnexpected, 5);
  EXPECT_EQ(Read(first), 8u);
  EXPECT_EQ(Read(second), 3u);
  Lower(Level::kUnexpected, 8);
  PerformanceHandle* level = Make("p2p.unexpected.length");
  EXPECT_EQ(Read(level), 0u);
}

TEST_F(Performance, TimersAreInSecondsAndStatesAreNumbers) {
  PerformanceHandle* slept = Make("p2p.wait.slept");
  all_.Start(slept);
  Count(Counter::kSleptNs, 1'500'000'000);
  double seconds = 0;
  all_.Read(*slept, &seconds);
  EXPECT_DOUBLE_EQ(seconds, 1.5);
  gauge_value = 2;
  PerformanceHandle* state = Make("core.process.state");
  int number = 0;
  all_.Read(*state, &number);
  EXPECT_EQ(number, 2);
  ASSERT_NE(state->variable->enumeration(), nullptr);
}

TEST_F(Performance, AGaugeKnowsItsObject) {
  gauge_value = 10;
  PerformanceHandle* bound = all_.MakeHandle(session_, Named("p2p.posted.length_comm"), 7);
  EXPECT_EQ(Read(bound), 17u);
  EXPECT_TRUE(bound->variable->readonly());
  EXPECT_TRUE(bound->variable->continuous());
}

TEST_F(Performance, HandlesBelongToTheirSession) {
  PerformanceSession* other = all_.MakeSession();
  PerformanceHandle* handle = Make("p2p.sent.eager.messages");
  EXPECT_TRUE(Performances::Has(*session_, handle));
  EXPECT_FALSE(Performances::Has(*other, handle));
  all_.Free(other);
  EXPECT_FALSE(all_.Has(other));
  all_.Free(handle);
  EXPECT_FALSE(Performances::Has(*session_, handle));
}

}  // namespace
}  // namespace lamina::trace
