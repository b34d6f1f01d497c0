// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the right algorithm is chosen: the cheapest that fits, the named one if it fits, a better
//         component's before basic's; and a wrong name is refused with the names there are.
// Method: choose from the basic component, and from a component made here that has one algorithm.
#include "collectives/select/library.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "collectives/basic/basic.h"
#include "collectives/call/meeting.h"

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
  EXPECT_EQ(Chosen(*library, Operation::kBcast, 16, 8), "knomial");
  EXPECT_EQ(Chosen(*library, Operation::kBcast, 16, 16 << 20), "chain");
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
  const auto library = Make(BasicOnly(), With({"p2p.wait.mode=oversubscribed"}));
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

TEST(Library, PlacesACommunicatorByNodesSwitchesAndWhatIsNear) {
  const auto library =
      Make(BasicOnly(), With({"collective.select.near_ranks=2", "collective.select.switch_nodes=2",
                              "collective.select.network.alpha_us=33"}));
  const auto itself = [](Rank rank) { return static_cast<std::uint32_t>(rank); };
  const Placement world = library->Place(16, Partition::Blocks(16, 4), itself);
  EXPECT_EQ(world.nodes, 4);
  ASSERT_NE(world.hierarchy, nullptr);
  ASSERT_EQ(world.hierarchy->levels.size(), 3u);
  EXPECT_STREQ(world.hierarchy->levels[0].name, "near");
  EXPECT_EQ(world.hierarchy->levels[0].groups.groups(), 8);
  EXPECT_EQ(world.hierarchy->levels[1].groups.groups(), 4);
  EXPECT_EQ(world.hierarchy->levels[2].groups.groups(), 2);
  EXPECT_EQ(world.hierarchy->levels[2].link.alpha_us, 33);
  EXPECT_EQ(world.link.alpha_us, library->params().far_alpha_us);
  ASSERT_NE(world.Nodes(), nullptr);
  EXPECT_EQ(world.Nodes()->groups(), 4);
  Call call;
  EXPECT_EQ(world.Seen(call), world.hierarchy.get());
  call.board = true;
  EXPECT_STREQ(world.Seen(call)->levels[0].name, "node");
  EXPECT_EQ(world.Seen(call)->levels.size(), 2u);

  // One of each node, and two of one: what is near is counted in the job.
  const Placement few = library->Place(4, Partition::Blocks(16, 4), [](Rank rank) {
    return std::array{0u, 4u, 9u, 10u}[static_cast<std::size_t>(rank)];
  });
  ASSERT_NE(few.hierarchy, nullptr);
  EXPECT_EQ(few.nodes, 3);
  ASSERT_EQ(few.hierarchy->levels.size(), 2u);
  EXPECT_STREQ(few.hierarchy->levels[0].name, "node");
  EXPECT_EQ(few.hierarchy->levels[0].groups.SizeOf(2), 2);
  EXPECT_EQ(few.Seen(call), few.hierarchy.get());

  // What is near is as much as a node.
  const Placement pairs = library->Place(4, Partition::Blocks(4, 2), itself);
  ASSERT_NE(pairs.Nodes(), nullptr);
  EXPECT_EQ(pairs.Nodes()->SizeOf(1), 2);

  const Placement one = library->Place(2, Partition::Blocks(16, 4), itself);
  EXPECT_EQ(one.hierarchy, nullptr);
  EXPECT_EQ(one.nodes, 1);
  EXPECT_EQ(one.Nodes(), nullptr);
  EXPECT_EQ(library->Place(4, Partition::Blocks(4, 1), itself).Nodes(), nullptr);
}

TEST(Library, WhatIsNearIsRefusedWhereItDoesNotNest) {
  for (const char* bad : {"collective.select.near_ranks=1", "collective.select.near_ranks=2,5",
                          "collective.select.near_ranks=x"})
    EXPECT_FALSE(Library::Make(BasicOnly(), With({bad})).ok()) << bad;
}

TEST(Library, AWrongNameListsTheRightOnes) {
  const auto made = Library::Make(BasicOnly(), With({"collective.barrier.algorithm=magic"}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), Code::kInvalid);
  EXPECT_EQ(made.status().message(),
            "collective.barrier.algorithm is \"magic\"; there are: dissemination, linear, tree");
}

