// SPDX-License-Identifier: BSD-3-Clause
// Goal:   runs are the bytes of a buffer in type map order, and Uniform tells what they are.
// Method: types of every kind of layout, their runs played one after the other against Pack.
#include "runtime/datatype/runs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/datatype/construct.h"
#include "runtime/datatype/parametrised.h"

namespace lamina::datatype {
namespace {

Datatype* Named(MPI_Datatype handle) { return FindDatatype(handle); }

// What a test has made, until it gives everything back.
std::vector<Datatype*> made;
Datatype* Made(std::vector<Part> parts) { return made.emplace_back(MakeBlocks(std::move(parts))); }
void GiveBack() {
  for (Datatype* const type : made) Release(type);
  made.clear();
}

// Makes a type of blocks, given by their displacements and lengths.
Datatype* Blocks(const std::vector<std::pair<std::int64_t, std::int64_t>>& blocks,
                 Datatype* of = Named(MPI_INT)) {
  std::vector<Part> parts;
  for (const auto& [displacement, count] : blocks) parts.push_back({of, displacement, count});
  Datatype* const type = Made(std::move(parts));
  Commit(type);
  return type;
}

void ExpectRunsAreWhatPackTakes(const Datatype& type, std::int64_t count) {
  std::vector<std::byte> memory(1 << 16);
  for (std::size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<std::byte>(i * 7 + i / 256);
  std::byte* const base = memory.data() + memory.size() / 2;
  const Buffer buffer{base, count, &type};
  std::vector<std::byte> packed(static_cast<std::size_t>(buffer.bytes()));
  Pack(buffer, 0, packed);
  std::vector<std::byte> played;
  Span span{INT64_MAX, INT64_MIN};
  EXPECT_TRUE(ForEachRun(count, type, [&](const datatype::Run& run) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      const std::byte* const at = base + run.offset + i * run.stride;
      played.insert(played.end(), at, at + run.bytes);
      span.begin = std::min(span.begin, run.offset + i * run.stride);
      span.end = std::max(span.end, run.offset + i * run.stride + run.bytes);
    }
    return true;
  }));
  EXPECT_EQ(played, packed);
  if (packed.empty()) return;
  EXPECT_EQ(SpanOf(count, type).begin, span.begin);
  EXPECT_EQ(SpanOf(count, type).end, span.end);
}

TEST(Runs, AreWhatPackTakes) {
  std::vector<Datatype*> types = {Named(MPI_INT), Named(MPI_SHORT_INT), Named(MPI_DOUBLE_INT)};
  types.push_back(Blocks({{0, 1}, {8, 1}, {16, 1}}));            // strided
  types.push_back(Blocks({{0, 1}, {8, 1}, {20, 1}, {100, 1}}));  // listed
  types.push_back(Blocks({{0, 1}, {8, 3}, {40, 2}}));            // mixed
  types.push_back(Blocks({{40, 2}, {0, 1}, {-16, 3}}));          // not ascending
  types.push_back(Blocks({{4, 2}, {80, 1}}, types[5]));
  types.push_back(Blocks({{0, 3}, {100, 2}}, Named(MPI_SHORT_INT)));
  for (const Datatype* type : types)
    for (const std::int64_t count : {0, 1, 2, 5}) ExpectRunsAreWhatPackTakes(*type, count);
  GiveBack();
}

TEST(Runs, StopWhenTheVisitorDoes) {
  int visits = 0;
  EXPECT_FALSE(ForEachRun(3, *Blocks({{0, 1}, {8, 3}, {40, 2}}),
                          [&](const datatype::Run&) { return ++visits < 2; }));
  EXPECT_EQ(visits, 2);
  GiveBack();
}

TEST(Uniform, IsTheOneBasicType) {
  EXPECT_EQ(Uniform(*Named(MPI_DOUBLE)), Named(MPI_DOUBLE));
  EXPECT_EQ(Uniform(*Blocks({{0, 1}, {8, 3}})), Named(MPI_INT));
  EXPECT_EQ(Uniform(*Blocks({{0, 1}, {8, 3}}, Named(MPI_SHORT_INT))), Named(MPI_SHORT_INT));
  EXPECT_EQ(Uniform(*Blocks({})), nullptr);
  Datatype* const two = Made({{Named(MPI_INT), 0, 1}, {Named(MPI_FLOAT), 4, 1}});
  EXPECT_EQ(Uniform(*two), nullptr);
  Datatype* const same = Made({{Named(MPI_INT), 0, 1}, {Named(MPI_INTEGER), 4, 1}});
  EXPECT_NE(Uniform(*same), nullptr);
  GiveBack();
}

TEST(Basics, AreFoundByWhatTheyAreMadeOf) {
  for (const MPI_Datatype handle : {MPI_INT, MPI_DOUBLE, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT}) {
    const Datatype* const type = Named(handle);
    const Datatype* const found = FindBasic(type->basic, type->value, type->index);
    ASSERT_NE(found, nullptr);
    EXPECT_TRUE(SameBasic(*found, *type));
    EXPECT_EQ(found->extent, type->extent);
  }
  const Datatype* const pair = ValueIndex(Named(MPI_INT16_T), Named(MPI_INT64_T));
  const Datatype* const found = FindBasic(pair->basic, pair->value, pair->index);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(SameBasic(*found, *pair));
  EXPECT_EQ(FindBasic(Basic::kNone, Basic::kNone, Basic::kNone), nullptr);
}

}  // namespace
}  // namespace lamina::datatype
