// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/participant.h"

namespace lamina::collective::board {

// True if a member has finished this operation without writing the word that is awaited here, or
// waits in the same operation but for another call.
bool Expectation::IsInVain(Contradiction* found) const {
  const Terms terms = board.member(rank).terms.load(std::memory_order_relaxed);
  for (Rank other = 0; other < board.ranks(); ++other) {
    const Member& its = board.member(other);
    const bool is_through = its.finished.load(std::memory_order_acquire) >= number;
    const bool waits = its.waits_long.load(std::memory_order_acquire) == number;
    *found = {rank, other, terms, its.terms.load(std::memory_order_acquire)};
    if (other != rank && is_through && (whom == kAll || whom == other)) return true;
    if (waits && found->others != terms) return true;
  }
  return false;
}

void Expectation::LookAround() const {
  board.BreakIfDead(number);
  // What IsInVain saw may have happened after the word was written; then the wait is over now.
  Contradiction found;
  if (whom != kLaggard && IsInVain(&found) && !IsOver()) board.Break(found);
}

bool Participant::AwaitLaggards(Number needed) {
  Number least = number_ - 1;
  for (Rank other = 0; other < ranks(); ++other) {
    if (other == rank_) continue;
    const std::atomic<Number>& finished = board_.member(other).finished;
    if (!Await(finished, needed, Expectation::kLaggard)) return false;
    least = std::min(least, finished.load(std::memory_order_acquire));
  }
  finished_by_all_ = std::max(finished_by_all_, least);
  return true;
}

bool Participant::Contradict(Rank other, Terms others) {
  board_.Break({rank_, other, terms_, others});
  return false;
}

void Participant::BreakByDissent() {
  for (Rank other = 0; other < ranks(); ++other) {
    const Terms others = board_.member(other).terms.load(std::memory_order_acquire);
    if (others != terms_) return board_.Break({rank_, other, terms_, others});
  }
}

void Participant::WakeSleepers() {
  for (Rank other = 0; other < ranks(); ++other)
    if (other != rank_ && board_.member(other).asleep.load(std::memory_order_relaxed) != 0)
      waiter_.Wake(other);
}

}  // namespace lamina::collective::board
