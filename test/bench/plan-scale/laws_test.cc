// SPDX-License-Identifier: BSD-3-Clause
// Goal:   no schedule grows faster with the number of ranks than its algorithm's idea allows, and
//         for short messages of operations on a buffer or vector the library never chooses one
//         that takes more than logarithmic time or memory.
// Method: plans of a few ranks among 2^8 and 2^14, on nodes of 64. The growth of their critical
//         path, messages and memory must be what is written here for each algorithm. An algorithm
//         that is not written here fails.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>

#include "test/bench/plan-scale/growth.h"

namespace lamina::collective {
namespace {

constexpr Rank kFew = 1 << 8;
constexpr Rank kMany = 1 << 14;
constexpr Rank kRanksPerNode = 64;
constexpr std::int64_t kBytes = 1 << 18;  // one segment of most pipelines

// The growth of the busiest rank.
struct Laws {
  const char* path;
  const char* messages;
  const char* scratch;  // of blocks or vectors of fixed length
};

const std::map<std::string, Laws>& Written() {
  static const auto* const laws = new std::map<std::string, Laws>{
      {"barrier dissemination", {"log P", "log P", "0"}},
      {"barrier linear", {"P", "P", "0"}},
      {"barrier tree", {"log P", "log P", "0"}},
      {"bcast binomial", {"log P", "log P", "0"}},
      {"bcast chain", {"P", "sqrt P", "0"}},
      {"bcast knomial", {"log P", "log P", "0"}},
      {"bcast linear", {"P", "P", "0"}},
      {"bcast scatter_allgather", {"P", "P", "0"}},
      {"gather binomial", {"log P", "1", "P"}},
      {"gather linear", {"P", "1", "0"}},
      {"gatherv linear", {"P", "1", "0"}},
      {"scatter binomial", {"log P", "log P", "P"}},
      {"scatter linear", {"P", "P", "0"}},
      {"scatterv linear", {"P", "P", "0"}},
      {"allgather bruck", {"log P", "log P", "P"}},
      {"allgather gather_bcast", {"P", "P", "0"}},
      {"allgather neighbor_exchange", {"P", "P", "0"}},
      {"allgather recursive_doubling", {"log P", "log P", "0"}},
      {"allgather ring", {"P", "P", "0"}},
      {"allgatherv linear", {"P", "P", "0"}},
      {"allgatherv ring", {"P", "P", "0"}},
      {"alltoall bruck", {"P", "log P", "P"}},
      {"alltoall in_place", {"P", "P", "1"}},
      {"alltoall pairwise", {"P", "P", "0"}},
      {"alltoall windowed", {"P", "P", "0"}},
      {"alltoallv in_place", {"P", "P", "1"}},
      {"alltoallv pairwise", {"P", "P", "0"}},
      {"alltoallv windowed", {"P", "P", "0"}},
      {"alltoallw in_place", {"P", "P", "1"}},
      {"alltoallw windowed", {"P", "P", "0"}},
      {"reduce binomial", {"log P", "1", "1"}},
      {"reduce in_order", {"log P", "1", "1"}},
      {"reduce linear", {"P", "1", "1"}},
      {"reduce rabenseifner", {"log P", "log P", "1"}},
      {"allreduce linear", {"P", "P", "1"}},
      {"allreduce rabenseifner", {"log P", "log P", "1"}},
      {"allreduce recursive_doubling", {"log P", "log P", "1"}},
      {"allreduce reduce_bcast", {"log P", "log P", "1"}},
      {"allreduce ring", {"P", "P", "0"}},
      {"reduce_scatter direct", {"P", "P", "P"}},
      {"reduce_scatter halving", {"log P", "log P", "P"}},
      {"reduce_scatter pairwise", {"P", "P", "1"}},
      {"reduce_scatter ring", {"P", "P", "1"}},
      {"reduce_scatter_block direct", {"P", "P", "P"}},
      {"reduce_scatter_block halving", {"log P", "log P", "P"}},
      {"reduce_scatter_block pairwise", {"P", "P", "1"}},
      {"reduce_scatter_block ring", {"P", "P", "1"}},
      {"scan doubling", {"log P", "log P", "1"}},
      {"scan linear", {"P", "1", "1"}},
      {"exscan doubling", {"log P", "log P", "1"}},
      {"exscan linear", {"P", "1", "1"}},
      // These go by stages: the busiest rank sends to its node, to other nodes, or both.
      {"barrier hierarchical", {"log P", "log P", "0"}},
      {"bcast hierarchical", {"log P", "1", "0"}},
      {"gather hierarchical", {"log P", "1", "1"}},
      {"scatter hierarchical", {"log P", "sqrt P", "1"}},
      {"allgather hierarchical", {"log P", "log P", "0"}},
      {"allgatherv hierarchical", {"log P", "P", "P"}},
      {"alltoall hierarchical", {"P", "sqrt P", "P"}},
      // This is the growth of one segment; longer data are several of them.
      {"reduce hierarchical", {"log P", "log P", "1"}},
      {"allreduce hierarchical", {"log P", "1", "1"}},
      {"allreduce sliced", {"1", "1", "1"}},
      {"reduce_scatter hierarchical", {"log P", "1", "P"}},
      {"reduce_scatter_block hierarchical", {"log P", "1", "P"}},
      {"scan hierarchical", {"log P", "1", "1"}},
      {"exscan hierarchical", {"log P", "1", "1"}},
  };
  return *laws;
}

TEST(Laws, EveryAlgorithmGrowsAsWritten) {
  const Library& library = Shipped();
  const Machine few(library, kFew, kRanksPerNode);
  const Machine many(library, kMany, kRanksPerNode);
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (Neighbourly(operation)) continue;
    for (const Algorithm* algorithm : library.Offered(operation)) {
      if (algorithm->inter) continue;
      const std::string name = std::string(Name(operation)) + " " + algorithm->name;
      const auto a = Measure(*algorithm, few, kFew, kBytes);
      const auto b = Measure(*algorithm, many, kMany, kBytes);
      ASSERT_TRUE(a && b) << name << " fits no call";
      const auto law = [&](std::int64_t Growth::*what) {
        return Law(*a.*what, *b.*what, kFew, kMany);
      };
      const auto found = Written().find(name);
      if (found == Written().end()) {
        ADD_FAILURE() << "nothing is written for {\"" << name << "\", {\"" << law(&Growth::path)
                      << "\", \"" << law(&Growth::messages) << "\", \""
                      << law(&Growth::scratch_bytes) << "\"}},";
        continue;
      }
      EXPECT_EQ(law(&Growth::path), found->second.path) << name << ", path";
      EXPECT_EQ(law(&Growth::messages), found->second.messages) << name << ", messages";
      EXPECT_EQ(law(&Growth::scratch_bytes), found->second.scratch) << name << ", scratch";
      if (std::string(found->second.path) == "log P") {
        EXPECT_LE(b->path, 2 * std::bit_width(static_cast<unsigned>(kMany))) << name;
      }
      const bool in_segments = std::string(algorithm->name) == "hierarchical";
      if (std::string(found->second.path) == "log P" && !in_segments) {
        EXPECT_LE(b->rounds, b->path + 2) << name << ": more rounds than its cost line has";
      }
    }
  }
}

TEST(Laws, WhatIsChosenForShortMessagesIsLogarithmic) {
  const Library& library = Shipped();
  const Machine machine(library, kMany, kRanksPerNode);
  for (const Operation operation : {Operation::kBarrier, Operation::kBcast, Operation::kReduce,
                                    Operation::kAllreduce, Operation::kScan, Operation::kExscan}) {
    const UniformCall call(operation, kMany, operation == Operation::kBarrier ? 0 : 8, false);
    const Algorithm* chosen = library.Choose(call.call(), machine.ShapeOf(0), machine.link());
    ASSERT_NE(chosen, nullptr);
    const auto growth = Measure(*chosen, machine, kMany, 8);
    ASSERT_TRUE(growth.has_value());
    const int logarithm = std::bit_width(static_cast<unsigned>(kMany));
    EXPECT_LE(growth->rounds, 3 * logarithm) << Name(operation) << " " << chosen->name;
    EXPECT_LE(growth->messages, 3 * logarithm) << Name(operation) << " " << chosen->name;
    EXPECT_LE(growth->plan_bytes, 20000) << Name(operation) << " " << chosen->name;
  }
}

TEST(Laws, HierarchyCrossesNodesInLogarithmicallyManyRounds) {
  constexpr Rank kMost = 1 << 20;
  const Library& library = Shipped();
  const Machine machine(library, kMost, kRanksPerNode);
  const Machine few(library, kFew, kRanksPerNode);
  for (const Operation operation : {Operation::kBarrier, Operation::kBcast, Operation::kReduce,
                                    Operation::kAllreduce, Operation::kScan, Operation::kExscan}) {
    for (const Algorithm* algorithm : library.Offered(operation)) {
      if (std::string(algorithm->name) != "hierarchical") continue;
      const auto growth = Measure(*algorithm, machine, kMost, 8);
      const auto small = Measure(*algorithm, few, kFew, 8);
      ASSERT_TRUE(growth && small);
      const int log_nodes = std::bit_width(static_cast<unsigned>(kMost / kRanksPerNode - 1));
      EXPECT_LE(growth->rounds_between_nodes, 2 * log_nodes) << Name(operation);
      EXPECT_LE(growth->messages, 2 * log_nodes + 2 * kRanksPerNode) << Name(operation);
      EXPECT_LE(growth->plan_bytes, 20000) << Name(operation);
      EXPECT_EQ(growth->scratch_bytes, small->scratch_bytes) << Name(operation);
    }
  }
}

}  // namespace
}  // namespace lamina::collective
