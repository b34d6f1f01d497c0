// SPDX-License-Identifier: BSD-3-Clause
// One member at the board: what it posts, whom it waits for, and when memory may be used again.
//
//   Begin ── write ── Publish ── Finish                      whoever has something to say
//   Begin ── Await ── read ── Finish                         whoever wants to hear it
//   Begin ── write ── Meet all others ── read ── Finish      where all do both
//
// With a CPU for everybody, those who meet look at each other's posts: one cache line to go. Where
// ranks share CPUs they count arrivals at a gate and wait for one verdict: a rank touches two lines
// per turn however many others there are, and the last to arrive can work for all.
//
// Threads: one at a time.
#pragma once

#include <algorithm>

#include "collectives/board/board.h"
#include "collectives/board/ring.h"
#include "runtime/memory/prefetch.h"
#include "runtime/memory/streaming.h"

namespace lamina::collective::board {

// What a member waits for: `word` to reach `number`.
struct Expectation {
  const std::atomic<Number>& word;
  Number number;
  Board& board;
  Rank rank;  // who waits
  // For whom in operation `number`; kAll: for the verdict. kLaggard: for an earlier one to be over.
  Rank whom;
  static constexpr Rank kAll = -1, kLaggard = -2;

  bool Over() const { return word.load(std::memory_order_acquire) >= number || board.broken(); }
  // To be asked now and then by who waits for long: does somebody still come? If not, breaks the
  // board. Some system calls.
  void LookAround() const;

 private:
  bool IsInVain(Contradiction* found) const;
};

// How a process waits, and how it wakes another one.
class Patience {
 public:
  virtual ~Patience() = default;
  // Returns when `expectation` is over. Whoever sleeps meanwhile says so in its Member first.
  virtual void Wait(const Expectation& expectation) = 0;
  // `rank` said that it sleeps.
  virtual void Wake(Rank rank) = 0;
};

// What a member writes before it has met all others; decides how long it must wait for room.
// kCell: half a slot, of which the same call has written the other half.
enum class Writes { kNothing, kPost, kSlot, kCell };

class Participant {
 public:
  // `crowded` must be the same on all members. The others outlive it.
  Participant(Board* board, Rank rank, bool crowded, Patience* patience)
      : board_(*board),
        patience_(*patience),
        rank_(rank),
        crowded_(crowded),
        ring_(RingBytes(board->ranks()), RingOperationsMin(crowded)) {}

  Rank rank() const { return rank_; }
  Rank ranks() const { return board_.ranks(); }
  bool crowded() const { return crowded_; }
  Board& board() { return board_; }
  Post& post(Rank rank) { return board_.post(rank, number_); }
  std::byte* slot() { return board_.slot(number_); }
  // Half of it, of `bytes`; in turn with the other half.
  std::byte* cell(std::int64_t bytes) {
    return slot() + static_cast<std::int64_t>(number_ / kSlots % kCells) * bytes;
  }
  Number number() const { return number_; }
  // Said with everything from now on, and expected of the others.
  void set_terms(Terms terms) {
    if (terms == terms_) return;
    terms_ = terms;
    arrival_ = Mixed(terms) << Gate::kRanksBits | 1;
    member(rank_).terms.store(terms, std::memory_order_release);
  }
  Terms terms() const { return terms_; }
  // How this member writes into slots what others are going to read, and then its own output.
  memory::Stores stores() const { return stores_; }
  memory::Stores output_stores() const { return output_stores_; }
  void set_stores(memory::Stores slots, memory::Stores output) {
    stores_ = slots;
    output_stores_ = output;
  }

