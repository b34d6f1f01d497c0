// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the right algorithm is chosen: the cheapest that fits, the named one if it fits, a better
//         component's before basic's; and a wrong name is refused with the names there are.
// Method: choose from the basic component, and from a component made here that has one algorithm.
#include "collectives/select/library.h"

#include <gtest/gtest.h>

#include <string>

#include "collectives/basic/basic.h"

namespace lamina::collective {
namespace {

std::unique_ptr<Library> Make(const Registry& registry, const param::Settings& settings) {
  Result<std::unique_ptr<Library>> made = Library::Make(registry, settings);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return *std::move(made);
}

Registry BasicOnly() {
  Registry registry;
  EXPECT_TRUE(registry.Add(basic::Describe()).ok());
  return registry;
}

std::string Chosen(const Library& library, Operation operation, Rank ranks, std::int64_t bytes,
                   bool commutative = true) {
  Call call;
  call.operation = operation;
  call.bytes = bytes;
  call.commutative = commutative;
  return library.Choose(call, {ranks, 0}, library.Link(ranks))->name;
}

param::Settings With(std::initializer_list<const char*> assignments) {
  param::Settings settings;
  for (const char* assignment : assignments) EXPECT_TRUE(settings.AddCommandLine(assignment).ok());
  return settings;
}

TEST(Library, ChoosesBySize) {
  const auto library = Make(BasicOnly(), {});
  EXPECT_EQ(Chosen(*library, Operation::kAllreduce, 8, 8), "recursive_doubling");
  EXPECT_EQ(Chosen(*library, Operation::kAllreduce, 8, 1 << 20), "rabenseifner");
  EXPECT_EQ(Chosen(*library, Operation::kBcast, 16, 8), "binomial");
  EXPECT_EQ(Chosen(*library, Operation::kBcast, 16, 16 << 20), "scatter_allgather");
  EXPECT_EQ(Chosen(*library, Operation::kAlltoall, 64, 8), "bruck");
}

TEST(Library, NonCommutativeOperationsKeepTheirOrder) {
  const auto library = Make(BasicOnly(), {});
  for (const std::int64_t bytes : {8, 1 << 20}) {
    const std::string allreduce = Chosen(*library, Operation::kAllreduce, 8, bytes, false);
    EXPECT_NE(allreduce, "rabenseifner");
    EXPECT_NE(allreduce, "ring");
    EXPECT_NE(Chosen(*library, Operation::kReduce, 8, bytes, false), "binomial");
  }
}

TEST(Library, RanksThatShareCpusPreferFewTurns) {
  const auto library = Make(BasicOnly(), With({"progress.wait.mode=oversubscribed"}));
  EXPECT_EQ(Chosen(*library, Operation::kBarrier, 16, 0), "linear");
  EXPECT_EQ(Chosen(*library, Operation::kBcast, 16, 8), "linear");
  EXPECT_EQ(Chosen(*library, Operation::kAllreduce, 16, 8), "linear");
  EXPECT_EQ(Chosen(*Make(BasicOnly(), {}), Operation::kBarrier, 16, 0), "dissemination");
}

TEST(Library, ANameWinsWhereItFits) {
  const auto library =
      Make(BasicOnly(), With({"collective.allgather.algorithm=recursive_doubling"}));
  EXPECT_EQ(Chosen(*library, Operation::kAllgather, 8, 1 << 20), "recursive_doubling");
  EXPECT_NE(Chosen(*library, Operation::kAllgather, 7, 1 << 20), "recursive_doubling");
}

TEST(Library, AWrongNameListsTheRightOnes) {
  const auto made = Library::Make(BasicOnly(), With({"collective.barrier.algorithm=magic"}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), Code::kInvalid);
  EXPECT_EQ(made.status().message(),
            "collective.barrier.algorithm is \"magic\"; there are: dissemination, linear, tree");
}

// A component with one algorithm, for commutative reductions only.
const Algorithm kFast{"fast", Operation::kAllreduce,
                      [](const Call& call, const Shape&) { return call.commutative; },
                      [](const Call&, const Shape&, const LinkModel&) { return 1e9; },
                      [](const Call&, const Shape&, Schedule*) {}};
class Third final : public Collective {
 public:
  std::span<const Algorithm* const> Algorithms() const override { return kAlgorithms; }

 private:
  static constexpr const Algorithm* kAlgorithms[] = {&kFast};
};

TEST(Library, ABetterComponentIsFilledUpByBasic) {
  Registry registry = BasicOnly();
  ASSERT_TRUE(registry
                  .Add({{"third", "0.1.0", "test"},
                        [](const Context&) {
                          return component::Offer{60, "for this test"};
                        },
                        [](const Context&) -> Result<std::unique_ptr<Collective>> {
                          return std::unique_ptr<Collective>(std::make_unique<Third>());
                        },
                        nullptr})
                  .ok());
  const auto library = Make(registry, {});
  EXPECT_EQ(Chosen(*library, Operation::kAllreduce, 8, 8), "fast");
  EXPECT_EQ(Chosen(*library, Operation::kAllreduce, 8, 8, false), "recursive_doubling");
  EXPECT_EQ(Chosen(*library, Operation::kBarrier, 8, 0), "dissemination");
}

}  // namespace
}  // namespace lamina::collective
