// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a snapshot of the environment answers as the process's own would and can be changed
//         freely.
// Method: snapshots are made from made-up assignments, and one from this very process.
#include "runtime/base/environment.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lamina {
namespace {

TEST(Environment, FindsWhatWasAssigned) {
  const Environment environment({"A=1", "EMPTY=", "EQUATION=x=y", "no assignment"});
  EXPECT_EQ(environment.Get("A"), "1");
  EXPECT_EQ(environment.Get("EMPTY"), "");
  EXPECT_EQ(environment.Get("EQUATION"), "x=y");
  EXPECT_EQ(environment.Get("B"), std::nullopt);
  EXPECT_EQ(environment.Get("no assignment"), std::nullopt);
}

TEST(Environment, ALaterAssignmentReplacesAnEarlierOne) {
  Environment environment({"A=1", "A=2"});
  EXPECT_EQ(environment.Get("A"), "2");
  environment.Set("A", "3");
  EXPECT_EQ(environment.Get("A"), "3");
  environment.Unset("A");
  environment.Unset("A");
  EXPECT_EQ(environment.Get("A"), std::nullopt);
}

TEST(Environment, GivesItsAssignmentsSorted) {
  Environment environment({"Z=26", "A=1"});
  environment.Set("M", "");
  EXPECT_EQ(environment.Assignments(), (std::vector<std::string>{"A=1", "M=", "Z=26"}));
  EXPECT_EQ(Environment(environment.Assignments()).Assignments(), environment.Assignments());
}

TEST(Environment, SeesThisProcess) {
  // Bazel gives every test this variable; PATH is there when the test is run by hand.
  const Environment environment = Environment::OfThisProcess();
  EXPECT_TRUE(environment.Get("TEST_SRCDIR") || environment.Get("PATH"));
}

}  // namespace
}  // namespace lamina
