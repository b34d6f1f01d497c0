// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/conformance/player.h"

#include <algorithm>
#include <cstdarg>

#include "runtime/base/text.h"

namespace lamina::collective {
namespace {

bool Overlap(const Slice& a, const Slice& b, bool input_is_output) {
  const auto place = [&](const Slice& slice) {
    return input_is_output && slice.where == Where::kInput ? Where::kOutput : slice.where;
  };
  return a.count > 0 && b.count > 0 && place(a) == place(b) && a.first < b.first + b.count &&
         b.first < a.first + a.count;
}

bool Communicates(const Step& step) {
  return step.verb == Verb::kSend || step.verb == Verb::kReceive;
}

}  // namespace

Player::Player(const std::vector<Schedule>& schedules, std::vector<Memory>* memory)
    : schedules_(schedules), memory_(*memory), states_(schedules.size()) {
  for (std::size_t rank = 0; rank < schedules.size(); ++rank)
    states_[rank].scratch.assign(static_cast<std::size_t>(schedules[rank].scratch_elements),
                                 kUnwritten);
}

void Player::Fail(Rank rank, const char* format, ...) {
  if (!failure_.empty()) return;
  va_list arguments;
  va_start(arguments, format);
  failure_ = Format("rank %d, round %zu: ", rank, states_[static_cast<std::size_t>(rank)].round) +
             FormatV(format, arguments);
  va_end(arguments);
}

std::string Player::Play() {
  const auto ranks = static_cast<Rank>(schedules_.size());
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Schedule& schedule = schedules_[static_cast<std::size_t>(rank)];
    if (!schedule.steps.empty() &&
        (schedule.round_ends.empty() || schedule.round_ends.back() != schedule.steps.size()))
      Fail(rank, "the last round was not ended");
    BeginRound(rank);
  }
  while (!ready_.empty() && failure_.empty()) {
    const Rank rank = ready_.front();
    ready_.pop_front();
    EndRound(rank);
  }
  for (Rank rank = 0; rank < ranks; ++rank) {
    const RankState& state = states_[static_cast<std::size_t>(rank)];
    if (state.round < schedules_[static_cast<std::size_t>(rank)].round_ends.size())
      Fail(rank, "waits for ever for %u messages", state.pending);
    traffic_.rounds_max = std::max(traffic_.rounds_max, state.rounds_communicating);
  }
  for (const auto& [pair, channel] : channels_)
    if (!channel.sends.empty() || !channel.receives.empty())
      Fail(pair.first, "messages to rank %d were left over", pair.second);
  return failure_;
}

void Player::BeginRound(Rank rank) {
  const auto at = static_cast<std::size_t>(rank);
  const Schedule& schedule = schedules_[at];
  RankState& state = states_[at];
  if (state.round == schedule.round_ends.size()) return;
  const std::uint32_t begin = state.round == 0 ? 0 : schedule.round_ends[state.round - 1];
  const std::uint32_t end = schedule.round_ends[state.round];
  CheckHazards(rank, begin, end);
  for (std::uint32_t i = begin; i < end; ++i)
    if (Communicates(schedule.steps[i])) ++state.pending;
  if (state.pending == 0) return ready_.push_back(rank);
  ++state.rounds_communicating;
  for (std::uint32_t i = begin; i < end; ++i) {
    const Step& step = schedule.steps[i];
    if (!Communicates(step)) continue;
    if (step.peer < 0 || step.peer >= static_cast<Rank>(schedules_.size()) || step.peer == rank)
      return Fail(rank, "peer %d is nobody to talk to", step.peer);
    if (step.verb == Verb::kSend) {
      channels_[{rank, step.peer}].sends.push_back(&step);
      Match(rank, step.peer);
    } else {
      channels_[{step.peer, rank}].receives.push_back(&step);
      Match(step.peer, rank);
    }
  }
}

