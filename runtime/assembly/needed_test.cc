// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a job starts the transports that it needs, whatever they are called.
// Method: the decision is a pure function of what a transport reaches and of the job's shape.
#include "runtime/assembly/needed.h"

#include <gtest/gtest.h>

namespace lamina::assembly {
namespace {

using transport::Facts;
using transport::Reach;

constexpr Facts kSelf{Reach::kProcess, false};
constexpr Facts kSharedMemory{Reach::kNode, false};
constexpr Facts kNetwork{Reach::kNetwork, true};
constexpr Facts kCheapNetwork{Reach::kNetwork, false};

transport::Context Job(std::uint32_t local_ranks, std::uint32_t job_ranks) {
  transport::Context job;
  job.local_ranks = local_ranks;
  job.job_ranks = job_ranks;
  return job;
}

TEST(IsNeeded, ARankThatIsAloneNeedsItselfOnly) {
  EXPECT_TRUE(IsNeeded(kSelf, Job(1, 1), false, false));
  EXPECT_FALSE(IsNeeded(kSharedMemory, Job(1, 1), false, false));
  EXPECT_FALSE(IsNeeded(kNetwork, Job(1, 1), false, false));
  EXPECT_FALSE(IsNeeded(kCheapNetwork, Job(1, 1), true, false));
}

TEST(IsNeeded, OneNodeNeedsNoNetworkThatCostsUnlessNothingElseReachesIt) {
  EXPECT_TRUE(IsNeeded(kSharedMemory, Job(4, 4), false, false));
  EXPECT_FALSE(IsNeeded(kNetwork, Job(4, 4), false, true));
  EXPECT_TRUE(IsNeeded(kCheapNetwork, Job(4, 4), false, true));
  EXPECT_TRUE(IsNeeded(kNetwork, Job(4, 4), false, false)) << "shared memory was left out";
  EXPECT_TRUE(IsNeeded(kNetwork, Job(4, 4), true, true)) << "shared memory may reach nobody";
}

TEST(IsNeeded, SeveralNodesNeedANetwork) {
  EXPECT_TRUE(IsNeeded(kNetwork, Job(4, 8), false, true));
  EXPECT_TRUE(IsNeeded(kNetwork, Job(1, 2), false, false));
  EXPECT_FALSE(IsNeeded(kSharedMemory, Job(1, 2), false, false)) << "no other rank is here";
}

}  // namespace
}  // namespace lamina::assembly
