// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every variable and event stands in exactly one category, categories nest as the dots in
//         their names do, and every component has one (MPI-5.0, section 15.3.9).
// Method: two made-up tables; the tree is walked.
#include "runtime/trace/category.h"

#include <gtest/gtest.h>

#include <set>

#include "runtime/trace/event.h"
#include "runtime/trace/performance.h"

namespace lamina::trace {
namespace {

std::vector<component::ListedFramework> Tables() {
  param::Row row;
  row.name = "transport.shm.ring_cells";
  component::ListedFramework transport{"transport", {}, {}, {}};
  transport.components.push_back({{"shm", "1.0.0", "built in"}, {}, {row}});
  transport.components.push_back({{"self", "1.0.0", "built in"}, {}, {}});
  return {transport};
}

TEST(Category, EverythingStandsInOne) {
  const auto controls = ControlVariables(Tables());
  const auto all = Categories(Tables(), controls);
  std::size_t controls_count = 0, performances = 0, events = 0;
  std::set<int> below;
  std::set<std::string> names;
  for (const Category& category : all) {
    EXPECT_TRUE(names.insert(category.name).second) << category.name;
    EXPECT_NE(category.description, "");
    controls_count += category.controls.size();
    performances += category.performances.size();
    events += category.events.size();
    for (const int index : category.categories) {
      EXPECT_TRUE(below.insert(index).second);
      EXPECT_TRUE(all[static_cast<std::size_t>(index)].name.starts_with(category.name + "."));
    }
  }
  EXPECT_EQ(controls_count, controls.size());
  EXPECT_EQ(performances, PerformanceVariables().size());
  EXPECT_EQ(events, Index(EventType::kCount));
}

TEST(Category, AComponentWithoutVariablesHasOne) {
  const auto all = Categories(Tables(), ControlVariables(Tables()));
  for (const Category& category : all)
    if (category.name == "transport.self") {
      EXPECT_TRUE(category.controls.empty());
      EXPECT_EQ(category.description, "Component self 1.0.0 of framework transport, built in.");
      return;
    }
  FAIL() << "no category of its own";
}

}  // namespace
}  // namespace lamina::trace
