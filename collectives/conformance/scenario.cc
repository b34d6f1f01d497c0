// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/conformance/scenario.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/check.h"
#include "runtime/base/text.h"

namespace lamina::collective {
namespace {

constexpr std::int64_t kHole = 2;  // untouched elements before each block of the v-forms

// The element `index` that `rank` holds for `block` before the call.
std::string Datum(Rank rank, Rank block, std::int64_t index) {
  return Format("%d>%d.%lld", rank, block, static_cast<long long>(index));
}

// One operand of a reduction. It has two letters for the rank, so that joined operands can be
// compared.
std::string Operand(Rank rank) {
  return {static_cast<char>('@' + rank / 64), static_cast<char>('@' + rank % 64)};
}
// An operand has the letters of its rank and one of its position.
constexpr std::size_t kOperandLetters = 3;

bool Vectored(Operation operation) {
  return operation == Operation::kGatherv || operation == Operation::kScatterv ||
         operation == Operation::kAllgatherv || operation == Operation::kAlltoallv ||
         operation == Operation::kAlltoallw;
}

void Append(Cells* cells, Rank rank, Rank block, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) cells->push_back(Datum(rank, block, i));
}

void Blank(Cells* cells, std::int64_t count) {
  cells->insert(cells->end(), static_cast<std::size_t>(count), kUnwritten);
}

}  // namespace

Scenario::Scenario(const Case& one)
    : case_(one),
      calls_(static_cast<std::size_t>(one.ranks)),
      arrays_(calls_.size()),
      memory_(calls_.size()),
      expected_(calls_.size()) {
  for (Rank rank = 0; rank < one.ranks; ++rank) Build(rank);
}

std::int64_t Scenario::CountOf(Rank r) const { return (r * 7 + 3) % (case_.count + 2); }
std::int64_t Scenario::CountOf(Rank from, Rank to) const {
  // Both directions have the same number, because exchanges in place need that.
  return ((from + to) * 5 + from * to) % (case_.count + 2);
}

void Scenario::Build(Rank rank) {
  const auto at = static_cast<std::size_t>(rank);
  Call& call = calls_[at];
  call.operation = case_.operation;
  call.commutative = case_.commutative;
  call.root = case_.root;
  const bool rooted = Rooted(case_.operation);
  call.in_place = case_.in_place && (!rooted || AtRoot(rank));
  call.all_in_place = case_.in_place && !rooted;
  call.bytes = case_.count * case_.element_bytes;
  if (case_.operation == Operation::kBarrier) {
    call.bytes = 0;
  } else if (Reduces(case_.operation)) {
    BuildReduction(rank);
  } else if (Vectored(case_.operation)) {
    call.bytes = 0;
    BuildVector(rank);
  } else {
    BuildMove(rank);
  }
  // Where nothing is expected, nothing may change.
  const Cells& output = memory_[at].output;
  for (std::size_t i = 0; i < std::min(output.size(), expected_[at].size()); ++i)
    if (expected_[at][i] == kUnwritten) expected_[at][i] = output[i];
}

void Scenario::BuildMove(Rank rank) {
  const auto at = static_cast<std::size_t>(rank);
  const Operation operation = case_.operation;
  const std::int64_t n = case_.count;
  Call& call = calls_[at];
  Memory& memory = memory_[at];
  Cells& expected = expected_[at];
  call.input_count = call.output_count = n;
  const bool own_in_output = call.in_place;

  if (operation == Operation::kBcast) {
    if (AtRoot(rank)) Append(&memory.output, rank, 0, n);
    if (!AtRoot(rank)) Blank(&memory.output, n);
    return Append(&expected, case_.root, 0, n);
  }
  const bool to_all = operation == Operation::kAlltoall;
  const bool scatters = operation == Operation::kScatter;
  if (scatters) {
    if (AtRoot(rank))
      for (Rank r = 0; r < case_.ranks; ++r) Append(&memory.input, rank, r, n);
    if (own_in_output) return;
    Blank(&memory.output, n);
    return Append(&expected, case_.root, rank, n);
  }
  if (!own_in_output)
    for (Rank r = 0; r < (to_all ? case_.ranks : 1); ++r) Append(&memory.input, rank, r, n);
  if (operation == Operation::kGather && !AtRoot(rank)) return;
  for (Rank r = 0; r < case_.ranks; ++r) {
    if (own_in_output && (to_all || r == rank))
      Append(&memory.output, rank, to_all ? r : 0, n);
    else
      Blank(&memory.output, n);
    Append(&expected, r, to_all ? rank : 0, n);
  }
}