TEST(Library, AComponentThatIsNotThereIsRefused) {
  EXPECT_TRUE(Library::Make(BasicOnly(), With({"collective.include= basic,"})).ok());
  const auto made = Library::Make(BasicOnly(), With({"collective.include=basic,magic"}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().message(), "collective.include names \"magic\", which is no collective");
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

Component ThirdComponent() {
  return {{"third", "0.1.0", "test"},
          [](const Context&) {
            return component::Offer{60, "for this test"};
          },
          [](const Context&) -> Result<std::unique_ptr<Collective>> {
            return std::unique_ptr<Collective>(std::make_unique<Third>());
          },
          nullptr};
}

TEST(Library, ABetterComponentIsFilledUpByBasic) {
  Registry registry = BasicOnly();
  ASSERT_TRUE(registry.Add(ThirdComponent()).ok());
  const auto library = Make(registry, {});
  EXPECT_EQ(Chosen(*library, Operation::kAllreduce, 8, 8), "fast");
  EXPECT_EQ(Chosen(*library, Operation::kAllreduce, 8, 8, false), "recursive_doubling");
  EXPECT_EQ(Chosen(*library, Operation::kBarrier, 8, 0), "dissemination");
}

// A component that convenes meetings for two operations and has no algorithms.
class Host final : public Collective, public Convener {
 public:
  std::span<const Algorithm* const> Algorithms() const override { return {}; }
  const Convener* convener() const override { return this; }
  Offer offer() const override {
    const OperationSet both{Operation::kBarrier, Operation::kAllreduce};
    return {both, both, true, "", ""};
  }
  std::unique_ptr<Meeting> Convene(const Place&) const override { std::abort(); }
};

Component HostComponent() {
  return {{"host", "0.1.0", "test"},
          [](const Context&) {
            return component::Offer{1, "for this test"};
          },
          [](const Context&) -> Result<std::unique_ptr<Collective>> {
            return std::unique_ptr<Collective>(std::make_unique<Host>());
          },
          nullptr};
}

Registry BasicAndHost() {
  Registry registry = BasicOnly();
  EXPECT_TRUE(registry.Add(HostComponent()).ok());
  return registry;
}

TEST(Library, AMeetingServesWhatItOffers) {
  const auto library = Make(BasicAndHost(), {});
  ASSERT_EQ(library->meeters().size(), 1u);
  const Meeter& host = library->meeters()[0];
  EXPECT_TRUE(host.calls.Has(Operation::kBarrier)) << "basic has less priority";
  EXPECT_TRUE(host.calls.Has(Operation::kAllreduce));
  EXPECT_FALSE(host.calls.Has(Operation::kBcast));
  EXPECT_TRUE(host.named.empty());
  EXPECT_TRUE(host.steps.empty()) << "no plan has such steps";
  EXPECT_TRUE(Make(BasicOnly(), {})->meeters().empty());
}

TEST(Library, AMeetingDoesNotStandBeforeABetterComponent) {
  Registry registry = BasicAndHost();
  ASSERT_TRUE(registry.Add(ThirdComponent()).ok());
  const auto library = Make(registry, {});
  EXPECT_FALSE(library->meeters()[0].calls.Has(Operation::kAllreduce));
  EXPECT_TRUE(library->meeters()[0].calls.Has(Operation::kBarrier));
  const auto named = Make(registry, With({"collective.allreduce.algorithm=host"}));
  EXPECT_TRUE(named->meeters()[0].calls.Has(Operation::kAllreduce));
}

TEST(Library, AParameterNamesAMeetingOrSomethingElse) {
  const auto library =
      Make(BasicAndHost(),
           With({"collective.barrier.algorithm=host", "collective.allreduce.algorithm=ring"}));
  const Meeter& host = library->meeters()[0];
  EXPECT_TRUE(host.named.Has(Operation::kBarrier));
  EXPECT_TRUE(host.calls.Has(Operation::kBarrier));
  EXPECT_FALSE(host.calls.Has(Operation::kAllreduce)) << "another algorithm was named";

  const auto made = Library::Make(BasicAndHost(), With({"collective.barrier.algorithm=magic"}));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().message(),
            "collective.barrier.algorithm is \"magic\"; there are: dissemination, linear, tree, "
            "host");
  EXPECT_FALSE(Library::Make(BasicAndHost(), With({"collective.bcast.algorithm=host"})).ok())
      << "it offers no bcast";
}

TEST(Library, AComponentsBadParameterIsRefused) {
  Component strict = HostComponent();
  strict.check = [](const param::Settings&) { return Error(Code::kInvalid, "it is bad"); };
  Registry registry = BasicOnly();
  ASSERT_TRUE(registry.Add(strict).ok());
  EXPECT_EQ(Library::Make(registry, {}).status().message(), "it is bad");
}

}  // namespace
}  // namespace lamina::collective
