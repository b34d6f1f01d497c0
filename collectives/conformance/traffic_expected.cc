// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/conformance/traffic_expected.h"

#include <bit>
#include <functional>
#include <map>
#include <string>

#include "collectives/plan/blocks.h"
#include "collectives/plan/tree.h"

namespace lamina::collective {
namespace {

struct Question {
  std::int64_t ranks;
  std::int64_t count;
  std::int64_t power;   // the largest power of two among the ranks
  std::int64_t rounds;  // ceil(log2 ranks)
  Rank root;
  const Scenario& scenario;
  std::int64_t others() const { return ranks - 1; }
};
using Answer = std::function<Moved(const Question&)>;

// Every message of one size.
Moved Uniform(std::int64_t messages, std::int64_t elements_each) {
  return {messages, messages * elements_each};
}

Moved ToOthers(const Question& q) { return Uniform(q.others(), q.count); }
Moved AllToAll(const Question& q) { return Uniform(q.ranks * q.others(), q.count); }
Moved TwiceToOthers(const Question& q) { return Uniform(2 * q.others(), q.count); }

// Blocks of all positions but the root's, each as often as it is passed on.
std::int64_t BlocksThroughTree(const Question& q) {
  const auto ranks = static_cast<Rank>(q.ranks);
  std::int64_t blocks = 0;
  for (Rank position = 1; position < ranks; ++position)
    blocks += SubtreeEnd(position, ranks) - position;
  return blocks;
}

// A tree whose interval around the last rank is cut in two at the root.
Moved CutTree(const Question& q) {
  const auto ranks = static_cast<Rank>(q.ranks);
  std::int64_t cuts = 0;
  for (Rank child = 1; child < ranks; child *= 2)
    if (child + q.root < ranks && SubtreeEnd(child, ranks) + q.root > ranks) ++cuts;
  return {q.others() + cuts, BlocksThroughTree(q) * q.count};
}

Moved ScatterAllgather(const Question& q) {
  const auto ranks = static_cast<Rank>(q.ranks);
  const Blocks blocks(q.count, q.ranks);
  std::int64_t scattered = 0;
  for (Rank position = 1; position < ranks; ++position)
    scattered += blocks.Count(position, SubtreeEnd(position, ranks));
  return {q.others() + q.ranks * q.others(), scattered + q.others() * q.count};
}

// Each non-empty block goes to or from the root once.
Moved VectorAtRoot(const Question& q) {
  Moved moved;
  for (Rank rank = 0; rank < q.ranks; ++rank) {
    const std::int64_t count = q.scenario.CountOf(rank);
    if (rank == q.root || count == 0) continue;
    ++moved.messages;
    moved.elements += count;
  }
  return moved;
}

// Each non-empty block goes to all others.
Moved VectorToOthers(const Question& q) {
  Moved moved;
  for (Rank rank = 0; rank < q.ranks; ++rank) {
    const std::int64_t count = q.scenario.CountOf(rank);
    if (count == 0) continue;
    moved.messages += q.others();
    moved.elements += q.others() * count;
  }
  return moved;
}

Moved VectorAllToAll(const Question& q) {
  Moved moved;
  for (Rank from = 0; from < q.ranks; ++from)
    for (Rank to = 0; to < q.ranks; ++to) {
      const std::int64_t count = q.scenario.CountOf(from, to);
      if (from == to || count == 0) continue;
      ++moved.messages;
      moved.elements += count;
    }
  return moved;
}

Moved BruckAllToAll(const Question& q) {
  std::int64_t hops = 0;
  for (unsigned distance = 1; distance < q.ranks; ++distance) hops += std::popcount(distance);
  return {q.ranks * q.rounds, q.ranks * hops * q.count};
}

Moved InOrder(const Question& q) { return Uniform(q.others() + (q.root == 0 ? 0 : 1), q.count); }

Moved RecursiveDoubling(const Question& q) {
  const std::int64_t levels = std::countr_zero(static_cast<std::uint64_t>(q.power));
  return Uniform(q.power * levels + 2 * (q.ranks - q.power), q.count);
}

Moved Rabenseifner(const Question& q) {
  const std::int64_t levels = std::countr_zero(static_cast<std::uint64_t>(q.power));
  const std::int64_t pairs = q.ranks - q.power;
  return {2 * q.power * levels + 2 * pairs, 2 * (q.power - 1 + pairs) * q.count};
}

// Messages of a scan by doubling over `ranks`.
std::int64_t Doubling(std::int64_t ranks) {
  std::int64_t messages = 0;
  for (std::int64_t gap = 1; gap < ranks; gap *= 2) messages += ranks - gap;
  return messages;
}

const std::map<std::string, Answer>& Answers() {
  static const auto* const answers = new std::map<std::string, Answer>{
      {"barrier.dissemination",
       [](const Question& q) {
         return Moved{q.ranks * q.rounds, 0};
       }},
      {"barrier.linear",
       [](const Question& q) {
         return Moved{2 * q.others(), 0};
       }},
      {"barrier.tree",
       [](const Question& q) {
         return Moved{2 * q.others(), 0};
       }},
      {"bcast.binomial", ToOthers},
      {"bcast.linear", ToOthers},
      {"bcast.scatter_allgather", ScatterAllgather},
      {"gather.linear", ToOthers},
      {"gather.binomial", CutTree},
      {"gatherv.linear", VectorAtRoot},
      {"scatter.linear", ToOthers},
      {"scatter.binomial", CutTree},
      {"scatterv.linear", VectorAtRoot},
      {"allgather.ring", AllToAll},
      {"allgather.recursive_doubling",
       [](const Question& q) {
         return Moved{q.ranks * q.rounds, q.ranks * q.others() * q.count};
       }},
      {"allgather.gather_bcast",
       [](const Question& q) {
         return Moved{2 * q.others(), (q.others() + q.others() * q.ranks) * q.count};
       }},
      {"allgather.bruck",
       [](const Question& q) {
         return Moved{q.ranks * q.rounds, q.ranks * q.others() * q.count};
       }},
      {"allgatherv.ring", VectorToOthers},
      {"allgatherv.linear", VectorToOthers},
      {"alltoall.pairwise", AllToAll},
      {"alltoall.windowed", AllToAll},
      {"alltoall.in_place", AllToAll},
      {"alltoall.bruck", BruckAllToAll},
      {"alltoallv.pairwise", VectorAllToAll},
      {"alltoallv.windowed", VectorAllToAll},
      {"alltoallv.in_place", VectorAllToAll},
      {"alltoallw.windowed", VectorAllToAll},
      {"alltoallw.in_place", VectorAllToAll},
      {"reduce.binomial", ToOthers},
      {"reduce.in_order", InOrder},
      {"reduce.linear", ToOthers},
      {"allreduce.recursive_doubling", RecursiveDoubling},
      {"allreduce.rabenseifner", Rabenseifner},
      {"allreduce.ring",
       [](const Question& q) {
         return Moved{2 * q.ranks * q.others(), 2 * q.others() * q.count};
       }},
      {"allreduce.linear", TwiceToOthers},
      {"allreduce.reduce_bcast", TwiceToOthers},
      {"reduce_scatter.direct", VectorToOthers},
      {"reduce_scatter_block.direct", AllToAll},
      {"scan.linear", ToOthers},
      {"scan.doubling", [](const Question& q) { return Uniform(Doubling(q.ranks), q.count); }},
      {"exscan.linear", ToOthers},
      {"exscan.doubling",
       [](const Question& q) { return Uniform(q.others() + Doubling(q.others()), q.count); }},
  };
  return *answers;
}

}  // namespace

std::optional<Moved> Expected(const Algorithm& algorithm, const Case& one,
                              const Scenario& scenario) {
  const auto found = Answers().find(std::string(Name(algorithm.operation)) + "." + algorithm.name);
  if (found == Answers().end()) return std::nullopt;
  return found->second(Question{one.ranks, one.count, PowerFloor(one.ranks), CeilLog2(one.ranks),
                                one.root, scenario});
}

}  // namespace lamina::collective
