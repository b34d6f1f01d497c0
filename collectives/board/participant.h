// SPDX-License-Identifier: BSD-3-Clause
// One member at the board: what it posts, whom it waits for, and when memory may be used again.
//
//   Begin ── write ── Publish ── Finish                      a member that has something to say
//   Begin ── Await ── read ── Finish                         a member that wants to hear it
//   Begin ── write ── Meet all others ── read ── Finish      members that do both
//
// Where each rank has a CPU, those who meet look at each other's posts, which takes the time of one
// cache line. Where ranks share CPUs, they count themselves in at a gate and wait for one verdict:
// then a rank touches two lines in its turn however many others there are, and the member that
// arrives last can work for all.
//
// Threads: one at a time.
#pragma once

#include <algorithm>

#include "collectives/board/board.h"
#include "collectives/board/ring.h"
#include "runtime/memory/prefetch.h"

namespace lamina::collective::board {

// A member waits until `word` reaches `number`.
struct Expectation {
  const std::atomic<Number>& word;
  Number number;
  Board& board;
  Rank rank;  // the member that waits
  // The member that it waits for in operation `number`; kAll: for the verdict; kLaggard: for some
  // member to finish an earlier operation.
  Rank whom;
  static constexpr Rank kAll = -1, kLaggard = -2;

  bool IsOver() const { return word.load(std::memory_order_acquire) >= number || board.broken(); }
  // Breaks the board if nobody can end this wait any more. Is to be called now and then during
  // a long wait, because it takes some system calls.
  void LookAround() const;

 private:
  bool IsInVain(Contradiction* found) const;
};

// How a process waits at a board, and how it wakes another one.
class BoardWaiter {
 public:
  virtual ~BoardWaiter() = default;
  // Returns when `expectation` is over. A member that sleeps meanwhile says so in its Member first.
  virtual void Wait(const Expectation& expectation) = 0;
  // Wakes a member that said that it sleeps.
  virtual void Wake(Rank member) = 0;
};

// What a member writes before it has met all others. This decides whom it must wait for before
// there is room. kCell: a cell of a slot whose other cell the same call has written.
enum class Writes { kNothing, kPost, kSlot, kCell };

class Participant {
 public:
  // `sharing` must be the same on all members. The board and the waiter outlive the participant.
  Participant(Board* board, Rank rank, Sharing sharing, BoardWaiter* waiter)
      : board_(*board),
        waiter_(*waiter),
        rank_(rank),
        shares_cpus_(sharing == Sharing::kShared),
        ring_(RingBytes(board->ranks()), RingRowsMin(sharing)) {}

  Rank rank() const { return rank_; }
  Rank ranks() const { return board_.ranks(); }
  bool shares_cpus() const { return shares_cpus_; }
  Sharing sharing() const { return shares_cpus_ ? Sharing::kShared : Sharing::kExclusive; }
  Board& board() { return board_; }
  Post& post(Rank rank) { return board_.post(rank, number_); }
  std::byte* slot() { return board_.slot(number_); }
  // The cell of the slot whose turn it is; each is `bytes` long.
  std::byte* cell(std::int64_t bytes) {
    return slot() + static_cast<std::int64_t>(number_ / kSlots % kCells) * bytes;
  }
  Number number() const { return number_; }
  // From now on this member says these terms with all it posts, and expects them of the others.
  void set_terms(Terms terms) {
    if (terms == terms_) return;
    terms_ = terms;
    arrival_ = Mixed(terms) << Gate::kRanksBits | 1;
    member(rank_).terms.store(terms, std::memory_order_release);
  }