  // The next operation. False, here and below: it cannot be done, because a member died, or is in
  // another call (contradiction).
  [[nodiscard]] bool Begin(Writes writes) {
    ++number_;
    return writes == Writes::kNothing || AwaitFinished(Before(writes));
  }
  // The next operation, in which members write into `bytes`; where, or null if one died. Whoever
  // does not write there is not kept waiting for room.
  [[nodiscard]] std::byte* BeginRow(bool writes, std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    if (!ring_.IsShort(size))
      return Begin(writes ? Writes::kSlot : Writes::kNothing) ? slot() : nullptr;
    ++number_;
    const Ring::Stretch stretch = ring_.Take(size, number_);
    if (writes && !AwaitFinished(std::max(Before(Writes::kPost), stretch.before))) return nullptr;
    return board_.ring() + stretch.offset;
  }
  // The next operation, in which members write a few bytes into their posts; where the first one's
  // are, a post before the next one's, or null.
  [[nodiscard]] std::byte* BeginPosts(bool writes) {
    return Begin(writes ? Writes::kPost : Writes::kNothing) ? post(0).data : nullptr;
  }
  // Where a row will be if the next operation is like this one.
  const std::byte* next_row(std::int64_t bytes) const {
    const auto size = static_cast<std::size_t>(bytes);
    return ring_.IsShort(size) ? board_.ring() + ring_.Next(size) : next_slot();
  }
  const std::byte* next_slot() const { return board_.slot(number_ + 1); }
  // What was written before is there to be read. Whoever does so is likely to do it again, and that
  // post is with those who have read it: one root and a CPU for each of 2 ranks, 0.27 us a line,
  // bcast 0.058 us a call instead of 0.085, scatter 0.08 instead of 0.16.
  void Publish() {
    Say(post(rank_));
    if (!crowded_) memory::WillWrite(&board_.post(rank_, number_ + 1));
  }
  // Inlined for the same reason as Circle::Go.
  [[nodiscard, gnu::always_inline]] bool Await(Rank rank) {
    const Post& its = post(rank);
    if (!Await(its.number, number_, rank) || !AgreesWith(rank)) return false;
    const Number ago = its.said ^ terms_;
    if (finished_by_all_ + ago < number_ && ago < Post::kLongAgo) finished_by_all_ = number_ - ago;
    if (ranks() == 2) HaveMet();  // that one is all others
    return true;
  }
  // Everybody has written. Work that one can do for all is done by `last` (crowded) and found in
  // the verdict or the slot.
  template <class Last>
  [[nodiscard]] bool MeetAtGate(const Last& last) {
    ArriveAtGate(last);
    return AwaitAll();
  }
  [[nodiscard]] bool Meet() {
    Arrive();
    return AwaitAll();
  }
  // Meet() in two halves, for a member that has something of its own to do in between.
  void Arrive() {
    if (crowded_) return ArriveAtGate([](Post&) {});
    Say(post(rank_));
  }
  [[nodiscard]] bool AwaitAll() {
    if (crowded_) {
      const Post& verdict = board_.verdict(number_);
      if (!Await(verdict.number, number_, Expectation::kAll) || !Agrees(verdict)) return false;
    } else {
      for (Rank other = 0; other < ranks(); ++other)
        if (other != rank_ && !(Await(post(other).number, number_, other) && AgreesWith(other)))
          return false;
    }
    HaveMet();
    return true;
  }
  // Turns to the other direction and says whether it is from the end of the data. Counted by itself
  // because operations between, which take a number as well, must not change whose turn it is.
  bool TurnRound() { return from_end_ = !from_end_; }
  // Begins to fetch what this member is going to write if the next operation is like this one:
  // `bytes` from `begin` on. Those who read these lines still have them, and a store takes as long
  // as to take its line back from them; so it is done while there is time.
  void FetchNext(const std::byte* begin, std::int64_t bytes) const {
    if (crowded_) return;  // the wait is a turn of another rank, which is much longer
    if (bytes > kFetchBytesMax) return;
    for (std::int64_t at = 0; at < bytes; at += kLineBytes) memory::WillWrite(begin + at);
  }
  // Reads nothing of operation `number` and earlier ones any more.
  void Finish(Number number) {
    board_.member(rank_).finished.store(number, std::memory_order_release);
    WakeIfAsleep();
  }
  void Finish() { Finish(number_); }
  // This member cannot go on: ends the waiting of all.
  void Break() { board_.Break(); }
  // Said before a meeting: this member could not reach what it had to. After it, all know: `denied`
  // is the same on all members, and stays; none of them tries again.
  void Deny() { board_.header().denied.store(number_, std::memory_order_relaxed); }
  void LearnOfDenial() {
    denied_ |= board_.header().denied.load(std::memory_order_relaxed) == number_;
  }
  bool denied() const { return denied_; }
  Member& member(Rank rank) { return board_.member(rank); }
  std::int32_t PidOf(Rank rank) { return board_.member(rank).pid.load(std::memory_order_relaxed); }