void Scenario::BuildVector(Rank rank) {
  const auto at = static_cast<std::size_t>(rank);
  const Operation operation = case_.operation;
  Call& call = calls_[at];
  Memory& memory = memory_[at];
  Cells& expected = expected_[at];
  RankArrays& arrays = arrays_[at];
  const bool to_all = operation == Operation::kAlltoallv || operation == Operation::kAlltoallw;
  const bool scatters = operation == Operation::kScatterv;
  if (operation == Operation::kAllgatherv)
    for (Rank r = 0; r < case_.ranks; ++r) call.bytes += CountOf(r);

  // Fills the side that has many blocks, and puts a hole before each.
  const auto blocks = [&](Cells* cells, std::vector<std::int64_t>* counts,
                          std::vector<std::int64_t>* displacements, auto fill) {
    for (Rank r = 0; r < case_.ranks; ++r) {
      Blank(cells, kHole);
      counts->push_back(to_all ? CountOf(rank, r) : CountOf(r));
      displacements->push_back(static_cast<std::int64_t>(cells->size()));
      fill(r, counts->back());
    }
  };
  if (scatters) {
    if (AtRoot(rank))
      blocks(&memory.input, &arrays.input_counts, &arrays.input_displacements,
             [&](Rank r, std::int64_t count) { Append(&memory.input, rank, r, count); });
    call.output_count = call.in_place ? 0 : CountOf(rank);
    if (!call.in_place) {
      Blank(&memory.output, call.output_count);
      Append(&expected, case_.root, rank, call.output_count);
    }
  } else {
    if (to_all && !call.in_place)
      blocks(&memory.input, &arrays.input_counts, &arrays.input_displacements,
             [&](Rank r, std::int64_t count) { Append(&memory.input, rank, r, count); });
    if (!to_all && !call.in_place) {
      call.input_count = CountOf(rank);
      Append(&memory.input, rank, 0, call.input_count);
    }
    if (operation != Operation::kGatherv || AtRoot(rank))
      blocks(&memory.output, &arrays.output_counts, &arrays.output_displacements,
             [&](Rank r, std::int64_t count) {
               Blank(&expected, kHole);
               Append(&expected, r, to_all ? rank : 0, count);
               if (call.in_place && (to_all || r == rank))
                 Append(&memory.output, rank, to_all ? r : 0, count);
               else
                 Blank(&memory.output, count);
             });
  }
  call.input_counts = arrays.input_counts;
  call.input_displacements = arrays.input_displacements;
  call.output_counts = arrays.output_counts;
  call.output_displacements = arrays.output_displacements;
}

std::string Scenario::Folded(Rank first, Rank last, std::int64_t index) const {
  std::string all;
  for (Rank r = first; r < last; ++r) all += Operand(r) + std::to_string(index % 10);
  return all;
}

void Scenario::BuildReduction(Rank rank) {
  const auto at = static_cast<std::size_t>(rank);
  const Operation operation = case_.operation;
  const std::int64_t n = case_.count;
  Call& call = calls_[at];
  Memory& memory = memory_[at];
  Cells& expected = expected_[at];
  RankArrays& arrays = arrays_[at];

  std::int64_t elements = n;  // in the input
  std::int64_t first = 0;     // where this rank's part of the result begins
  std::int64_t result = n;    // elements in that part
  if (operation == Operation::kReduceScatterBlock) {
    elements = case_.ranks * n;
    first = rank * n;
  }
  if (operation == Operation::kReduceScatter) {
    elements = 0;
    for (Rank r = 0; r < case_.ranks; ++r) {
      if (r == rank) first = elements;
      arrays.output_counts.push_back(CountOf(r));
      elements += CountOf(r);
    }
    result = CountOf(rank);
    call.output_counts = arrays.output_counts;
    call.bytes = elements;
  }
  call.input_count = call.output_count = n;
  memory.input_is_output = call.in_place;
  Cells& own = call.in_place ? memory.output : memory.input;
  for (std::int64_t i = 0; i < elements; ++i) own.push_back(Folded(rank, rank + 1, i));
  if (!call.in_place && (operation != Operation::kReduce || AtRoot(rank)))
    Blank(&memory.output, result);

  Rank from = 0, to = case_.ranks;
  if (operation == Operation::kScan) to = rank + 1;
  if (operation == Operation::kExscan) to = rank;
  const bool has_result = operation == Operation::kReduce ? AtRoot(rank) : to > from;
  Blank(&expected, static_cast<std::int64_t>(memory.output.size()));
  if (has_result)
    for (std::int64_t i = 0; i < result; ++i)
      expected[static_cast<std::size_t>(i)] = Folded(from, to, first + i);
  // In place the rest of a scattered reduction's input may be left in any state.
  if (call.in_place && result < elements) {
    expected.resize(static_cast<std::size_t>(result));
  }
}

std::string Scenario::Compare(bool ordered) const {
  const auto normal = [&](std::string text) {
    if (ordered || !Reduces(case_.operation)) return text;
    std::vector<std::string> operands;
    for (std::size_t i = 0; i < text.size(); i += kOperandLetters)
      operands.push_back(text.substr(i, kOperandLetters));
    std::sort(operands.begin(), operands.end());
    return std::accumulate(operands.begin(), operands.end(), std::string());
  };
  for (std::size_t rank = 0; rank < calls_.size(); ++rank) {
    const Cells& output = memory_[rank].output;
    for (std::size_t i = 0; i < expected_[rank].size(); ++i) {
      if (normal(output[i]) != normal(expected_[rank][i]))
        return Format("rank %zu, element %zu: \"%s\" instead of \"%s\"", rank, i, output[i].c_str(),
                      expected_[rank][i].c_str());
      if (case_.operation == Operation::kAllreduce && output[i] != memory_[0].output[i])
        return Format("rank %zu, element %zu: \"%s\", but rank 0 has \"%s\"", rank, i,
                      output[i].c_str(), memory_[0].output[i].c_str());
    }
  }
  return {};
}

}  // namespace lamina::collective
