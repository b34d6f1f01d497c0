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

Player::Player(const std::vector<Schedule>& schedules, std::vector<Memory>* memory,
               const Partition* nodes, const Partition* boards)
    : schedules_(schedules),
      memory_(*memory),
      states_(schedules.size()),
      nodes_(nodes),
      boards_(boards) {
  for (std::size_t rank = 0; rank < schedules.size(); ++rank)
    states_[rank].scratch.assign(static_cast<std::size_t>(schedules[rank].scratch_elements),
                                 kUnwritten);
}

void Player::Fail(Rank rank, const char* format, ...) {
  if (!failure_.empty()) return;
  va_list arguments;
  va_start(arguments, format);
  failure_ = Format("rank %d, round %zu: ", rank, round_) + FormatV(format, arguments);
  va_end(arguments);
}

void Player::Prepare(Rank rank) {
  const Schedule& schedule = schedules_[static_cast<std::size_t>(rank)];
  if (!schedule.steps.empty() &&
      (schedule.round_ends.empty() || schedule.round_ends.back() != schedule.steps.size()))
    Fail(rank, "the last round was not ended");
  if (schedule.strand_ends.size() != schedules_[0].strand_ends.size())
    Fail(rank, "there are %zu strands, of rank 0 %zu", schedule.strand_ends.size(),
         schedules_[0].strand_ends.size());
  std::vector<StrandState>& strands = states_[static_cast<std::size_t>(rank)].strands;
  if (schedule.strand_ends.empty()) strands.push_back({0, schedule.round_ends.size()});
  std::size_t begin = 0;
  for (const std::uint32_t end : schedule.strand_ends) {
    strands.push_back({begin, end, begin});
    begin = end;
  }
  if (strands.back().end != schedule.round_ends.size()) Fail(rank, "the last strand was not ended");
  if (strands.size() > 1) CheckStrands(rank);
  std::vector<std::uint32_t>& pending = states_[static_cast<std::size_t>(rank)].pending;
  std::uint32_t step = 0;
  for (const std::uint32_t end : schedule.round_ends) {
    pending.push_back(0);
    for (; step < end; ++step) pending.back() += Communicates(schedule.steps[step]) ? 1 : 0;
  }
}

std::string Player::Play() {
  const auto ranks = static_cast<Rank>(schedules_.size());
  for (Rank rank = 0; rank < ranks; ++rank) Prepare(rank);
  if (!failure_.empty()) return failure_;
  for (Rank rank = 0; rank < ranks; ++rank)
    for (std::uint32_t i = 0; i < states_[static_cast<std::size_t>(rank)].strands.size(); ++i)
      BeginRound({rank, i});
  while (!ready_.empty() && failure_.empty()) {
    const Place place = ready_.front();
    ready_.pop_front();
    EndRound(place);
  }
  for (Rank rank = 0; rank < ranks; ++rank) {
    const RankState& state = states_[static_cast<std::size_t>(rank)];
    for (const StrandState& strand : state.strands) {
      round_ = strand.round;
      if (strand.round < strand.end)
        Fail(rank, "waits for ever for %u messages, or at a board", state.pending[strand.round]);
    }
    traffic_.rounds_max = std::max(traffic_.rounds_max, state.rounds_communicating);
  }
  for (const auto& [between, channel] : channels_)
    if (!channel.sends.empty() || !channel.receives.empty())
      Fail(std::get<0>(between), "messages to rank %d were left over", std::get<1>(between));
  return failure_;
}

void Player::BeginRound(const Place& place) {
  RankState& rank = states_[static_cast<std::size_t>(place.rank)];
  const Schedule& schedule = schedules_[static_cast<std::size_t>(place.rank)];
  StrandState& state = StateOf(place);
  if (state.round == state.end) return;
  round_ = state.round;
  state.local = schedule.RoundBegin(state.round);
  CheckHazards(place.rank, state.round);
  if (rank.pending[state.round] > 0) ++rank.rounds_communicating;
  for (const std::size_t ahead = std::min(state.round + schedule.receives_ahead + 1, state.end);
       state.posted < ahead; ++state.posted)
    Post(place, state.posted, Verb::kReceive);
  Post(place, state.round, Verb::kSend);
  state.begun = true;
  if (rank.pending[state.round] == 0) ready_.push_back(place);
}

