// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the table says what would be chosen: the levels, every operation, hierarchy only where
//         there are several nodes, what a parameter has named, what goes through shared memory.
// Method: tables of the shipped components for small shapes, read line by line.
#include "collectives/select/explain.h"

#include <gtest/gtest.h>

#include <string>

#include "collectives/basic/basic.h"
#include "collectives/board/node_collectives.h"
#include "collectives/hierarchical/hierarchical.h"
#include "runtime/base/text.h"

namespace lamina::collective {
namespace {

std::string Text(Rank ranks, Rank per_node, const char* assignment = nullptr) {
  Registry registry;
  EXPECT_TRUE(registry.Add(basic::Describe()).ok());
  EXPECT_TRUE(registry.Add(hierarchical::Describe()).ok());
  EXPECT_TRUE(registry.Add(board::Describe()).ok());
  param::Settings settings;
  if (assignment != nullptr) {
    EXPECT_TRUE(settings.AddCommandLine(assignment).ok());
  }
  const auto library = Library::Make(registry, settings);
  EXPECT_TRUE(library.ok());
  const Result<std::string> text = Explain(**library, ranks, per_node);
  EXPECT_TRUE(text.ok());
  return text.ok() ? *text : "";
}

std::string LinesOf(const std::string& text, const std::string& operation) {
  std::string lines;
  for (const std::string_view line : Split(text, '\n'))
    if (line.starts_with(operation + " ")) lines += std::string(line) + "\n";
  return lines;
}

TEST(Explain, HasEveryOperation) {
  const std::string text = Text(16, 4);
  EXPECT_NE(text.find("16 ranks on 4 nodes"), std::string::npos);
  EXPECT_NE(text.find("node    4 groups of up to 4"), std::string::npos);
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    EXPECT_EQ(LinesOf(text, Name(operation)).empty(), Neighbourly(operation)) << Name(operation);
  }
}

TEST(Explain, HierarchyIsForSeveralNodes) {
  EXPECT_NE(LinesOf(Text(16, 4), "bcast").find("hierarchical"), std::string::npos);
  EXPECT_EQ(Text(16, 16).find("hierarchical"), std::string::npos);
  EXPECT_EQ(Text(16, 1).find("hierarchical"), std::string::npos);
  EXPECT_EQ(Text(16, 4, "collective.include=basic").find("hierarchical"), std::string::npos);
}

// Measured on 4 hosts x 4 ranks that share CPUs: leaders at boards are ahead at every length, 4 MiB
// 12 ms beside 22 in slices. With a CPU for each rank all fold and send at once, which pays early.
TEST(Explain, SlicesAreForRanksWithACpuEach) {
  const auto crowded = LinesOf(Text(16, 4, "collective.select.crowd=4"), "allreduce");
  EXPECT_NE(crowded.find(" 8..64M     hierarchical"), std::string::npos) << crowded;
  const auto alone = LinesOf(Text(16, 4, "collective.select.crowd=1"), "allreduce");
  EXPECT_NE(alone.find(" 8..1K      hierarchical"), std::string::npos) << alone;
  EXPECT_NE(alone.find("2K..64M    sliced"), std::string::npos) << alone;
}

// All ranks of a node send at once, but it has one way out; in a ring one of them does.
TEST(Explain, WhatLeadsOutOfANodeIsShared) {
  const auto longest = [](const std::string& lines) { return lines.substr(lines.rfind("..64M")); };
  const auto alone = LinesOf(Text(16, 1, "collective.include=basic"), "allreduce");
  EXPECT_EQ(longest(alone).find("ring"), std::string::npos) << alone;
  const auto sharing = LinesOf(Text(16, 4, "collective.include=basic"), "allreduce");
  EXPECT_NE(longest(sharing).find("ring"), std::string::npos) << sharing;
}

TEST(Explain, SaysWhatWasNamed) {
  const std::string lines = LinesOf(Text(16, 4, "collective.bcast.algorithm=linear"), "bcast");
  EXPECT_NE(lines.find("8..64M     linear"), std::string::npos) << lines;
  EXPECT_NE(lines.find("named by parameter"), std::string::npos) << lines;
}

TEST(Explain, SaysWhatGoesThroughSharedMemory) {
  constexpr const char* kSharing = "through shared memory";
  EXPECT_NE(Text(4, 4).find(kSharing), std::string::npos);
  EXPECT_EQ(Text(16, 4).find(kSharing), std::string::npos);
  EXPECT_EQ(Text(4, 4, "collective.include=basic").find(kSharing), std::string::npos);
  EXPECT_EQ(Text(4, 4, "collective.board.enable=never").find(kSharing), std::string::npos);
  const std::string named = Text(4, 4, "collective.bcast.algorithm=linear");
  const std::string sharing = named.substr(named.find(kSharing));
  EXPECT_EQ(sharing.find("bcast"), std::string::npos) << sharing;
  EXPECT_NE(sharing.find("allreduce"), std::string::npos) << sharing;
}

TEST(Explain, SaysWhatMeetsWithinTheNodes) {
  constexpr const char* kMeeting = "meet in shared memory (collective.board.*):\n";
  const std::string text = Text(16, 4);
  EXPECT_NE(text.find(std::string(kMeeting) + "barrier, bcast, reduce, allreduce\n"),
            std::string::npos);
  EXPECT_EQ(Text(16, 16).find(kMeeting), std::string::npos);
  EXPECT_EQ(Text(16, 1).find(kMeeting), std::string::npos);
  EXPECT_EQ(Text(16, 4, "collective.board.enable=never").find(kMeeting), std::string::npos);
  EXPECT_EQ(Text(16, 4, "collective.include=basic,board").find(kMeeting), std::string::npos);
  // Predicted costs are those of what is done.
  const std::string without = Text(16, 4, "collective.board.enable=never");
  EXPECT_NE(LinesOf(text, "barrier"), LinesOf(without, "barrier"));
  EXPECT_EQ(LinesOf(text, "gather"), LinesOf(without, "gather"));
}

TEST(Explain, RefusesShapesThereAreNot) {
  Registry registry;
  ASSERT_TRUE(registry.Add(basic::Describe()).ok());
  const auto library = Library::Make(registry, {});
  ASSERT_TRUE(library.ok());
  EXPECT_FALSE(Explain(**library, 1, 1).ok());
  EXPECT_FALSE(Explain(**library, 4, 0).ok());
}

}  // namespace
}  // namespace lamina::collective
