// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/profile/profile.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "runtime/base/call_names.h"
#include "runtime/base/profile_table.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kSitesShown = 200;
constexpr std::size_t kMatrixWidth = 64;
constexpr double kNotable = 1.1;  // a rank that computes so much longer than the mean is named

// The call stands before the address that it returns to.
CodePlace PlaceIn(const ProfileCopy& copy, std::uint64_t address) {
  for (const ProfileModule& module : copy.modules)
    if (address >= module.begin && address < module.end)
      return {module.path, module.file_bytes, address - module.moved_by - 1};
  return {};
}

// "0-3,8"
std::string RangesOf(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t at = 0; at < numbers.size();) {
    std::size_t end = at + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[at]);
    if (end > at + 1) text += "-" + std::to_string(numbers[end - 1]);
    at = end;
  }
  return text;
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
  for_senders_ns += other.for_senders_ns;
  for_receivers_ns += other.for_receivers_ns;
  for_members_ns += other.for_members_ns;
}

void RegionCounts::AddRank(std::size_t number, const RegionCounts& its) {
  times += its.times;
  inside_ns += its.inside_ns;
  in_mpi_ns += its.in_mpi_ns;
  waited_ns += its.waited_ns;
  longest_ns = std::max(longest_ns, its.longest_ns);
  if (ranks++ > 0 && its.inside_ns <= rank_max_ns) return;
  rank_max_ns = its.inside_ns;
  rank = number;
}

void Traffic::Add(const Traffic& other) {
  messages += other.messages;
  bytes += other.bytes;
  own_messages += other.own_messages;
  own_bytes += other.own_bytes;
  if (carrier.empty()) carrier = other.carrier;
  if (carrier != other.carrier) carrier = "several";
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

CountsBySite JobProfile::Sites() const {
  CountsBySite sums;
  for (const RankProfile& rank : ranks)
    for (const auto& [site, counts] : rank.sites) sums[site].Add(counts);
  return sums;
}

std::set<CodePlace> JobProfile::Places() const {
  std::set<CodePlace> places;
  for (const RankProfile& rank : ranks)
    for (const auto& [site, counts] : rank.sites)
      if (!site.place.file.empty()) places.insert(site.place);
  return places;
}

CountsByFunction JobProfile::Functions() const {
  CountsByFunction sums;
  for (const RankProfile& rank : ranks)
    for (const auto& [name, counts] : rank.functions) sums[name].Add(counts);
  return sums;
}

bool DecodeRank(std::string_view bytes, RankProfile* rank) {
  const std::optional<ProfileCopy> copy = DecodeProfile(bytes);
  if (!copy) return false;
  CountsByFunction functions;
  CountsBySite sites;
  for (const ProfileRow& row : copy->rows) {
    const std::string name = NameOf(CallOfProfileKey(row.key));
    if (name.empty()) return false;
    const CallCounts counts{row.calls,          row.inside_ns,        row.waited_ns,
                            row.longest_ns,     row.sent_bytes,       row.received_bytes,
                            row.for_senders_ns, row.for_receivers_ns, row.for_members_ns};
    functions[name].Add(counts);
    sites[{name, PlaceIn(*copy, PlaceOfProfileKey(row.key))}].Add(counts);
  }
  CountsByCollective collectives;
  std::map<CollectivePlace, std::vector<std::string>> algorithms;
  for (const ProfileCollective& row : copy->collectives) {
    const std::string name = NameOf(static_cast<Call>(row.call));
    if (name.empty()) return false;
    const CollectivePlace place{name, row.name, row.context, row.members};
    collectives[place].Add(
        {row.calls, row.inside_ns, row.waited_ns, 0, row.sent_bytes, row.received_bytes});
    for (const std::string_view word : Split(row.algorithms, ','))
      if (const std::string_view algorithm = word.substr(word.starts_with(' ') ? 1 : 0);
          !algorithm.empty())
        algorithms[place].emplace_back(algorithm);
  }
  rank->sent.clear();
  for (const ProfileTraffic& to : copy->traffic)
    rank->sent[static_cast<std::uint32_t>(to.peer - 1)] = {to.messages, to.bytes, to.own_messages,
                                                           to.own_bytes, to.carrier};
  rank->regions.clear();
  for (const ProfileRegion& row : copy->regions)
    rank->regions[row.name] = {
        row.times, row.inside_ns, row.in_mpi_ns, row.waited_ns, row.longest_ns, 0, 0, 0};
  rank->peak_bytes = copy->head.peak_kib * 1024;
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t cpu = 0; cpu < 64 * std::size(copy->head.cpus); ++cpu)
    if ((copy->head.cpus[cpu / 64] >> (cpu % 64) & 1) != 0) cpus.push_back(cpu);
  rank->cpus = RangesOf(cpus);
  rank->sizes.clear();
  for (const ProfileSize& size : copy->sizes) {
    const std::size_t digits = rank->sizes.size();
    rank->sizes.push_back({digits == 0 ? 0 : std::uint64_t{1} << (digits - 1), size.eager,
                           size.eager_bytes, size.rendezvous, size.rendezvous_bytes});
  }
  rank->collectives = std::move(collectives);
  rank->algorithms = std::move(algorithms);
  rank->open_call = NameOf(static_cast<Call>(copy->head.open_call));
  rank->open_place = PlaceIn(*copy, copy->head.open_place);
  // The rank was in this function until its end, and was seldom doing anything but wait.
  if (const std::uint64_t open_ns = copy->head.open_ns; !rank->open_call.empty()) {
    const CallCounts open{1, open_ns, open_ns, open_ns, 0, 0};
    functions[rank->open_call].Add(open);
    sites[{rank->open_call, rank->open_place}].Add(open);
  }
  rank->uses_mpi = true;
  rank->wall_ns = copy->head.wall_ns;
  rank->functions = std::move(functions);
  rank->sites = std::move(sites);
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

std::vector<SiteCounts> LargestSites(const JobProfile& profile) {
  const CountsBySite sums = profile.Sites();
  std::vector<SiteCounts> sites(sums.begin(), sums.end());
  std::ranges::stable_sort(sites, std::ranges::greater(),
                           [](const SiteCounts& site) { return site.second.inside_ns; });
  if (sites.size() > kSitesShown) sites.resize(kSitesShown);
  return sites;
}

Matrix MatrixOf(const JobProfile& profile, std::string_view carrier) {
  const std::size_t ranks = profile.ranks.size();
  Matrix matrix;
  matrix.ranks_per_cell = std::max<std::size_t>(1, (ranks + kMatrixWidth - 1) / kMatrixWidth);
  matrix.width = (ranks + matrix.ranks_per_cell - 1) / matrix.ranks_per_cell;
  matrix.cells.resize(matrix.width * matrix.width);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (const auto& [peer, traffic] : profile.ranks[rank].sent) {
      if (!carrier.empty() && traffic.carrier != carrier) continue;
      (peer < ranks
           ? matrix
                 .cells[rank / matrix.ranks_per_cell * matrix.width + peer / matrix.ranks_per_cell]
           : matrix.outside)
          .Add(traffic);
    }
  return matrix;
}

std::map<std::string, Traffic> CarriersOf(const JobProfile& profile) {
  std::map<std::string, Traffic> sums;
  for (const RankProfile& rank : profile.ranks)
    for (const auto& [peer, traffic] : rank.sent) sums[traffic.carrier].Add(traffic);
  return sums;
}

std::string AlgorithmsOf(const JobProfile& profile, const CollectivePlace& place) {
  std::set<std::string> names;
  for (const RankProfile& rank : profile.ranks)
    if (const auto found = rank.algorithms.find(place); found != rank.algorithms.end())
      names.insert(found->second.begin(), found->second.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<SizeClass> SizesOf(const JobProfile& profile) {
  std::vector<SizeClass> sums;
  for (const RankProfile& rank : profile.ranks) {
    if (sums.size() < rank.sizes.size()) sums.resize(rank.sizes.size());
    for (std::size_t at = 0; at < rank.sizes.size(); ++at) {
      const SizeClass& its = rank.sizes[at];
      sums[at].from_bytes = its.from_bytes;
      sums[at].eager += its.eager;
      sums[at].eager_bytes += its.eager_bytes;
      sums[at].rendezvous += its.rendezvous;
      sums[at].rendezvous_bytes += its.rendezvous_bytes;
    }
  }
  const auto is_used = [](const SizeClass& size) { return size.eager + size.rendezvous > 0; };
  const auto first = std::ranges::find_if(sums, is_used);
  const auto last = std::find_if(sums.rbegin(), sums.rend(), is_used).base();
  return first < last ? std::vector<SizeClass>(first, last) : std::vector<SizeClass>();
}

std::vector<CollectiveCounts> LargestCollectives(const JobProfile& profile) {
  CountsByCollective sums;
  for (const RankProfile& rank : profile.ranks)
    for (const auto& [place, counts] : rank.collectives) sums[place].Add(counts);
  std::vector<CollectiveCounts> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const CollectiveCounts& row) { return row.second.inside_ns; });
  if (rows.size() > kSitesShown) rows.resize(kSitesShown);
  return rows;
}

std::vector<NamedRegion> LargestRegions(const JobProfile& profile) {
  std::map<std::string, RegionCounts> sums;
  for (std::size_t rank = 0; rank < profile.ranks.size(); ++rank)
    for (const auto& [name, counts] : profile.ranks[rank].regions) sums[name].AddRank(rank, counts);
  std::vector<NamedRegion> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const NamedRegion& row) { return row.second.inside_ns; });
  if (rows.size() > kSitesShown) rows.resize(kSitesShown);
  return rows;
}

