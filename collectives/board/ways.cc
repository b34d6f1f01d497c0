// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/ways.h"

#include <algorithm>
#include <bit>

namespace lamina::collective::board {
namespace {

int MagnitudeOf(std::int64_t bytes) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

bool MayGoDirect(const Situation& it) {
  if (!it.reaches) return false;
  // Where ranks share CPUs, the board needs the fewest turns of each; but an alltoall among many
  // members is cut into small pieces there.
  if (it.sharing == Sharing::kShared && it.operation != Operation::kAlltoall) return false;
  switch (it.operation) {
    case Operation::kBcast:
    case Operation::kAllgather:
    case Operation::kAllgatherv:
      return true;
    case Operation::kReduce:
    case Operation::kAllreduce:
      return it.element_fits;
    case Operation::kAlltoall:
      return !it.in_place;
    default:
      return false;
  }
}

bool MayGoByMessages(const Situation& it) {
  const bool moves_blocks =
      it.operation == Operation::kGather || it.operation == Operation::kScatter;
  return moves_blocks && it.sharing == Sharing::kExclusive && !it.named;
}

}  // namespace

const char* Name(Way way) {
  switch (way) {
    case Way::kBoard:
      return "the board";
    case Way::kDirect:
      return "the buffers themselves";
    case Way::kMessages:
      return "messages";
  }
  return "unknown";
}

Candidates CandidatesFor(const Situation& situation) {
  Candidates candidates;
  if (MayGoDirect(situation)) candidates.Add(Way::kDirect);
  if (MayGoByMessages(situation)) candidates.Add(Way::kMessages);
  return candidates;
}

bool IsLong(Operation operation, std::int64_t bytes, Rank ranks, std::uint64_t area_bytes) {
  // All but a bcast write at least a block for each rank.
  const std::int64_t written = operation == Operation::kBcast ? bytes : bytes * ranks;
  return static_cast<std::uint64_t>(written) >= 2 * area_bytes;
}

Trial& Trials::Of(Operation operation, std::int64_t bytes, std::size_t ways) {
  const int magnitude = MagnitudeOf(bytes);
  for (Kept& kept : kept_)
    if (kept.operation == operation && kept.magnitude == magnitude && kept.ways == ways)
      return kept.trial;
  return kept_.emplace_back(Kept{operation, magnitude, ways, Trial(ways, PaceOf(operation, bytes))})
      .trial;
}

Trial::Pace Trials::PaceOf(Operation operation, std::int64_t bytes) const {
  const std::uint32_t before = params_.trial_before_calls, calls = params_.trial_calls;
  if (!IsLong(operation, bytes, ranks_, params_.area_bytes)) return {before, kTriesInVain, calls};
  return {std::min(before, kCallsBeforeTrialOfLong), kTriesInVainOfLong, calls};
}

std::string Weights(const Candidates& candidates, const Trial& trial) {
  std::string text;
  for (std::size_t i = 0; i < candidates.count; ++i)
    text += std::string(i == 0 ? "" : ", ") + Name(candidates.ways[i]) + " " +
            std::to_string(trial.ns(i)) + " ns";
  return text;
}

}  // namespace lamina::collective::board