// Posts the sends, or the receives, of a round.
void Player::Post(const Place& place, std::size_t round, Verb verb) {
  const auto [rank, strand] = place;
  const Schedule& schedule = schedules_[static_cast<std::size_t>(rank)];
  for (std::uint32_t i = schedule.RoundBegin(round); i < schedule.round_ends[round]; ++i) {
    const Step& step = schedule.steps[i];
    if (step.verb != verb) continue;
    if (step.peer < 0 || step.peer >= static_cast<Rank>(schedules_.size()) || step.peer == rank)
      return Fail(rank, "peer %d is nobody to talk to", step.peer);
    const bool sends = verb == Verb::kSend;
    const Rank from = sends ? rank : step.peer, to = sends ? step.peer : rank;
    Channel& channel = channels_[{from, to, strand}];
    (sends ? channel.sends : channel.receives).push_back({&step, round});
    Match(from, to, strand);
  }
}

// Notes that one transfer of that round has met its other end.
void Player::Met(const Place& place, std::size_t round) {
  const StrandState& state = StateOf(place);
  std::uint32_t& pending = states_[static_cast<std::size_t>(place.rank)].pending[round];
  if (--pending == 0 && round == state.round && state.begun) ready_.push_back(place);
}

// Checks that the result does not depend on the order in which strands run.
void Player::CheckStrands(Rank rank) {
  const Schedule& schedule = schedules_[static_cast<std::size_t>(rank)];
  const bool shared = memory_[static_cast<std::size_t>(rank)].input_is_output;
  std::map<std::pair<Where, std::int64_t>, int> writers;  // strands, by cell
  const auto each_cell = [&](const Slice& slice, auto visit) {
    const Where where = shared && slice.where == Where::kInput ? Where::kOutput : slice.where;
    for (std::int64_t i = 0; i < slice.count; ++i) visit({where, slice.first + i});
  };
  for (const bool reading : {false, true}) {
    std::uint32_t step = 0;
    for (std::size_t strand = 0; strand < schedule.strand_ends.size(); ++strand) {
      const std::uint32_t rounds = schedule.strand_ends[strand];
      const std::uint32_t end = rounds == 0 ? 0 : schedule.round_ends[rounds - 1];
      for (; step < end; ++step) {
        const Step& one = schedule.steps[step];
        const Slice& slice = reading ? one.from : one.to;
        each_cell(slice, [&](std::pair<Where, std::int64_t> cell) {
          const int number = static_cast<int>(strand);
          if (!reading) writers.try_emplace(cell, number);
          const auto writer = writers.find(cell);
          if (writer != writers.end() && writer->second != number)
            Fail(rank, "strand %d touches what strand %d writes", number, writer->second);
        });
      }
    }
  }
}

// Checks that no other transfer of a round, and no step of the rounds in which its receives may be
// posted, touches what its receives write.
void Player::CheckHazards(Rank rank, std::size_t round) {
  const Schedule& schedule = schedules_[static_cast<std::size_t>(rank)];
  const bool shared = memory_[static_cast<std::size_t>(rank)].input_is_output;
  const std::uint32_t begin = schedule.RoundBegin(round), end = schedule.round_ends[round];
  const std::size_t ahead = std::min<std::size_t>(round, schedule.receives_ahead);
  for (std::uint32_t i = begin; i < end; ++i) {
    const Step& receive = schedule.steps[i];
    if (receive.verb != Verb::kReceive) continue;
    for (std::uint32_t j = schedule.RoundBegin(round - ahead); j < end; ++j) {
      const Step& other = schedule.steps[j];
      if (j == i || (j >= begin && !Communicates(other))) continue;
      const bool reads = other.verb != Verb::kReceive && other.verb != Verb::kTell;
      if ((reads && Overlap(receive.to, other.from, shared)) ||
          (other.verb != Verb::kSend && Overlap(receive.to, other.to, shared)))
        Fail(rank, "receives where the same round sends or receives, or one before does anything");
    }
  }
}

