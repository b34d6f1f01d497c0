// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/conformance/traffic_expected.h"

#include <bit>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "collectives/bcast/segments.h"
#include "collectives/pieces/blocks.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

struct Question {
  std::int64_t ranks;
  std::int64_t count;
  std::int64_t power;   // the largest power of two among the ranks
  std::int64_t rounds;  // ceil(log2 ranks)
  Rank root;
  const Scenario& scenario;
  std::int64_t bytes;  // length of one block or vector
  std::int64_t others() const { return ranks - 1; }
};
using Answer = std::function<Moved(const Question&)>;

// All messages have one size.
Moved Uniform(std::int64_t messages, std::int64_t elements_each) {
  return {messages, messages * elements_each};
}

Moved ToOthers(const Question& q) { return Uniform(q.others(), q.count); }
Moved AllToAll(const Question& q) { return Uniform(q.ranks * q.others(), q.count); }
Moved TwiceToOthers(const Question& q) { return Uniform(2 * q.others(), q.count); }

// Counts the blocks of all positions but the root's, each as often as it is passed on.
std::int64_t BlocksThroughTree(const Question& q) {
  const auto ranks = static_cast<Rank>(q.ranks);
  std::int64_t blocks = 0;
  for (Rank position = 1; position < ranks; ++position)
    blocks += SubtreeEnd(position, ranks) - position;
  return blocks;
}

// The tree of gather and scatter, in which the interval that goes on past the last rank is cut in
// two at the root.
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

// Halving of a vector among the participants. Block i begins at begin(i). In each window both
// halves of the participants send the half of the window that the others keep, unless it is empty.
Moved Halving(std::int64_t participants, const std::function<std::int64_t(std::int64_t)>& begin) {
  Moved moved;
  for (std::int64_t w = participants; w > 1; w /= 2)
    for (std::int64_t first = 0; first < participants; first += w / 2) {
      const std::int64_t half = begin(first + w / 2) - begin(first);
      if (half > 0) moved.messages += w / 2;
      moved.elements += w / 2 * half;
    }
  return moved;
}

// The blocks move once in halving and once on their way back, and pairs send whole vectors there
// and back.
Moved Rabenseifner(const Question& q) {
  const std::int64_t pairs = q.ranks - q.power;
  const Blocks blocks(q.count, q.power);
  const Moved half = Halving(q.power, [&](std::int64_t i) { return blocks.Begin(i); });
  return {2 * half.messages + 2 * pairs, 2 * half.elements + 2 * pairs * q.count};
}

// After the halving every block goes up a binomial tree around the root, once for each bit in which
// its holder and the root's differ.
Moved RabenseifnerReduce(const Question& q) {
  const std::int64_t pairs = q.ranks - q.power;
  const bool root_paired = q.root < 2 * pairs;
  const auto target = static_cast<std::uint64_t>(root_paired ? q.root / 2 : q.root - pairs);
  const Blocks blocks(q.count, q.power);
  Moved moved = Halving(q.power, [&](std::int64_t i) { return blocks.Begin(i); });
  moved.messages += pairs;
  moved.elements += pairs * q.count;
  for (std::int64_t i = 0; i < q.power; ++i)
    moved.elements +=
        blocks.Count(i, i + 1) * std::popcount(static_cast<std::uint64_t>(i) ^ target);
  for (std::int64_t bit = 1; bit < q.power; bit *= 2)
    for (std::int64_t first = 0; first < q.power; first += bit) {
      // The blocks [first, first + bit) are with the holder whose low bits are the root's.
      const bool gives =
          ((static_cast<std::uint64_t>(first) ^ target) & static_cast<std::uint64_t>(bit)) != 0;
      if (gives && blocks.Count(first, first + bit) > 0) ++moved.messages;
    }
  const auto own = static_cast<std::int64_t>(target);
  if (root_paired && q.root % 2 == 0 && blocks.Count(own, own + 1) > 0) {
    ++moved.messages;
    moved.elements += blocks.Count(own, own + 1);
  }
  return moved;
}

// The halving of a reduce_scatter, in which rank r has count_of(r) elements of the result.
Moved HalvingScatter(const Question& q, const std::function<std::int64_t(Rank)>& count_of) {
  const std::int64_t pairs = q.ranks - q.power;
  std::vector<std::int64_t> begins = {0};  // where the blocks of the participants begin
  for (Rank rank = 0; rank < q.ranks; ++rank) {
    const bool second = rank < 2 * pairs && rank % 2 == 1;
    const std::int64_t end = begins.back() + count_of(rank);
    if (second)
      begins.back() = end;
    else
      begins.push_back(end);
  }
  const std::int64_t all = begins.back();
  Moved moved =
      Halving(q.power, [&](std::int64_t i) { return begins[static_cast<std::size_t>(i)]; });
  for (Rank even = 0; even < 2 * pairs; even += 2) {
    moved.messages += 1 + (count_of(even) > 0 ? 1 : 0);
    moved.elements += all + count_of(even);
  }
  return moved;
}

// How many messages a scan by doubling over `ranks` takes.
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
      {"bcast.knomial", ToOthers},
      {"bcast.chain",
       [](const Question& q) {
         const std::int64_t segments = ChainSegments(q.bytes, static_cast<Rank>(q.ranks));
         return Moved{segments * q.others(), q.others() * q.count};
       }},
      {"bcast.scatter_allgather", ScatterAllgather},
      {"gather.linear", ToOthers},
      {"gather.binomial", CutTree},
      {"gatherv.linear", VectorAtRoot},
      {"scatter.linear", ToOthers},
      {"scatter.binomial", CutTree},
      {"scatterv.linear", VectorAtRoot},
      {"allgather.ring", AllToAll},
      {"allgather.neighbor_exchange",
       [](const Question& q) {
         return Moved{q.ranks * q.ranks / 2, q.ranks * q.others() * q.count};
       }},
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
      {"reduce.rabenseifner", RabenseifnerReduce},
      {"allreduce.recursive_doubling", RecursiveDoubling},
      {"allreduce.rabenseifner", Rabenseifner},
      {"allreduce.ring",
       [](const Question& q) {
         return Moved{2 * q.ranks * q.others(), 2 * q.others() * q.count};
       }},
      {"allreduce.linear", TwiceToOthers},
      {"allreduce.reduce_bcast", TwiceToOthers},
      {"reduce_scatter.direct", VectorToOthers},
      {"reduce_scatter.pairwise", VectorToOthers},
      {"reduce_scatter.ring", VectorToOthers},
      {"reduce_scatter.halving",
       [](const Question& q) {
         return HalvingScatter(q, [&](Rank rank) { return q.scenario.CountOf(rank); });
       }},
      {"reduce_scatter_block.direct", AllToAll},
      {"reduce_scatter_block.pairwise", AllToAll},
      {"reduce_scatter_block.ring", AllToAll},
      {"reduce_scatter_block.halving",
       [](const Question& q) { return HalvingScatter(q, [&](Rank) { return q.count; }); }},
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
                                one.root, scenario, one.count * one.element_bytes});
}

}  // namespace lamina::collective
