// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/rounds.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher {

std::vector<std::uint32_t> Rounds::members() const {
  std::vector<std::uint32_t> found;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    if (ranks_[rank].member) found.push_back(static_cast<std::uint32_t>(rank));
  return found;
}

std::vector<std::uint32_t> Rounds::ended() const {
  std::vector<std::uint32_t> found;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    if (ranks_[rank].ended) found.push_back(static_cast<std::uint32_t>(rank));
  return found;
}

RoundStep Rounds::Revived(std::uint32_t epoch, std::span<const std::uint32_t> ended) {
  epoch_ = epoch;
  for (Rank& rank : ranks_) rank.here = rank.member = true;
  for (const std::uint32_t rank : ended) ranks_[rank] = {.ended = true};
  return Order(AgentWord::kGoOn, Phase::kGoing);
}

RoundStep Rounds::Begin() {
  outcome_ = Status();
  phase_ = Phase::kAwaiting;
  return Advance();
}

RoundStep Rounds::Report(std::uint32_t rank, const AgentWord& word, std::string_view text) {
  Rank& its = ranks_[rank];
  if (word.kind == AgentWord::kHere || word.kind == AgentWord::kGone) {
    its.here = word.kind == AgentWord::kHere;
    return its.here ? Advance() : Left(rank);
  }
  // A rank may still answer the orders of a round that was given up.
  if (word.epoch != epoch_ || !its.member) return {};
  switch (word.kind) {
    case AgentWord::kStopped:
      its.sent = word.number;
      its.arrived = its.arrived || phase_ == Phase::kStopping;
      break;
    case AgentWord::kReceived:
      its.received = word.number;
      break;
    case AgentWord::kBare:
      its.arrived = its.arrived || phase_ == Phase::kBaring;
      break;
    case AgentWord::kGoing:
      its.arrived = its.arrived || phase_ == Phase::kGoing;
      break;
    case AgentWord::kTrouble:
      if (phase_ != Phase::kGoing)
        return GiveUp(Format("rank %u cannot be saved: ", rank) + std::string(text));
      outcome_ = Error(Code::kInternal, "rank %u cannot go on after a checkpoint: %s", rank,
                       std::string(text).c_str());
      return {.broken = true};
    default:
      return {};
  }
  return Advance();
}

RoundStep Rounds::Ended(std::uint32_t rank) {
  ranks_[rank].ended = true;
  ranks_[rank].here = false;
  return Left(rank);
}

// A rank that has gone on may end as it likes.
RoundStep Rounds::Left(std::uint32_t rank) {
  const bool was_member = std::exchange(ranks_[rank].member, false);
  if (!was_member || phase_ == Phase::kGoing) return Advance();
  return GiveUp(Format("rank %u has ended meanwhile", rank));
}

RoundStep Rounds::Saved(const Status& status) {
  if (phase_ != Phase::kSaving) return {};
  if (!status.ok()) return GiveUp(std::string(status.message()));
  return Order(AgentWord::kGoOn, Phase::kGoing);
}

RoundStep Rounds::TimedOut() {
  switch (phase_) {
    case Phase::kAwaiting:
      outcome_ = Error(Code::kTimeout, "%s not called MPI_Init", Missing().c_str());
      return End();
    case Phase::kStopping:
      return GiveUp(AllArrived() ? "messages are still on their way"
                                 : Missing() + " not come to rest");
    case Phase::kBaring:
      return GiveUp(Missing() + " not let its transports go");
    case Phase::kGoing:
      outcome_ = Error(Code::kTimeout, "%s not gone on after a checkpoint", Missing().c_str());
      return {.broken = true};
    default:
      return {};
  }
}

RoundStep Rounds::Advance() {
  std::uint64_t sent = 0, received = 0;
  for (const Rank& rank : ranks_)
    if (rank.member) {
      sent += rank.sent;
      received += rank.received;
    }
  switch (phase_) {
    case Phase::kAwaiting: {
      const auto is_ready = [](const Rank& rank) { return rank.here || rank.ended; };
      if (!std::all_of(ranks_.begin(), ranks_.end(), is_ready)) return {};
      ++epoch_;
      for (Rank& rank : ranks_) rank.member = rank.here;
      if (members().empty()) {
        outcome_ = Error(Code::kNotFound, "every rank has ended");
        return End();
      }
      return Order(AgentWord::kStop, Phase::kStopping);
    }
    case Phase::kStopping:
      if (!AllArrived() || sent != received) return {};
      return Order(AgentWord::kLetGo, Phase::kBaring);
    case Phase::kBaring:
      if (!AllArrived()) return {};
      phase_ = Phase::kSaving;
      return {.save = true};
    case Phase::kGoing:
      return AllArrived() ? End() : RoundStep{};
    default:
      return {};
  }
}

RoundStep Rounds::Order(AgentWord::Kind order, Phase phase) {
  phase_ = phase;
  for (Rank& rank : ranks_) {
    rank.arrived = false;
    if (order == AgentWord::kStop) rank.sent = rank.received = 0;
    if (order == AgentWord::kStop) rank.excused = false;
  }
  RoundStep step{.order = order};
  if (AllArrived()) step.over = End().over;
  return step;
}

// The first reason is the one that is told.
RoundStep Rounds::GiveUp(std::string why) {
  if (outcome_.ok()) outcome_ = Error(Code::kAborted, "%s", why.c_str());
  if (phase_ == Phase::kAwaiting) return End();
  if (phase_ == Phase::kGoing || phase_ == Phase::kIdle) return Advance();
  for (Rank& rank : ranks_) rank.excused = phase_ == Phase::kStopping && !rank.arrived;
  return Order(AgentWord::kGoOn, Phase::kGoing);
}

RoundStep Rounds::End() {
  phase_ = Phase::kIdle;
  for (Rank& rank : ranks_) rank.member = false;
  return {.over = true};
}

bool Rounds::AllArrived() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return !rank.member || rank.arrived || rank.excused; });
}

// "rank 3 has", or "rank 3 and 2 others have": those that are waited for.
std::string Rounds::Missing() const {
  std::size_t count = 0;
  std::uint32_t first = 0;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Rank& its = ranks_[rank];
    const bool missing =
        phase_ == Phase::kAwaiting ? !its.here && !its.ended : its.member && !its.arrived;
    if (missing && count++ == 0) first = static_cast<std::uint32_t>(rank);
  }
  if (count < 2) return Format("rank %u has", first);
  return Format("rank %u and %zu %s have", first, count - 1, count == 2 ? "other" : "others");
}

}  // namespace lamina::launcher