std::vector<WaitPattern> PatternsOf(const JobProfile& profile) {
  std::vector<WaitPattern> patterns = {{"late sender", &CallCounts::for_senders_ns},
                                       {"late receiver", &CallCounts::for_receivers_ns},
                                       {"imbalance at collectives", &CallCounts::for_members_ns}};
  const CountsBySite sites = profile.Sites();
  for (WaitPattern& pattern : patterns) {
    for (const auto& [site, counts] : sites) {
      pattern.all_ns += counts.*pattern.part;
      if (counts.*pattern.part <= pattern.site_ns) continue;
      pattern.site_ns = counts.*pattern.part;
      pattern.site = site;
    }
    for (std::size_t rank = 0; rank < profile.ranks.size(); ++rank) {
      const std::uint64_t its = profile.ranks[rank].Total().*pattern.part;
      if (its <= pattern.rank_ns) continue;
      pattern.rank_ns = its;
      pattern.rank = rank;
    }
  }
  return patterns;
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
  std::pair<std::uint64_t, Site> most;
  for (const auto& [site, counts] : profile.Sites()) {
    waited_ns += counts.waited_ns;
    most = std::max(most, {counts.waited_ns, site});
  }
  const std::string place = NameOf(most.second.place, profile.lines);
  if (waited_ns > 0)
    facts.push_back(Format("%.0f %% of the waiting is in %s", 100 * Share(most.first, waited_ns),
                           most.second.function.c_str()) +
                    (place.empty() ? "" : " at " + place));
  if (profile.spawned_jobs > 0)
    facts.push_back(Format("the ranks of %u spawned %s are not in it", profile.spawned_jobs,
                           profile.spawned_jobs == 1 ? "job" : "jobs"));
  return facts;
}

}  // namespace lamina::launcher
