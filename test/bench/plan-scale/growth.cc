// SPDX-License-Identifier: BSD-3-Clause
#include "test/bench/plan-scale/growth.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "collectives/basic/basic.h"
#include "collectives/hierarchical/hierarchical.h"
#include "runtime/base/check.h"

namespace lamina::collective {
namespace {

// In this model a message costs 1, a further one in a row a quarter, and bytes nothing.
constexpr LinkModel kCountMessages{1, 0.25, 0, 0, 1, 0};

bool Given(Operation operation) {
  return operation == Operation::kGatherv || operation == Operation::kScatterv ||
         operation == Operation::kAllgatherv || operation == Operation::kAlltoallv ||
         operation == Operation::kAlltoallw || operation == Operation::kReduceScatter;
}

void Enlarge(Growth* all, const Growth& one) {
  all->rounds = std::max(all->rounds, one.rounds);
  all->rounds_between_nodes = std::max(all->rounds_between_nodes, one.rounds_between_nodes);
  all->messages = std::max(all->messages, one.messages);
  all->bytes = std::max(all->bytes, one.bytes);
  all->plan_bytes = std::max(all->plan_bytes, one.plan_bytes);
  all->scratch_bytes = std::max(all->scratch_bytes, one.scratch_bytes);
}

Growth Count(const Schedule& schedule, const Machine& machine, Rank rank) {
  Growth growth;
  std::uint32_t begin = 0;
  for (const std::uint32_t end : schedule.round_ends) {
    bool talks = false;
    bool leaves = false;
    for (std::uint32_t i = begin; i < end; ++i) {
      const Step& step = schedule.steps[i];
      if (step.verb != Verb::kSend && step.verb != Verb::kReceive) continue;
      talks = true;
      leaves = leaves || machine.NodeOf(step.peer) != machine.NodeOf(rank);
      if (step.verb != Verb::kSend) continue;
      ++growth.messages;
      growth.bytes += step.from.count;
    }
    growth.rounds += talks ? 1 : 0;
    growth.rounds_between_nodes += leaves ? 1 : 0;
    begin = end;
  }
  growth.plan_bytes = static_cast<std::int64_t>(schedule.steps.size() * sizeof(Step) +
                                                schedule.round_ends.size() * sizeof(std::uint32_t));
  growth.scratch_bytes = schedule.scratch_elements;
  return growth;
}

}  // namespace

Machine::Machine(const Library& library, Rank ranks, Rank ranks_per_node)
    : ranks_(ranks),
      ranks_per_node_(ranks_per_node),
      placement_(library.Place(ranks, Partition::Blocks(ranks, ranks_per_node),
                               [](Rank rank) { return static_cast<std::uint32_t>(rank); })) {
  if (placement_.hierarchy == nullptr) return;
  counting_ = *placement_.hierarchy;
  counting_.outermost = kCountMessages;
  for (Level& level : counting_.levels) level.link = kCountMessages;
}

Shape Machine::CountingShape() const {
  Shape shape = ShapeOf(0);
  if (shape.hierarchy != nullptr) shape.hierarchy = &counting_;
  return shape;
}

Shape Machine::ShapeOf(Rank rank) const {
  Shape shape;
  shape.ranks = ranks_;
  shape.rank = rank;
  shape.nodes = placement_.nodes;
  shape.hierarchy = placement_.hierarchy.get();
  return shape;
}

UniformCall::UniformCall(Operation operation, Rank ranks, std::int64_t bytes, bool in_place) {
  call_.operation = operation;
  call_.in_place = call_.all_in_place = in_place;
  call_.input_count = call_.output_count = bytes;
  call_.bytes = bytes;
  if (!Given(operation)) return;
  counts_.assign(static_cast<std::size_t>(ranks), bytes);
  for (Rank rank = 0; rank < ranks; ++rank) displacements_.push_back(rank * bytes);
  call_.input_counts = call_.output_counts = counts_;
  call_.input_displacements = call_.output_displacements = displacements_;
  const bool all_know = operation == Operation::kAllgatherv || Reduces(operation);
  call_.bytes = all_know ? ranks * bytes : 0;
}

std::optional<Growth> Measure(const Algorithm& algorithm, const Machine& machine, Rank ranks,
                              std::int64_t bytes) {
  const bool barrier = algorithm.operation == Operation::kBarrier;
  for (const bool in_place : {false, true}) {
    const UniformCall uniform(algorithm.operation, ranks, barrier ? 0 : bytes, in_place);
    if (!algorithm.fits(uniform.call(), machine.ShapeOf(0))) continue;
    Growth all;
    all.path = static_cast<std::int64_t>(
        std::ceil(algorithm.cost_us(uniform.call(), machine.CountingShape(), kCountMessages)));
    Schedule schedule;
    const std::set<Rank> sample = {0, 1, ranks / 3, ranks / 2, ranks - 1};
    for (const Rank rank : sample) {
      schedule.Clear();
      algorithm.plan(uniform.call(), machine.ShapeOf(rank), &schedule);
      Enlarge(&all, Count(schedule, machine, rank));
    }
    return all;
  }
  return std::nullopt;
}

std::string Law(std::int64_t at_few, std::int64_t at_many, Rank few, Rank many) {
  if (at_few == 0) return at_many == 0 ? "0" : "more";
  const double grown = static_cast<double>(at_many) / static_cast<double>(at_few);
  const double ranks = static_cast<double>(many) / few;
  const double logs = std::log2(many) / std::log2(few);
  const struct {
    const char* name;
    double factor;
  } laws[] = {{"1", 1},     {"log P", logs},           {"sqrt P", std::sqrt(ranks)},
              {"P", ranks}, {"P log P", ranks * logs}, {"more", ranks * ranks}};
  const char* best = "more";
  double off = 1e300;
  for (const auto& law : laws) {
    const double distance = std::abs(std::log(grown) - std::log(law.factor));
    if (distance >= off) continue;
    off = distance;
    best = law.name;
  }
  return best;
}

const Library& Shipped() {
  static const Library* const library = [] {
    Registry registry;
    CHECK(registry.Add(basic::Describe()).ok());
    CHECK(registry.Add(hierarchical::Describe()).ok());
    auto made = Library::Make(registry, param::Settings());
    CHECK(made.ok());
    return (*made).release();
  }();
  return *library;
}

}  // namespace lamina::collective
