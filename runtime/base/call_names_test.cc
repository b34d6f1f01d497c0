// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the enumeration and the table of names stay the same list, in the same order.
// Method: names at both ends and in the middle; order and completeness of all of them.
#include "runtime/base/call_names.h"

#include <gtest/gtest.h>

#include <string>

namespace lamina {
namespace {

TEST(CallNames, AreThoseOfTheirNumbers) {
  EXPECT_STREQ(NameOf(Call::kNone), "");
  EXPECT_STREQ(NameOf(Call::MPI_Abort), "MPI_Abort");
  EXPECT_STREQ(NameOf(Call::MPI_Recv), "MPI_Recv");
  EXPECT_STREQ(NameOf(Call::MPI_Send), "MPI_Send");
  EXPECT_STREQ(NameOf(Call::MPI_Wtime), "MPI_Wtime");
}

TEST(CallNames, ANumberFromACrashedProcessIsHarmless) {
  EXPECT_STREQ(NameOf(Call::kCount), "");
  EXPECT_STREQ(NameOf(static_cast<Call>(0xffffffffu)), "");
}

TEST(CallNames, AreCompleteAndSorted) {
  for (std::uint32_t i = 2; i < static_cast<std::uint32_t>(Call::kCount); ++i)
    EXPECT_LT(std::string(NameOf(static_cast<Call>(i - 1))), NameOf(static_cast<Call>(i)));
}

}  // namespace
}  // namespace lamina
