// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a broken assumption ends the process with the place, the expression and what led to it.
// Method: death tests that read what the dying process printed.
#include "runtime/base/check.h"

#include <gtest/gtest.h>

#include "runtime/base/event_ring.h"

namespace lamina {
namespace {

TEST(Check, PassesWhatIsTrueAndEvaluatesOnce) {
  int evaluated = 0;
  CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, NamesPlaceAndExpression) {
  const int ranks = 0;
  EXPECT_DEATH(CHECK(ranks > 0), "error check: .*check_test.cc:[0-9]+: ranks > 0 is false");
}

TEST(CheckDeathTest, PrintsTheLastEvents) {
  EXPECT_DEATH(
      {
        RecordEvent("connected to peer %d", 7);
        CHECK(false);
      },
      "error event: .*connected to peer 7");
}

TEST(CheckDeathTest, ShortPathChecksFollowTheBuild) {
#ifdef NDEBUG
  int evaluated = 0;
  DCHECK(++evaluated == 2);
  EXPECT_EQ(evaluated, 0);
#else
  EXPECT_DEATH(DCHECK(1 == 2), "1 == 2 is false");
#endif
}

}  // namespace
}  // namespace lamina
