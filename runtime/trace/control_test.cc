// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every row of a parameter table becomes one control variable whose buffer keeps the value.
// Method: a table with one member of each type; values go into a buffer and come back.
#include "runtime/trace/control.h"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

namespace lamina::trace {
namespace {

struct Params {
  bool on = true;
  std::uint32_t slots = 7;
  std::uint64_t big = std::uint64_t{1} << 40;
  std::int64_t shift = -3;
  double share = 0.25;
  std::string mode = "fast";
  std::string list = "a,b";
};
constexpr std::tuple kFields{
    param::Describe("transport.sample.on", &Params::on, "A switch."),
    param::Describe("transport.sample.slots", &Params::slots, Unit::kCount, 1u, 9u, "Slots."),
    param::Describe("transport.sample.big", &Params::big, Unit::kBytes, 0u, ~std::uint64_t{0},
                    "Room."),
    param::Describe("p2p.sample.shift", &Params::shift, Unit::kNone, -9, 9, "A shift."),
    param::Describe("p2p.sample.share", &Params::share, Unit::kNone, 0.0, 1.0, "A share."),
    param::Describe("api.mode", &Params::mode, "slow|fast", "A word."),
    param::Describe("api.list", &Params::list, "", "A text."),
};

std::vector<component::ListedFramework> Tables(const param::Settings& settings) {
  return {{"sample", {}, param::Rows<Params>(settings, kFields), {}}};
}

const ControlVariable& Named(const std::vector<ControlVariable>& all, const std::string& name) {
  for (const ControlVariable& variable : all)
    if (variable.name == name) return variable;
  ADD_FAILURE() << "no variable " << name;
  return all.front();
}

TEST(Control, TypesFollowTheTable) {
  const auto all = ControlVariables(Tables({}));
  ASSERT_EQ(all.size(), 8u);  // and the version
  EXPECT_EQ(Named(all, "transport.sample.on").datatype, MPI_INT);
  EXPECT_EQ(Named(all, "transport.sample.slots").datatype, MPI_UNSIGNED);
  EXPECT_EQ(Named(all, "transport.sample.big").datatype, MPI_UNSIGNED_LONG_LONG);
  EXPECT_EQ(Named(all, "p2p.sample.shift").datatype, MPI_COUNT);
  EXPECT_EQ(Named(all, "p2p.sample.share").datatype, MPI_DOUBLE);
  EXPECT_EQ(Named(all, "api.mode").datatype, MPI_INT);
  EXPECT_EQ(Named(all, "api.list").datatype, MPI_CHAR);
  EXPECT_EQ(Named(all, "api.list").count, kTextBytes);
  EXPECT_EQ(Named(all, "transport.sample.slots").scope, MPI_T_SCOPE_ALL_EQ);
  EXPECT_EQ(Named(all, "api.list").scope, MPI_T_SCOPE_LOCAL);
  EXPECT_EQ(Named(all, "library.version").scope, MPI_T_SCOPE_CONSTANT);
  EXPECT_EQ(Named(all, "transport.sample.big").description, "Room. In bytes.");
}

TEST(Control, ChoicesBecomeAnEnumeration) {
  const auto all = ControlVariables(Tables({}));
  const Enumeration* words = Named(all, "api.mode").enumeration.get();
  ASSERT_NE(words, nullptr);
  ASSERT_EQ(words->items.size(), 2u);
  EXPECT_EQ(words->items[1].second, "fast");
  ASSERT_NE(Named(all, "transport.sample.on").enumeration, nullptr);
  EXPECT_EQ(Named(all, "p2p.sample.shift").enumeration, nullptr);
}

TEST(Control, ValuesSurviveTheBuffer) {
  const auto tables = Tables({});
  for (const ControlVariable& variable : ControlVariables(tables)) {
    alignas(16) char buffer[kTextBytes];
    std::memset(buffer, 'x', sizeof buffer);
    const std::string value = ValueOf(variable, tables);
    ToBuffer(variable, value, buffer);
    EXPECT_EQ(FromBuffer(variable, buffer), value) << variable.name;
  }
}

TEST(Control, ValueIsTheOneSomebodySet) {
  param::Settings settings;
  settings.AddTool("p2p.sample.shift", "-8");
  const auto tables = Tables(settings);
  EXPECT_EQ(ValueOf(Named(ControlVariables(tables), "p2p.sample.shift"), tables), "-8");
  for (const param::Row& row : tables[0].params)
    if (row.name == "p2p.sample.shift") {
      EXPECT_STREQ(Name(row.origin), "MPI_T");
    }
}

TEST(Control, WhatIsNoValueIsRefused) {
  const auto all = ControlVariables(Tables({}));
  const int none = 2;
  EXPECT_EQ(FromBuffer(Named(all, "api.mode"), &none), std::nullopt);
  char endless[kTextBytes];
  std::memset(endless, 'x', sizeof endless);
  EXPECT_EQ(FromBuffer(Named(all, "api.list"), endless), std::nullopt);
}

}  // namespace
}  // namespace lamina::trace
