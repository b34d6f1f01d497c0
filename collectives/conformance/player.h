// SPDX-License-Identifier: BSD-3-Clause
// Runs the schedules of all ranks of a communicator without a network.
//
// A cell is one element, and holds a text. A message between two ranks has no buffer anywhere: a
// send ends only when its receive is there too, and nobody leaves a board before all have come, so
// a plan that deadlocks in the strictest of transports deadlocks here. Receives are posted as early
// as the schedule lets them. Reducing joins texts, so the order of operands shows.
//
// It refuses a message whose two ends disagree in length, a step outside its buffer, two steps of
// one round that touch the same memory (unless both only read), a step that touches what a receive
// may already write, a strand that touches what another one writes, reads of a cell that nobody
// wrote, writes to the input, and anything left over at the end.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/collective.h"

namespace lamina::collective {

using Cells = std::vector<std::string>;

// The text of a cell that no rank has written yet.
inline const std::string kUnwritten = "?";

struct Memory {
  Cells input;
  Cells output;
  bool input_is_output = false;  // set for reductions in place
};

struct Traffic {
  std::int64_t messages = 0;    // sent by all ranks
  std::int64_t elements = 0;    // sent by all ranks
  std::int64_t rounds_max = 0;  // rounds in which the busiest rank communicates
  // The part of these that crosses between groups of the player's `nodes`.
  std::int64_t messages_across = 0;
  std::int64_t elements_across = 0;
};

class Player {
 public:
  // `schedules` and `memory` have an entry for each rank. Traffic between groups of `nodes` is
  // counted apart, and each group of `boards` has a board. All of these outlive the player.
  Player(const std::vector<Schedule>& schedules, std::vector<Memory>* memory,
         const Partition* nodes = nullptr, const Partition* boards = nullptr);

  // Runs to the end. Returns what went wrong first, or nothing.
  std::string Play();
  const Traffic& traffic() const { return traffic_; }

 private:
  struct StrandState {
    std::size_t round = 0;
    std::size_t end = 0;      // the round behind its last one
    std::size_t posted = 0;   // all rounds before this one have their receives posted
    bool begun = false;       // everything of `round` is posted
    std::uint32_t local = 0;  // steps of this round that are done, or are not local
  };
  struct RankState {
    Cells scratch;
    std::vector<StrandState> strands;
    std::vector<std::uint32_t> pending;  // for each round, transfers that have not met
    std::int64_t rounds_communicating = 0;
  };
  struct Place {
    Rank rank;
    std::uint32_t strand;
  };
  struct Transfer {
    const Step* step;
    std::size_t round;
  };
  struct Channel {
    std::deque<Transfer> sends;
    std::deque<Transfer> receives;
  };

  StrandState& StateOf(const Place& place) {
    return states_[static_cast<std::size_t>(place.rank)].strands[place.strand];
  }
  void Prepare(Rank rank);
  void BeginRound(const Place& place);
  void Post(const Place& place, std::size_t round, Verb verb);
  void Met(const Place& place, std::size_t round);
  void Match(Rank from, Rank to, std::uint32_t strand);
  void EndRound(const Place& place);
  void Perform(Rank rank, const Step& step);
  // `place` has come to a step at its node's board. The last to come does the step for all.
  void Meet(const Place& place);
  void PerformAtBoard(const std::vector<Place>& members);
  const Step& StepOf(const Place& place) {
    return schedules_[static_cast<std::size_t>(place.rank)].steps[StateOf(place).local];
  }
  std::span<std::string> Find(Rank rank, const Slice& slice, bool writes);
  void CheckHazards(Rank rank, std::size_t round);
  void CheckStrands(Rank rank);
  std::string* Written(Rank rank, std::string* cell);
  [[gnu::format(printf, 3, 4)]] void Fail(Rank rank, const char* format, ...);

  const std::vector<Schedule>& schedules_;
  std::vector<Memory>& memory_;
  std::vector<RankState> states_;
  const Partition* const nodes_;
  const Partition* const boards_;
  std::map<std::tuple<Rank, Rank, std::uint32_t>, Channel> channels_;  // from, to, strand
  std::map<Rank, std::vector<Place>> waiting_;                         // at the board of a node
  std::deque<Place> ready_;  // places whose round has communicated
  std::size_t round_ = 0;    // the round that texts about failures name
  std::string failure_;
  Traffic traffic_;
};

}  // namespace lamina::collective