void Player::Match(Rank from, Rank to, std::uint32_t strand) {
  Channel& channel = channels_[{from, to, strand}];
  if (channel.sends.empty() || channel.receives.empty()) return;
  const auto [sent, send_round] = channel.sends.front();
  const auto [received, receive_round] = channel.receives.front();
  const Step& send = *sent;
  const Step& receive = *received;
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
  if (nodes_ != nullptr && nodes_->GroupOf(from) != nodes_->GroupOf(to)) {
    ++traffic_.messages_across;
    traffic_.elements_across += send.from.count;
  }
  Met({from, strand}, send_round);
  Met({to, strand}, receive_round);
}

void Player::EndRound(const Place& place) {
  const Schedule& schedule = schedules_[static_cast<std::size_t>(place.rank)];
  StrandState& state = StateOf(place);
  round_ = state.round;
  for (; state.local < schedule.round_ends[state.round]; ++state.local) {
    const Step& step = schedule.steps[state.local];
    if (AtBoard(step.verb)) return Meet(place);
    if (!Communicates(step)) Perform(place.rank, step);
  }
  ++state.round;
  state.begun = false;
  BeginRound(place);
}

void Player::Meet(const Place& place) {
  if (boards_ == nullptr || states_[static_cast<std::size_t>(place.rank)].strands.size() > 1)
    return Fail(place.rank, "has no board, or waits at one in one of several strands");
  const Rank node = boards_->GroupOf(place.rank);
  std::vector<Place>& members = waiting_[node];
  members.push_back(place);
  if (static_cast<Rank>(members.size()) < boards_->SizeOf(node)) return;
  std::sort(members.begin(), members.end(),
            [](const Place& a, const Place& b) { return a.rank < b.rank; });
  PerformAtBoard(members);
  for (const Place& member : members) {
    ++StateOf(member).local;
    ready_.push_back(member);
  }
  members.clear();
}

void Player::PerformAtBoard(const std::vector<Place>& members) {
  const Step& first = StepOf(members.front());
  const bool folds = first.verb == Verb::kFold;
  const auto length = [&](const Step& step) { return folds ? step.from.count : step.to.count; };
  const auto root = std::find_if(members.begin(), members.end(),
                                 [&](const Place& one) { return one.rank == first.peer; });
  if (root == members.end()) return Fail(members.front().rank, "meets without rank %d", first.peer);
  for (const Place& member : members) {
    const Step& step = StepOf(member);
    if (step.verb != first.verb || step.peer != first.peer || length(step) != length(first))
      return Fail(member.rank, "does another step at the board than rank %d", members.front().rank);
  }
  if (!folds) {
    const std::span<std::string> said = Find(root->rank, StepOf(*root).to, false);
    for (const Place& member : members) {
      if (member.rank == root->rank) continue;
      const std::span<std::string> into = Find(member.rank, StepOf(member).to, true);
      if (!failure_.empty()) return;
      for (std::size_t i = 0; i < into.size(); ++i) into[i] = *Written(root->rank, &said[i]);
    }
    return;
  }
  Cells folded(static_cast<std::size_t>(length(first)));
  for (const Place& member : members) {
    const std::span<std::string> from = Find(member.rank, StepOf(member).from, false);
    if (!failure_.empty()) return;
    for (std::size_t i = 0; i < folded.size(); ++i) folded[i] += *Written(member.rank, &from[i]);
  }
  const std::span<std::string> into = Find(root->rank, StepOf(*root).to, true);
  if (into.size() != folded.size()) return Fail(root->rank, "folds to a slice of another length");
  std::move(folded.begin(), folded.end(), into.begin());
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
