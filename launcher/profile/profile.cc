// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/profile/profile.h"

#include <algorithm>

#include "runtime/base/call_names.h"
#include "runtime/base/profile_table.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kHeadWords = 3;
constexpr std::size_t kRowWords = 7;
constexpr double kNotable = 1.1;  // a rank that computes so much longer than the mean is named

std::uint64_t WordAt(std::string_view bytes, std::size_t index) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kWordBytes; ++i)
    word |= std::uint64_t{static_cast<unsigned char>(bytes[index * kWordBytes + i])} << (8 * i);
  return word;
}

double Share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void CallCounts::Add(const CallCounts& other) {
  calls += other.calls;
  inside_ns += other.inside_ns;
  waited_ns += other.waited_ns;
  longest_ns = std::max(longest_ns, other.longest_ns);
  sent_bytes += other.sent_bytes;
  received_bytes += other.received_bytes;
}

CallCounts RankProfile::Total() const {
  CallCounts total;
  for (const auto& [name, counts] : functions) total.Add(counts);
  return total;
}

// Several threads may be in MPI at once.
std::uint64_t RankProfile::ComputedNs() const {
  return wall_ns - std::min(wall_ns, Total().inside_ns);
}

CountsByFunction JobProfile::Functions() const {
  CountsByFunction sums;
  for (const RankProfile& rank : ranks)
    for (const auto& [name, counts] : rank.functions) sums[name].Add(counts);
  return sums;
}

bool DecodeRank(std::string_view copy, RankProfile* rank) {
  const std::size_t words = copy.size() / kWordBytes;
  if (copy.size() % kWordBytes != 0 || words < kHeadWords) return false;
  if ((words - kHeadWords) % kRowWords != 0) return false;
  CountsByFunction functions;
  for (std::size_t at = kHeadWords; at < words; at += kRowWords) {
    const std::string name = NameOf(CallOfProfileKey(WordAt(copy, at)));
    if (name.empty()) return false;
    functions[name].Add({WordAt(copy, at + 1), WordAt(copy, at + 2), WordAt(copy, at + 3),
                         WordAt(copy, at + 4), WordAt(copy, at + 5), WordAt(copy, at + 6)});
  }
  rank->open_call = NameOf(static_cast<Call>(WordAt(copy, 1)));
  // The rank was in this function until its end, and was seldom doing anything but wait.
  if (const std::uint64_t open_ns = WordAt(copy, 2); !rank->open_call.empty())
    functions[rank->open_call].Add({1, open_ns, open_ns, open_ns, 0, 0});
  rank->uses_mpi = true;
  rank->wall_ns = WordAt(copy, 0);
  rank->functions = std::move(functions);
  return true;
}

Balance BalanceOf(const JobProfile& profile) {
  std::uint64_t computed_ns = 0;
  std::uint64_t computed_max_ns = 0;
  std::uint64_t wall_max_ns = 0;
  std::size_t ranks = 0;
  Balance balance;
  for (std::size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    const RankProfile& its = profile.ranks[rank];
    if (!its.uses_mpi) continue;
    ++ranks;
    computed_ns += its.ComputedNs();
    wall_max_ns = std::max(wall_max_ns, its.wall_ns);
    if (its.ComputedNs() <= computed_max_ns) continue;
    computed_max_ns = its.ComputedNs();
    balance.busiest = rank;
  }
  balance.load = Share(computed_ns, computed_max_ns * ranks);
  balance.communication = Share(computed_max_ns, wall_max_ns);
  balance.parallel = balance.load * balance.communication;
  return balance;
}

std::vector<std::string> TellingFacts(const JobProfile& profile) {
  std::uint64_t wall_ns = 0;
  std::uint64_t inside_ns = 0;
  for (const RankProfile& rank : profile.ranks) {
    wall_ns += rank.wall_ns;
    inside_ns += std::min(rank.wall_ns, rank.Total().inside_ns);
  }
  if (wall_ns == 0) return {"no rank used MPI"};
  std::vector<std::string> facts = {
      Format("MPI %.0f %% of the time", 100 * Share(inside_ns, wall_ns))};
  const Balance balance = BalanceOf(profile);
  if (balance.load > 0 && 1 / balance.load >= kNotable)
    facts.push_back(Format("rank %zu computes %.1f times as long as the mean", balance.busiest,
                           1 / balance.load));
  std::uint64_t waited_ns = 0;
  std::pair<std::uint64_t, std::string> most;
  for (const auto& [name, counts] : profile.Functions()) {
    waited_ns += counts.waited_ns;
    most = std::max(most, {counts.waited_ns, name});
  }
  if (waited_ns > 0)
    facts.push_back(Format("%.0f %% of the waiting is in %s", 100 * Share(most.first, waited_ns),
                           most.second.c_str()));
  return facts;
}

}  // namespace lamina::launcher