void Player::CheckHazards(Rank rank, std::uint32_t begin, std::uint32_t end) {
  const std::vector<Step>& steps = schedules_[static_cast<std::size_t>(rank)].steps;
  const bool shared = memory_[static_cast<std::size_t>(rank)].input_is_output;
  for (std::uint32_t i = begin; i < end; ++i) {
    if (steps[i].verb != Verb::kReceive) continue;
    for (std::uint32_t j = begin; j < end; ++j) {
      if (j == i || !Communicates(steps[j])) continue;
      const Slice& other = steps[j].verb == Verb::kSend ? steps[j].from : steps[j].to;
      if (Overlap(steps[i].to, other, shared))
        Fail(rank, "receives where the same round sends or receives");
    }
  }
}

void Player::Match(Rank from, Rank to) {
  Channel& channel = channels_[{from, to}];
  if (channel.sends.empty() || channel.receives.empty()) return;
  const Step& send = *channel.sends.front();
  const Step& receive = *channel.receives.front();
  channel.sends.pop_front();
  channel.receives.pop_front();
  if (send.from.count != receive.to.count)
    return Fail(to, "expects %lld elements of rank %d, which sends %lld",
                static_cast<long long>(receive.to.count), from,
                static_cast<long long>(send.from.count));
  const std::span<std::string> source = Find(from, send.from, false);
  const std::span<std::string> target = Find(to, receive.to, true);
  if (!failure_.empty()) return;
  for (std::size_t i = 0; i < source.size(); ++i) target[i] = *Written(from, &source[i]);
  ++traffic_.messages;
  traffic_.elements += send.from.count;
  for (const Rank rank : {from, to})
    if (--states_[static_cast<std::size_t>(rank)].pending == 0) ready_.push_back(rank);
}

void Player::EndRound(Rank rank) {
  const auto at = static_cast<std::size_t>(rank);
  RankState& state = states_[at];
  const Schedule& schedule = schedules_[at];
  const std::uint32_t begin = state.round == 0 ? 0 : schedule.round_ends[state.round - 1];
  for (std::uint32_t i = begin; i < schedule.round_ends[state.round]; ++i)
    if (!Communicates(schedule.steps[i])) Perform(rank, schedule.steps[i]);
  ++state.round;
  BeginRound(rank);
}

void Player::Perform(Rank rank, const Step& step) {
  const std::span<std::string> from = Find(rank, step.from, false);
  const std::span<std::string> into = Find(rank, step.to, true);
  if (!failure_.empty()) return;
  if (from.size() != into.size()) return Fail(rank, "copies between slices of different length");
  if (step.verb == Verb::kCopy && from.data() != into.data() &&
      Overlap(step.from, step.to, memory_[static_cast<std::size_t>(rank)].input_is_output))
    return Fail(rank, "copies between slices that overlap");
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::string& left = *Written(rank, &from[i]);
    if (step.verb == Verb::kCopy)
      into[i] = left;
    else
      Written(rank, &into[i])->insert(0, left);
  }
}

std::string* Player::Written(Rank rank, std::string* cell) {
  if (*cell == kUnwritten) Fail(rank, "reads an element nobody wrote");
  return cell;
}

std::span<std::string> Player::Find(Rank rank, const Slice& slice, bool writes) {
  Memory& memory = memory_[static_cast<std::size_t>(rank)];
  Cells* cells = &states_[static_cast<std::size_t>(rank)].scratch;
  if (slice.where == Where::kOutput) cells = &memory.output;
  if (slice.where == Where::kInput) cells = memory.input_is_output ? &memory.output : &memory.input;
  if (slice.where == Where::kInput && writes) Fail(rank, "writes the input");
  if (slice.first < 0 || slice.count < 0 ||
      slice.first + slice.count > static_cast<std::int64_t>(cells->size())) {
    Fail(rank, "touches elements %lld to %lld of %zu", static_cast<long long>(slice.first),
         static_cast<long long>(slice.first + slice.count), cells->size());
    return {};
  }
  return {cells->data() + slice.first, static_cast<std::size_t>(slice.count)};
}

}  // namespace lamina::collective
