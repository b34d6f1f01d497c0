// SPDX-License-Identifier: BSD-3-Clause
// The page has no script: its bars are boxes whose widths are shares, and each chart is a table at
// the same time.
#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "launcher/profile/html.h"
#include "launcher/profile/report.h"
#include "launcher/profile/text.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kFunctionsInBars = 5;

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 1rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } .wide { overflow-x: auto; }
th, td { text-align: right; padding: 0.1rem 0.6rem; border-bottom: 1px solid var(--line); }
th, td { white-space: nowrap; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
.bar { display: flex; width: 24rem; height: 1rem; background: #8882; }
.bar span, .key { display: inline-block; height: 1rem; }
.key { width: 1rem; vertical-align: -0.15rem; margin: 0 0.3rem 0 1rem; }
.c0 { background: #3a8a4d; } .c1 { background: #2f6fb7; } .c2 { background: #e08a1e; }
.c3 { background: #8a5bb5; } .c4 { background: #2aa5a0; } .c5 { background: #b5533c; }
.c6 { background: #7d7d7d; }
#matrix td { padding: 0.1rem 0.4rem; }
.wait { background-image: repeating-linear-gradient(45deg, #fff8 0 2px, #0000 2px 5px); }
dt { font-weight: 600; } dd { margin: 0 0 0.5rem 0; }
@media print { body { max-width: none; } }
)css";

std::string ShareName(double share) { return Format("%.0f %%", 100 * share); }

// The functions with the most time, most first.
Cells Largest(const CountsByFunction& functions) {
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [name, counts] : functions) sorted.emplace_back(counts.inside_ns, name);
  std::sort(sorted.rbegin(), sorted.rend());
  Cells names;
  for (const auto& [inside_ns, name] : sorted) names.push_back(name);
  return names;
}

std::string Part(std::size_t color, bool waits, std::uint64_t part, std::uint64_t whole,
                 const std::string& what) {
  if (part == 0 || whole == 0) return "";
  return Format("<span class=\"c%zu%s\" style=\"width:", color, waits ? " wait" : "") +
         Format("%.4g%%", 100 * static_cast<double>(part) / static_cast<double>(whole)) +
         "\" title=\"" + HtmlText(what) + ": " + Seconds(part) + " s\"></span>";
}

std::string Bar(const RankProfile& rank, const Cells& names, std::uint64_t whole_ns) {
  std::string bar =
      "<div class=\"bar\">" + Part(0, false, rank.ComputedNs(), whole_ns, "computing");
  CallCounts rest = rank.Total();
  for (std::size_t at = 0; at < names.size() && at < kFunctionsInBars; ++at) {
    const auto found = rank.functions.find(names[at]);
    if (found == rank.functions.end()) continue;
    const CallCounts& its = found->second;
    bar += Part(at + 1, false, its.inside_ns - its.waited_ns, whole_ns, names[at]) +
           Part(at + 1, true, its.waited_ns, whole_ns, names[at] + ", waiting");
    rest.inside_ns -= its.inside_ns;
  }
  return bar +
         Part(kFunctionsInBars + 1, false, rest.inside_ns, whole_ns, "other functions of MPI") +
         "</div>";
}

std::string Key(const Cells& names) {
  std::string key = "<p><span class=\"key c0\"></span>computing";
  for (std::size_t at = 0; at < names.size() && at < kFunctionsInBars; ++at)
    key += Format("<span class=\"key c%zu\"></span>", at + 1) + names[at];
  if (names.size() > kFunctionsInBars)
    key += "<span class=\"key c6\"></span>other functions of MPI";
  return key + "<span class=\"key c6 wait\"></span>hatched: waiting</p>\n";
}

std::string Memory(const JobProfile& profile) {
  std::size_t largest = 0;
  std::uint64_t all = 0;
  for (std::size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    all += profile.ranks[rank].peak_bytes;
    if (profile.ranks[rank].peak_bytes > profile.ranks[largest].peak_bytes) largest = rank;
  }
  if (all == 0) return "not known";
  return "at most " + SizeName(profile.ranks[largest].peak_bytes) + " in rank " +
         std::to_string(largest) + ", " + SizeName(all / profile.ranks.size()) +
         " in the mean of all";
}

// Ranks of a host that may use the same CPUs are not bound apart.
std::string Binding(const JobProfile& profile) {
  std::set<std::pair<std::string, std::string>> places;
  std::size_t ranks = 0;
  for (const RankProfile& rank : profile.ranks) {
    if (rank.cpus.empty()) continue;
    ++ranks;
    places.insert({rank.host, rank.cpus});
  }
  if (ranks == 0) return "not known";
  return places.size() == ranks ? "each rank of a host has CPUs of its own: see the ranks"
                                : "ranks of a host share CPUs: see the ranks";
}

std::string Summary(const JobProfile& profile) {
  std::string facts;
  for (const std::string& fact : TellingFacts(profile)) facts += (facts.empty() ? "" : "; ") + fact;
  std::vector<std::string> hosts;
  for (const RankProfile& rank : profile.ranks)
    if (std::ranges::find(hosts, rank.host) == hosts.end()) hosts.push_back(rank.host);
  std::string names;
  for (const std::string& host : hosts) names += (names.empty() ? "" : ", ") + host;
  return "<p><strong>" + HtmlText(facts) + "</strong></p>\n" +
         Table("summary", {"", ""},
               Row({"command", HtmlText(profile.command)}) + Row({"end", HtmlText(profile.end)}) +
                   Row({"wall time, s",
                        Format("%.4g", static_cast<double>(profile.wall_ms) / 1000)}) +
                   Row({"ranks", std::to_string(profile.ranks.size())}) +
                   Row({"hosts", HtmlText(names)}) + Row({"memory", Memory(profile)}) +
                   Row({"binding", Binding(profile)}) + Row({"Lamina", HtmlText(profile.version)}));
}

std::string BalanceText(const JobProfile& profile) {
  const Balance balance = BalanceOf(profile);
  return "<dl id=\"balance\"><dt>load balance " + ShareName(balance.load) +
         "</dt><dd>The mean of the computing times by the largest, which is rank " +
         std::to_string(balance.busiest) +
         "'s. If it is low, look at how the work is divided among the ranks.</dd>\n"
         "<dt>communication efficiency " +
         ShareName(balance.communication) +
         "</dt><dd>The largest computing time by the time of the job. If it is low, even the "
         "busiest rank is held up by MPI: look at the functions with much time, and at how often "
         "they are called.</dd>\n<dt>parallel efficiency " +
         ShareName(balance.parallel) +
         "</dt><dd>The product of both: the share of all CPU time that is spent on computing.</dd>"
         "</dl>\n";
}

std::string Ranks(const JobProfile& profile, const Cells& names) {
  std::uint64_t whole_ns = 0;
  for (const RankProfile& rank : profile.ranks) whole_ns = std::max(whole_ns, rank.wall_ns);
  std::string rows;
  for (std::size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    const RankProfile& its = profile.ranks[rank];
    const CallCounts total = its.Total();
    const std::string what = !its.uses_mpi ? "not in MPI"
                             : its.open_call.empty()
                                 ? ""
                                 : "ended in " + its.open_call + AtPlace(its.open_place, profile);
    rows += Row({std::to_string(rank), Bar(its, names, whole_ns), Seconds(its.wall_ns),
                 Seconds(its.ComputedNs()), Seconds(total.inside_ns), Seconds(total.waited_ns),
                 std::to_string(total.calls), std::to_string(total.sent_bytes),
                 std::to_string(total.received_bytes),
                 its.peak_bytes == 0 ? "" : SizeName(its.peak_bytes), its.cpus, HtmlText(its.host),
                 HtmlText(what)});
  }
  return Key(names) + Table("ranks",
                            {"rank", "time", "s", "computing, s", "in MPI, s", "waiting, s",
                             "calls", "bytes sent", "bytes received", "memory", "CPUs", "host", ""},
                            rows);
}

std::string Functions(const JobProfile& profile, const Cells& names) {
  const CountsByFunction functions = profile.Functions();
  std::uint64_t inside_ns = 0;
  for (const auto& [name, counts] : functions) inside_ns += counts.inside_ns;
  std::string rows;
  for (const std::string& name : names) {
    const CallCounts& counts = functions.at(name);
    const double calls = static_cast<double>(std::max<std::uint64_t>(1, counts.calls));
    rows += Row({name, std::to_string(counts.calls), Seconds(counts.inside_ns),
                 Percent(counts.inside_ns, inside_ns), Percent(counts.waited_ns, counts.inside_ns),
                 Format("%.4g", static_cast<double>(counts.inside_ns) / 1e3 / calls),
                 Format("%.4g", static_cast<double>(counts.longest_ns) / 1e3),
                 std::to_string(counts.sent_bytes), std::to_string(counts.received_bytes)});
  }
  return Table("functions",
               {"function", "calls", "s", "% of MPI", "% waiting", "mean, µs", "longest, µs",
                "bytes sent", "bytes received"},
               rows);
}

}  // namespace

std::string ProfilePage(const JobProfile& profile) {
  const Cells names = Largest(profile.Functions());
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Profile "
      "of " +
      HtmlText(profile.command) + "</title>\n<style>" + std::string(kStyle) +
      "</style></head>\n<body><h1>Profile of " + HtmlText(profile.command) + "</h1>\n" +
      Summary(profile);
  page += Section("Balance", BalanceText(profile));
  page += Section("Ranks", Ranks(profile, names));
  page += Section(
      "Functions",
      "<p>Times are those of all ranks together. Bytes are those of messages that left or arrived "
      "during the call and, for a collective, those that the program gave or got.</p>\n" +
          Functions(profile, names));
  page +=
      Section("Call sites",
              "<p>Where the program calls MPI. A program that is compiled with <code>-g</code> "
              "has lines here; where they are not known, the file of the program or library and "
              "the address in it stand instead.</p>\n" +
                  SitesTable(profile));
  page += Section("Waiting", WaitingTable(profile));
  page += Section("Collectives", CollectivesTable(profile));
  page += Section("Regions", RegionsTable(profile));
  page += Section("Who sends to whom", MatrixTable(profile));
  page += Section("Message sizes", SizesTable(profile));
  // A browser does not run what has this type; programs may read the page instead of the file.
  return page + "<script type=\"application/json\" id=\"data\">\n" + ProfileJson(profile) +
         "</script>\n</body></html>\n";
}

}  // namespace lamina::launcher
