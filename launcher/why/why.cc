// SPDX-License-Identifier: BSD-3-Clause
// A rank that waits can go on if all ranks that it waits for, or where one is enough one of them,
// can go on. Ranks that do not wait can go on, so those that can are found by repeating this until
// nothing changes. The others wait for each other for ever: from each of them a walk to one of
// those that it waits for comes to a circle, or to a rank that has ended.
#include "launcher/why/why.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "launcher/why/waiting_for.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// A circle of more ranks is told in part.
constexpr std::size_t kCircleMax = 6;
// Shorter circles are looked for from so many ranks of one that was found.
constexpr std::size_t kStartsMax = 16;
constexpr std::uint32_t kNobody = 0xffffffff;

using RankNumbers = std::vector<std::uint32_t>;

class Explanation {
 public:
  Explanation(std::span<const RankView> ranks, std::uint64_t now_ms)
      : ranks_(ranks), now_ms_(now_ms) {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      does_.push_back(WhatDoes(ranks, rank));
    waiters_.resize(ranks.size());
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      for (const std::uint32_t other : does_[rank].ranks) waiters_[other].push_back(rank);
    FindThoseThatCanGoOn();
  }

  std::vector<std::string> Lines(bool queues) {
    TellCircles();
    TellThoseElsewhere();
    TellNearMisses();
    TellGroups();
    if (queues)
      for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) TellQueues(rank);
    return std::move(lines_);
  }

 private:
  void Say(std::string line) { lines_.push_back(std::move(line)); }

  // A rank is looked at again when one of those for whom it waits can go on.
  void FindThoseThatCanGoOn() {
    can_go_on_.resize(ranks_.size(), false);
    std::vector<std::size_t> awaited;
    RankNumbers pending;
    const auto can = [&](std::uint32_t rank) {
      if (can_go_on_[rank] || !ranks_[rank].running) return;
      can_go_on_[rank] = true;
      pending.push_back(rank);
    };
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const WaitingFor& it = does_[rank];
      awaited.push_back(it.any ? std::min<std::size_t>(1, it.ranks.size()) : it.ranks.size());
      if (!it.waits || it.ranks.empty() || (it.any && it.others)) can(rank);
    }
    for (std::size_t at = 0; at < pending.size(); ++at)
      for (const std::uint32_t waiter : waiters_[pending[at]])
        if (awaited[waiter] > 0 && --awaited[waiter] == 0) can(waiter);
  }

  bool IsStuck(std::uint32_t rank) const { return ranks_[rank].running && !can_go_on_[rank]; }

  // The rank to which a walk goes on from one that is stuck.
  std::uint32_t Next(std::uint32_t rank) const {
    for (const std::uint32_t other : does_[rank].ranks)
      if (!can_go_on_[other]) return other;
    return rank;
  }

  void TellCircles() {
    std::vector<bool> told(ranks_.size(), false);
    std::vector<bool> walked(ranks_.size(), false);
    for (std::uint32_t start = 0; start < ranks_.size(); ++start) {
      if (!IsStuck(start) || told[start]) continue;
      RankNumbers walk;
      std::uint32_t rank = start;
      while (IsStuck(rank) && !walked[rank] && !told[rank]) {
        walk.push_back(rank);
        walked[rank] = true;
        rank = Next(rank);
      }
      const bool known = told[rank];
      for (const std::uint32_t each : walk) told[each] = true;
      if (known) continue;
      if (!ranks_[rank].running)
        TellEnded(walk.back(), rank);
      else
        TellCircle(Shortest({std::ranges::find(walk, rank), walk.end()}));
    }
  }

  // The shortest circle through any of these ranks, of which some are tried.
  RankNumbers Shortest(RankNumbers circle) const {
    const RankNumbers starts(circle.begin(), circle.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                  circle.size(), kStartsMax)));
    for (const std::uint32_t start : starts) {
      const RankNumbers other = CircleFrom(start);
      if (!other.empty() && other.size() < circle.size()) circle = other;
    }
    return circle;
  }

  // The shortest circle through a rank; empty if there is none. Ranks are visited in the order of
  // their distance.
  RankNumbers CircleFrom(std::uint32_t start) const {
    std::vector<std::uint32_t> from(ranks_.size(), kNobody);
    RankNumbers pending = {start};
    for (std::size_t at = 0; at < pending.size(); ++at) {
      const std::uint32_t rank = pending[at];
      for (const std::uint32_t other : does_[rank].ranks) {
        if (!IsStuck(other) || from[other] != kNobody) continue;
        from[other] = rank;
        if (other != start) {
          pending.push_back(other);
          continue;
        }
        RankNumbers circle = {start};
        for (std::uint32_t back = rank; back != start; back = from[back]) circle.push_back(back);
        std::ranges::reverse(circle);
        return circle;
      }
    }
    return {};
  }

  void TellEnded(std::uint32_t rank, std::uint32_t ended) {
    if (ended_told_.insert(ended).second)
      Say(Format("rank %u %s, but rank %u has ended", rank, does_[rank].does.c_str(), ended));
  }

  void TellCircle(RankNumbers circle) {
    std::rotate(circle.begin(), std::ranges::min_element(circle), circle.end());
    if (circle.size() == 1) {
      Say(Format("deadlock: rank %u waits for itself: it %s", circle[0],
                 does_[circle[0]].does.c_str()));
      return;
    }
    std::string text = "deadlock: ";
    for (std::size_t i = 0; i < circle.size() && i < kCircleMax; ++i)
      text += Format("%srank %u ", i == 0 ? "" : "; ", circle[i]) + does_[circle[i]].does;
    if (circle.size() > kCircleMax)
      text += Format("; and so on through %zu more ranks", circle.size() - kCircleMax);
    Say(text + ReasonOf(circle));
  }

  // What a circle has in common.
  std::string ReasonOf(const RankNumbers& circle) const {
    const auto all = [&](const auto& is) { return std::ranges::all_of(circle, is); };
    if (all([&](std::uint32_t rank) { return does_[rank].collective; })) {
      const WaitingFor& first = does_[circle[0]];
      const bool same =
          all([&](std::uint32_t rank) { return does_[rank].context == first.context; });
      return same ? ": all members of a communicator must call the same"
                  : ": all members must call collective operations in the same order";
    }
    const auto kind_of = [&](std::uint32_t rank) {
      const std::vector<const NotedEntry*> awaited = AwaitedOf(ranks_[rank].wait);
      return awaited.empty() ? std::uint8_t{0} : awaited[0]->kind;
    };
    if (!all([&](std::uint32_t rank) { return !does_[rank].own; })) return "";
    if (all([&](std::uint32_t rank) { return kind_of(rank) == NotedEntry::kSend; }))
      return circle.size() == 2 ? ": neither receives" : ": none of them receives";
    if (all([&](std::uint32_t rank) {
          return !does_[rank].collective &&
                 (kind_of(rank) == NotedEntry::kReceive || kind_of(rank) == NotedEntry::kProbe);
        }))
      return circle.size() == 2 ? ": neither has sent that" : ": none of them has sent that";
    return "";
  }

  // Ranks that do not wait, and for which others do.
  void TellThoseElsewhere() {
    std::map<std::string, RankNumbers> by_words;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
      if (!does_[rank].waits && ranks_[rank].running && !waiters_[rank].empty())
        by_words[does_[rank].does].push_back(rank);
    for (const auto& [words, ranks] : by_words) {
      const RankNumbers waiters = ThoseWaitingFor(ranks);
      Say(RankWords(waiters) + (waiters.size() == 1 ? " waits for " : " wait for ") +
          RankWords(ranks) + ", which " + (ranks.size() == 1 ? words : OfSeveral(words)));
    }
  }

  // Those that wait for one of these ranks, directly or for others that do.
  RankNumbers ThoseWaitingFor(const RankNumbers& ranks) const {
    std::vector<bool> met(ranks_.size(), false);
    RankNumbers pending = ranks;
    for (std::size_t at = 0; at < pending.size(); ++at)
      for (const std::uint32_t waiter : waiters_[pending[at]])
        if (!met[waiter]) {
          met[waiter] = true;
          pending.push_back(waiter);
        }
    return {pending.begin() + static_cast<std::ptrdiff_t>(ranks.size()), pending.end()};
  }

  // A message has come that nearly is the one that is waited for.
  void TellNearMisses() {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const WaitSeen& wait = ranks_[rank].wait;
      if (!does_[rank].waits || does_[rank].collective || does_[rank].own) continue;
      for (const NotedEntry* wanted : AwaitedOf(wait)) {
        if (wanted->kind != NotedEntry::kReceive && wanted->kind != NotedEntry::kProbe) continue;
        for (const NotedEntry& come : wait.entries)
          if (IsNear(*wanted, come)) TellNearMiss(rank, *wanted, come);
      }
    }
  }

  static bool IsNear(const NotedEntry& wanted, const NotedEntry& come) {
    return come.kind == NotedEntry::kUnexpected && come.plane == NotedEntry::kPointToPoint &&
           wanted.plane == NotedEntry::kPointToPoint &&
           (wanted.peer == NotedEntry::kNobody || wanted.peer == come.peer);
  }

  void TellNearMiss(std::uint32_t rank, const NotedEntry& wanted, const NotedEntry& come) {
    const WaitSeen& wait = ranks_[rank].wait;
    const bool has_comm = wanted.comm < wait.comms.size();
    const bool same_comm = has_comm && wait.comms[wanted.comm].context == come.number;
    const bool same_tag = wanted.tag == NotedEntry::kAny || wanted.tag == come.tag;
    if (same_comm && same_tag) return;  // it has just come
    std::string text =
        Format("rank %u has a message from rank %u with tag %d", rank, come.peer, come.tag);
    if (!same_comm) text += " in " + WordsOfContext(come.number);
    text += ", which it does not receive: it waits for ";
    if (!same_tag) text += Format("tag %d", wanted.tag);
    if (!same_comm && has_comm)
      text += (same_tag ? "one in " : " in ") + CommWords(wait, wait.comms[wanted.comm]);
    Say(std::move(text));
  }

  std::string WordsOfContext(std::uint64_t context) {
    if (context == 0) return "MPI_COMM_WORLD";
    if (contexts_.empty())
      for (const RankView& view : ranks_)
        for (const NotedComm& comm : view.wait.comms)
          contexts_.try_emplace(comm.context, &view.wait, &comm);
    const auto found = contexts_.find(context);
    if (found == contexts_.end()) return "another communicator";
    return CommWords(*found->second.first, *found->second.second);
  }

  // What each rank does, those first with whom most others agree.
  void TellGroups() {
    std::map<std::string, RankNumbers> groups;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
      groups[does_[rank].does].push_back(rank);
    std::vector<std::pair<std::string, RankNumbers>> order(groups.begin(), groups.end());
    std::ranges::sort(order, {}, [](const auto& group) {
      return std::pair(~group.second.size(), group.second.front());
    });
    for (const auto& [words, ranks] : order)
      Say(RankWords(ranks) + " " + (ranks.size() == 1 ? words : OfSeveral(words)) +
          SinceWords(ranks));
  }

  // Says for how long all of them have waited.
  std::string SinceWords(const RankNumbers& ranks) const {
    std::uint64_t since_ms = 0;
    for (const std::uint32_t rank : ranks)
      if (does_[rank].waits) since_ms = std::max(since_ms, ranks_[rank].wait.since_ms);
    if (since_ms == 0) return "";
    const double seconds = static_cast<double>(now_ms_ - std::min(now_ms_, since_ms)) / 1000;
    return Format(seconds < 10 ? ", for %.1f s" : ", for %.0f s", seconds);
  }

  void TellQueues(std::uint32_t rank) {
    const WaitSeen& wait = ranks_[rank].wait;
    for (const NotedEntry& entry : wait.entries) {
      const char* kind = entry.kind == NotedEntry::kSend         ? "send"
                         : entry.kind == NotedEntry::kReceive    ? "receive"
                         : entry.kind == NotedEntry::kProbe      ? "probe"
                         : entry.kind == NotedEntry::kUnexpected ? "unexpected message"
                                                                 : "";
      if (*kind == '\0') continue;
      const char* plane = entry.plane == NotedEntry::kCollective ? " of a collective" : "";
      std::string text =
          Format("rank %u: %s%s ", rank, kind, plane) + EntryWords(wait, entry, ranks_.size());
      if (entry.kind == NotedEntry::kUnexpected) text += " in " + WordsOfContext(entry.number);
      if (entry.kind == NotedEntry::kUnexpected || entry.kind == NotedEntry::kReceive)
        text += Format(", %llu bytes", static_cast<unsigned long long>(entry.bytes));
      Say(std::move(text));
    }
    if (wait.left_out > 0) Say(Format("rank %u: and %u more", rank, wait.left_out));
  }

  const std::span<const RankView> ranks_;
  const std::uint64_t now_ms_;
  std::vector<WaitingFor> does_;
  std::vector<RankNumbers> waiters_;  // by rank: those that wait for it
  std::vector<bool> can_go_on_;
  // By context: a rank that has noted the communicator, and its note of it.
  std::map<std::uint64_t, std::pair<const WaitSeen*, const NotedComm*>> contexts_;
  std::set<std::uint32_t> ended_told_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string DoesWords(const RankView& view, std::size_t ranks) {
  return WordsFor(view, ranks).does;
}

bool AnyAwaitsAnotherJob(std::span<const RankView> ranks) {
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].running && !ranks[rank].lock_of && WhatDoes(ranks, rank).others) return true;
  return false;
}

std::vector<std::string> ExplainWaits(std::span<const RankView> ranks, std::uint64_t now_ms,
                                      bool queues) {
  return Explanation(ranks, now_ms).Lines(queues);
}

}  // namespace lamina::launcher
