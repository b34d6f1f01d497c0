// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every process asks the same components and prefers the same one; bad names stay out.
// Method: a registry of toy components, added in several orders.
#include "runtime/component/component.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace lamina::component {
namespace {

// This toy framework has components that greet.
class Greeter {
 public:
  virtual ~Greeter() = default;
  virtual std::string Greet() = 0;
};
struct World {
  bool quiet = false;
};
class Polite : public Greeter {
 public:
  std::string Greet() override { return "good day"; }
};

using Entry = Component<Greeter, World>;

Entry Toy(const std::string& name, int priority) {
  Entry entry;
  entry.info = {name, "1.0.0", "built in"};
  entry.query = [priority](const World& world) {
    return world.quiet ? Offer{-1, "it is quiet here"} : Offer{priority, "toy"};
  };
  entry.make = [](const World&) -> Result<std::unique_ptr<Greeter>> {
    return std::unique_ptr<Greeter>(std::make_unique<Polite>());
  };
  return entry;
}

std::vector<std::string> Order(const std::vector<Entry>& entries, const World& world = {}) {
  Registry<Greeter, World> registry;
  for (const Entry& entry : entries) EXPECT_TRUE(registry.Add(entry).ok());
  std::vector<std::string> names;
  for (const auto& [entry, offer] : registry.Ask(world)) names.push_back(entry->info.name);
  return names;
}

TEST(Registry, AsksAllAndPutsTheBestFirst) {
  EXPECT_EQ(Order({Toy("low", 0), Toy("high", 75), Toy("none", -1), Toy("middle", 50)}),
            (std::vector<std::string>{"high", "middle", "low", "none"}));
}

TEST(Registry, TiesGoByNameWhateverTheOrderOfAdding) {
  const std::vector<std::string> expected{"a", "b", "c"};
  EXPECT_EQ(Order({Toy("a", 50), Toy("b", 50), Toy("c", 50)}), expected);
  EXPECT_EQ(Order({Toy("c", 50), Toy("b", 50), Toy("a", 50)}), expected);
  EXPECT_EQ(Order({Toy("b", -1), Toy("c", -1), Toy("a", -1)}), expected);
}

TEST(Registry, TheContextDecides) {
  Registry<Greeter, World> registry;
  ASSERT_TRUE(registry.Add(Toy("polite", 10)).ok());
  EXPECT_EQ(registry.Ask({.quiet = false})[0].second.priority, 10);
  EXPECT_EQ(registry.Ask({.quiet = true})[0].second.priority, -1);
  EXPECT_EQ(registry.Ask({.quiet = true})[0].second.why, "it is quiet here");
}

TEST(Registry, FindsByNameAndMakes) {
  Registry<Greeter, World> registry;
  ASSERT_TRUE(registry.Add(Toy("polite", 10)).ok());
  EXPECT_EQ(registry.Find("rude"), nullptr);
  const Entry* entry = registry.Find("polite");
  ASSERT_NE(entry, nullptr);
  auto greeter = entry->make({});
  ASSERT_TRUE(greeter.ok());
  EXPECT_EQ((*greeter)->Greet(), "good day");
  EXPECT_FALSE(entry->params);  // none given
}

TEST(Registry, RefusesASecondOfTheSameName) {
  Registry<Greeter, World> registry;
  ASSERT_TRUE(registry.Add(Toy("polite", 10)).ok());
  const Status status = registry.Add(Toy("polite", 99));
  EXPECT_EQ(status.code(), Code::kExists);
  EXPECT_NE(status.message().find("\"polite\""), std::string::npos) << status.message();
  EXPECT_EQ(registry.entries().size(), 1u);
}

TEST(Registry, RefusesNamesThatAreNone) {
  Registry<Greeter, World> registry;
  EXPECT_EQ(registry.Add(Toy("Polite", 1)).code(), Code::kInvalid);
  EXPECT_TRUE(registry.entries().empty());
}

TEST(CheckName, WantsALowerCaseIdentifier) {
  for (const char* good : {"shm", "a", "tcp4", "lam_basic", "_x"})
    EXPECT_TRUE(CheckName(good).ok()) << good;
  for (const char* bad :
       {"", "4tcp", "Shm", "a-b", "a.b", "a b", "base", "include", "a/b", "\xc3\xa4"})
    EXPECT_EQ(CheckName(bad).code(), Code::kInvalid) << bad;
}

TEST(VersionsAgree, ComparesMajorAndMinorOnly) {
  EXPECT_TRUE(VersionsAgree("1.2.3", "1.2.4"));
  EXPECT_TRUE(VersionsAgree("1.2", "1.2.9b1"));
  EXPECT_TRUE(VersionsAgree("1", "1.0"));
  EXPECT_FALSE(VersionsAgree("1.2.3", "1.3.3"));
  EXPECT_FALSE(VersionsAgree("1.2.3", "2.2.3"));
  EXPECT_FALSE(VersionsAgree("1.2", "1.20"));
}

}  // namespace
}  // namespace lamina::component