  // Starts the next operation. False, here and below: it cannot be carried out, because a member
  // died or is in another call.
  [[nodiscard]] bool Begin(Writes writes) {
    ++number_;
    return writes == Writes::kNothing || AwaitFinished(Before(writes));
  }
  // Starts the next operation, in which members write into a row of `bytes`. Returns the row, or
  // null. A member that does not write there does not wait for room.
  [[nodiscard]] std::byte* BeginRow(bool writes, std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    if (!ring_.IsShort(size))
      return Begin(writes ? Writes::kSlot : Writes::kNothing) ? slot() : nullptr;
    ++number_;
    const Ring::Stretch stretch = ring_.Take(size, number_);
    if (writes && !AwaitFinished(std::max(Before(Writes::kPost), stretch.before))) return nullptr;
    return board_.ring() + stretch.offset;
  }
  // Starts the next operation, whose data fits the posts. Returns the data of member 0's post; the
  // others follow at a stride of sizeof(Post). Null: it cannot be carried out.
  [[nodiscard]] std::byte* BeginPosts(bool writes) {
    return Begin(writes ? Writes::kPost : Writes::kNothing) ? post(0).data : nullptr;
  }
  // Where the row will be if the next operation has one of this length.
  const std::byte* next_row(std::int64_t bytes) const {
    const auto size = static_cast<std::size_t>(bytes);
    return ring_.IsShort(size) ? board_.ring() + ring_.Next(size) : next_slot();
  }
  const std::byte* next_slot() const { return board_.slot(number_ + 1); }
  // What this member has written can be read from now on. A member that publishes is likely to do
  // so again, and the next post is in the caches of those who have read it, so it is fetched back
  // already now.
  void Publish() {
    Say(post(rank_));
    if (!shares_cpus_) memory::WillWrite(&board_.post(rank_, number_ + 1));
  }
  [[nodiscard]] bool Await(Rank rank) {
    const Post& its = post(rank);
    if (!Await(its.number, number_, rank) || !AgreesWith(rank)) return false;
    const Number ago = its.said ^ terms_;
    if (finished_by_all_ + ago < number_ && ago < Post::kLongAgo) finished_by_all_ = number_ - ago;
    if (ranks() == 2) HaveMet();  // All others are this one.
    return true;
  }
  // Returns when all members have written. If ranks share CPUs, the last to arrive calls `last`,
  // whose work all find in the verdict or the slot.
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
    if (shares_cpus_) return ArriveAtGate([](Post&) {});
    Say(post(rank_));
  }
  [[nodiscard]] bool AwaitAll() {
    if (shares_cpus_) {
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
  // Fetches the `bytes` from `begin` on, which this member is going to write if the next operation
  // is like this one. The members that read these lines still have them, so a store would have to
  // wait for them; now there is time.
  void FetchNext(const std::byte* begin, std::int64_t bytes) const {
    if (shares_cpus_) return;  // A turn of another rank takes much longer.
    if (bytes > kFetchBytesMax) return;
    for (std::int64_t at = 0; at < bytes; at += kLineBytes) memory::WillWrite(begin + at);
  }
  // This member reads nothing of operation `number` and of earlier ones any more.
  void Finish(Number number) {
    board_.member(rank_).finished.store(number, std::memory_order_release);
    WakeIfAsleep();
  }
  void Finish() { Finish(number_); }
  // This member cannot go on. Ends the waiting of all.
  void Break() { board_.Break(); }
  // Says before a meeting that this member could not reach the memory of another one. After the
  // meeting all members learn of it: `denied` is the same on all of them and stays true, and none
  // of them tries again.
  void Deny() { board_.header().denied.store(number_, std::memory_order_relaxed); }
  void LearnOfDenial() {
    denied_ |= board_.header().denied.load(std::memory_order_relaxed) == number_;
  }
  bool denied() const { return denied_; }
  Member& member(Rank rank) { return board_.member(rank); }
  std::int32_t PidOf(Rank rank) { return board_.member(rank).pid.load(std::memory_order_relaxed); }

  static constexpr std::size_t RingRowsMin(Sharing sharing) {
    return sharing == Sharing::kShared ? kRingRowsMinShared : kRingRowsMinExclusive;
  }
  // A member may still read what was posted up to this many operations ago, less one.
  static constexpr Number kLag = 3;

 private:
  void Say(Post& post) { Say(post, terms_); }
  void Say(Post& post, Terms terms) {
    post.said = terms | std::min(number_ - finished_by_all_, Post::kLongAgo);
    post.number.store(number_, std::memory_order_release);
    WakeIfAsleep();
  }
  // Is called after a store that somebody may wait for. No fence is needed between the two: a
  // member that is going to sleep says so first and then looks many times more, which takes longer
  // than the store takes to become visible.
  void WakeIfAsleep() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (board_.header().sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      WakeSleepers();
  }
  bool Await(const std::atomic<Number>& word, Number number, Rank whom) {
    if (word.load(std::memory_order_acquire) >= number) return true;
    waiter_.Wait({word, number, board_, rank_, whom});
    return word.load(std::memory_order_acquire) >= number;
  }
  // All others have posted, so they have finished the operation kLag before this one.
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
      BreakByDissent();
      return Say(verdict, kContradiction);
    }
    last(verdict);
    Say(verdict);
  }
  bool Agrees(const Post& post) const { return (post.said ^ terms_) <= Post::kLongAgo; }
  bool AgreesWith(Rank other) {
    return Agrees(post(other)) || Contradict(other, post(other).said & ~Post::kLongAgo);
  }
  // Breaks the board, because `other` is in another call. Returns false.
  bool Contradict(Rank other, Terms others);
  // Breaks the board after all members have arrived with different terms.
  void BreakByDissent();
  // The operation that all members must have finished before there is room for this one.
  Number Before(Writes writes) const {
    const Number depth = writes == Writes::kSlot   ? kSlots
                         : writes == Writes::kCell ? kSlots * kCells
                                                   : kDepth;
    return number_ > depth ? number_ - depth : 0;
  }
  bool AwaitFinished(Number needed) { return needed <= finished_by_all_ || AwaitLaggards(needed); }
  bool AwaitLaggards(Number needed);
  void WakeSleepers();

  Board& board_;
  BoardWaiter& waiter_;
  const Rank rank_;
  const bool shares_cpus_;
  bool denied_ = false;
  Terms terms_ = kNoTerms;
  std::uint64_t arrival_ = 1;  // what this member adds to the count at a gate
  Number number_ = 0;
  Number finished_by_all_ = 0;
  Ring ring_;
};
static_assert(Participant::kLag < kSlots);

}  // namespace lamina::collective::board