 private:
  void Say(Post& post) { Say(post, terms_); }
  void Say(Post& post, Terms terms) {
    post.said = terms | std::min(number_ - finished_by_all_, Post::kLongAgo);
    post.number.store(number_, std::memory_order_release);
    WakeIfAsleep();
  }
  // After a store that somebody may wait for. No fence between the two: who is going to sleep says
  // so, then looks many times more, long enough for that store to have become visible.
  void WakeIfAsleep() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (board_.header().sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      WakeSleepers();
  }
  bool Await(const std::atomic<Number>& word, Number number, Rank whom) {
    if (word.load(std::memory_order_acquire) >= number) return true;
    patience_.Wait({word, number, board_, rank_, whom});
    return word.load(std::memory_order_acquire) >= number;
  }
  // All others have posted; whoever has, has finished what came kLag operations before.
  void HaveMet() {
    if (finished_by_all_ + kLag < number_) finished_by_all_ = number_ - kLag;
  }
  template <class Last>
  void ArriveAtGate(const Last& last) {
    constexpr std::uint64_t kRanksMask = (std::uint64_t{1} << Gate::kRanksBits) - 1;
    Gate& gate = board_.gate(number_);
    const auto all = static_cast<std::uint64_t>(ranks());
    const std::uint64_t arrived =
        gate.arrived.fetch_add(arrival_, std::memory_order_acq_rel) + arrival_;
    if ((arrived & kRanksMask) != all) return;
    gate.arrived.store(0, std::memory_order_relaxed);
    Post& verdict = board_.verdict(number_);
    if (arrived != all * arrival_) [[unlikely]] {
      ContradictAny();
      return Say(verdict, kContradiction);
    }
    last(verdict);
    Say(verdict);
  }
  bool Agrees(const Post& post) const { return (post.said ^ terms_) <= Post::kLongAgo; }
  bool AgreesWith(Rank other) {
    return Agrees(post(other)) || Contradict(other, post(other).said & ~Post::kLongAgo);
  }
  // Ends the waiting of all; false.
  bool Contradict(Rank other, Terms others);
  // All have come, and not to the same.
  void ContradictAny();
  // The operation that must be finished by all before there is room for this one.
  Number Before(Writes writes) const {
    const Number depth = writes == Writes::kSlot   ? kSlots
                         : writes == Writes::kCell ? kSlots * kCells
                                                   : kDepth;
    return number_ > depth ? number_ - depth : 0;
  }
  bool AwaitFinished(Number needed) { return needed <= finished_by_all_ || AwaitLaggards(needed); }
  bool AwaitLaggards(Number needed);
  void WakeSleepers();

 public:
  // A member may still read what was posted so many operations ago, less one.
  static constexpr Number kLag = 3;

  // With a CPU for each, whoever writes takes the lines back from the others, which is dearer in
  // the ring, where they lie side by side, than in slots. Two ranks, processors that share no
  // cache, roots in turn, us, in slots and in the ring: reduce of 64 bytes 0.35 0.32, of 256 0.37
  // 0.40; scatter of 256 0.36 0.46.
  static constexpr std::size_t RingOperationsMin(bool crowded) { return crowded ? 8 : 32; }

 private:
  // More lines than that are fetched as fast by the stores themselves.
  static constexpr std::int64_t kFetchBytesMax = 4 << 10;

  Board& board_;
  Patience& patience_;
  const Rank rank_;
  const bool crowded_;
  bool denied_ = false;
  bool from_end_ = true;
  Terms terms_ = kNoTerms;
  std::uint64_t arrival_ = 1;  // what it counts at a gate
  memory::Stores stores_ = memory::Stores::kOrdinary;
  memory::Stores output_stores_ = memory::Stores::kOrdinary;
  Number number_ = 0;
  Number finished_by_all_ = 0;
  Ring ring_;
};
static_assert(Participant::kLag < kSlots);

}  // namespace lamina::collective::board
