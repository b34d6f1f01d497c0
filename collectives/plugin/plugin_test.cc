// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a component that offers one operation, built outside the tree in plain C, serves that
//         operation, and basic serves all others; its plans are as good as ours; one that is broken
//         stops nobody.
// Method: the machine's C compiler builds the example of README.md in an empty directory; its plans
//         are played for all ranks without a network; then it is built broken in every way we know.
#include "collectives/plugin/plugin.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "collectives/basic/basic.h"
#include "collectives/conformance/player.h"
#include "collectives/conformance/scenario.h"
#include "collectives/select/library.h"
#include "runtime/base/text.h"

namespace lamina::collective {
namespace {

class PluginTest : public testing::Test {
 protected:
  PluginTest()
      : directory_(testing::TempDir() +
                   testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    for (const char* header : {"collectives/collective_abi.h", "runtime/component/component_abi.h"})
      std::filesystem::copy(header, directory_);
    Run(Format("collectives/plugin/extract_example collectives/plugin/README.md '%s'",
               directory_.c_str()));
  }
  ~PluginTest() override { std::filesystem::remove_all(directory_); }

  static void Run(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  // Builds the example after the sed script `edit` has changed it.
  void Build(const std::string& edit = "") {
    Run(
        Format("cd '%s' && sed -i '%s' example.c && cc -std=c11 -Wall -Wextra -Werror -shared "
               "-fPIC -I. -o collective_acme.so example.c",
               directory_.c_str(), edit.c_str()));
  }

  // Makes a library of basic and of what was built.
  std::unique_ptr<Library> Load(const std::vector<std::string>& parameters = {}) {
    Registry registry;
    EXPECT_TRUE(registry.Add(basic::Describe()).ok());
    refused_ = AddPlugins({directory_}, &registry);
    param::Settings settings;
    for (const std::string& one : parameters) EXPECT_TRUE(settings.AddCommandLine(one).ok());
    auto library = Library::Make(registry, settings);
    EXPECT_TRUE(library.ok()) << library.status().message();
    return library.ok() ? *std::move(library) : nullptr;
  }

  static std::string Chosen(const Library& library, Operation operation, Rank ranks = 4) {
    const Scenario scenario({operation, ranks, 0, 1});
    const Algorithm* algorithm = library.Choose(scenario.call(0), {ranks, 0}, library.Link(ranks));
    return algorithm == nullptr ? "nobody" : algorithm->name;
  }

  std::string directory_;
  std::vector<component::Refusal> refused_;
};

TEST_F(PluginTest, ServesItsOperationAndBasicTheRest) {
  Build();
  const auto library = Load();
  ASSERT_NE(library, nullptr);
  EXPECT_TRUE(refused_.empty());
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (Neighbourly(operation)) continue;
    if (operation == Operation::kBcast)
      EXPECT_EQ(Chosen(*library, operation), "acme_chain");
    else
      EXPECT_NE(Chosen(*library, operation), "nobody") << Name(operation);
  }
}

TEST_F(PluginTest, ItsPlansAreRight) {
  Build();
  const auto library = Load();
  ASSERT_NE(library, nullptr);
  for (Rank ranks = 2; ranks <= 33; ++ranks)
    for (Rank root = 0; root < ranks; ++root) {
      Scenario scenario({Operation::kBcast, ranks, root, 3});
      std::vector<Schedule> schedules(static_cast<std::size_t>(ranks));
      for (Rank rank = 0; rank < ranks; ++rank) {
        const Algorithm* algorithm =
            library->Choose(scenario.call(rank), {ranks, rank}, library->Link(ranks));
        ASSERT_STREQ(algorithm->name, "acme_chain");
        algorithm->plan(scenario.call(rank), {ranks, rank},
                        &schedules[static_cast<std::size_t>(rank)]);
      }
      Player player(schedules, &scenario.memory());
      ASSERT_EQ(player.Play(), "") << ranks << " ranks, root " << root;
      ASSERT_EQ(scenario.Compare(true), "") << ranks << " ranks, root " << root;
      ASSERT_EQ(player.traffic().messages, ranks - 1);
    }
}

TEST_F(PluginTest, ItsPriorityDecides) {
  Build();
  EXPECT_NE(Chosen(*Load({"collective.acme.priority=-1"}), Operation::kBcast), "acme_chain");
  EXPECT_EQ(Chosen(*Load({"collective.bcast.algorithm=binomial"}), Operation::kBcast), "binomial");
}

TEST_F(PluginTest, FitsAndCostsDecideAmongItsOwn) {
  Build(
      "s/^static const lamina_algorithm\\* const all.*/"
      "static int32_t Few(const lamina_algorithm* self, const lamina_call* call, "
      "const lamina_shape* shape) { return self != NULL \\&\\& call->bytes == 1 \\&\\& "
      "shape->ranks < 4; }\\n"
      "static const lamina_algorithm few = {.struct_size = sizeof few, .name = \"acme_few\", "
      ".operation = \"bcast\", .fits = Few, .plan = Plan};\\n"
      "static const lamina_algorithm* const all[] = {\\&chain, \\&few, NULL};/");
  const auto library = Load();
  EXPECT_EQ(Chosen(*library, Operation::kBcast, 3), "acme_few");
  EXPECT_EQ(Chosen(*library, Operation::kBcast, 4), "acme_chain");
}

TEST_F(PluginTest, OperationsWeDoNotKnowArePassedOver) {
  Build("s/\"bcast\"/\"teleport\"/");
  EXPECT_NE(Chosen(*Load(), Operation::kBcast), "nobody");
}

TEST_F(PluginTest, WithoutAlgorithmsItStopsNobody) {
  Build("s/{ return all; }/{ (void)all; return NULL; }/");
  EXPECT_NE(Chosen(*Load(), Operation::kBcast), "nobody");
}

TEST_F(PluginTest, AnotherMajorIsRefused) {
  Build("s/= LAMINA_COLLECTIVE_MAJOR/= 77/");
  EXPECT_NE(Chosen(*Load(), Operation::kBcast), "acme_chain");
  ASSERT_EQ(refused_.size(), 1u);
  EXPECT_EQ(refused_[0].reason,
            "it was built for version 77 of the collective framework, but this is version 1");
}

class PluginDeathTest : public PluginTest {
 protected:
  // Plans a bcast by the example after `change`.
  void PlanAfter(const std::string& change) {
    Build(change);
    const auto library = Load();
    const Scenario scenario({Operation::kBcast, 4, 0, 1});
    const Algorithm* algorithm = library->Choose(scenario.call(0), {4, 0}, library->Link(4));
    Schedule schedule;
    algorithm->plan(scenario.call(0), {4, 0}, &schedule);
  }
};

TEST_F(PluginDeathTest, AWrongPlanIsNamed) {
  EXPECT_DEATH(PlanAfter("s/(shape->rank + 1) % ranks, &data/ranks + 5, \\&data/"),
               "algorithm acme_chain of bcast, from a component outside: its plan has a message "
               "with rank 9");
}

TEST_F(PluginDeathTest, ADatatypeThatIsNotThereIsNamed) {
  EXPECT_DEATH(PlanAfter("s/LAMINA_OUTPUT, -1, 0/LAMINA_OUTPUT, 7, 0/"),
               "its plan has a slice of the datatype of block 7");
}

}  // namespace
}  // namespace lamina::collective
