// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>

#include "launcher/profile/report.h"
#include "launcher/profile/text.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

std::string Number(std::uint64_t number) { return std::to_string(number); }

// A rank says what its transport is called, and may say anything.
std::string CsvText(std::string_view text) {
  std::string plain;
  for (const char letter : text)
    plain +=
        letter == ',' || letter == '"' || static_cast<unsigned char>(letter) < ' ' ? '?' : letter;
  return plain;
}

// The key of each number is what CallCounts calls it.
std::string Members(const CallCounts& counts) {
  return "\"calls\": " + Number(counts.calls) + ", \"inside_ns\": " + Number(counts.inside_ns) +
         ", \"waited_ns\": " + Number(counts.waited_ns) +
         ", \"longest_ns\": " + Number(counts.longest_ns) +
         ", \"sent_bytes\": " + Number(counts.sent_bytes) +
         ", \"received_bytes\": " + Number(counts.received_bytes) +
         ", \"for_senders_ns\": " + Number(counts.for_senders_ns) +
         ", \"for_receivers_ns\": " + Number(counts.for_receivers_ns) +
         ", \"for_members_ns\": " + Number(counts.for_members_ns);
}

std::string Object(const CallCounts& counts) { return "{" + Members(counts) + "}"; }

std::string Object(const CountsByFunction& functions) {
  std::string object = "{";
  for (const auto& [name, counts] : functions)
    object += (object.size() > 1 ? ", " : "") + JsonText(name) + ": " + Object(counts);
  return object + "}";
}

// The place of a call is "" if it is not known.
std::string List(const std::vector<SiteCounts>& sites, const Lines& lines) {
  std::string list = "[";
  for (const auto& [site, counts] : sites) {
    const auto line = lines.find(site.place);
    list += (list.size() > 1 ? ",\n" : "\n") + ("{\"function\": " + JsonText(site.function)) +
            ", \"place\": " + JsonText(NameOf(site.place, lines)) +
            ", \"line\": " + JsonText(line != lines.end() ? line->second : "") +
            ", \"object\": " + JsonText(site.place.file) +
            ", \"offset\": " + Number(site.place.offset) + ", " + Members(counts) + "}";
  }
  return list + "]";
}

// Each with a comma and a new line behind it, but the last.
template <class Values, class Write>
std::string ListOf(const Values& values, const Write& write) {
  std::string list;
  for (const auto& value : values) list += (list.empty() ? "\n" : ",\n") + write(value);
  return "[" + list + "]";
}

std::string WaitingList(const JobProfile& profile) {
  return ListOf(PatternsOf(profile), [&](const WaitPattern& pattern) {
    return "{\"pattern\": " + JsonText(pattern.name) + ", \"ns\": " + Number(pattern.all_ns) +
           ", \"function\": " + JsonText(pattern.site.function) +
           ", \"place\": " + JsonText(NameOf(pattern.site.place, profile.lines)) +
           ", \"place_ns\": " + Number(pattern.site_ns) + ", \"rank\": " + Number(pattern.rank) +
           ", \"rank_ns\": " + Number(pattern.rank_ns) + "}";
  });
}

std::string CollectiveList(const JobProfile& profile) {
  return ListOf(LargestCollectives(profile), [&](const CollectiveCounts& row) {
    const auto& [place, counts] = row;
    return "{\"function\": " + JsonText(place.function) +
           ", \"communicator\": " + JsonText(place.name) +
           ", \"context\": " + Number(place.context) + ", \"members\": " + Number(place.members) +
           ", \"algorithms\": " + JsonText(AlgorithmsOf(profile, place)) + ", " + Members(counts) +
           "}";
  });
}

std::string RegionList(const JobProfile& profile) {
  return ListOf(LargestRegions(profile), [](const NamedRegion& row) {
    const auto& [name, counts] = row;
    return "{\"name\": " + JsonText(name) + ", \"ranks\": " + Number(counts.ranks) +
           ", \"times\": " + Number(counts.times) + ", \"inside_ns\": " + Number(counts.inside_ns) +
           ", \"in_mpi_ns\": " + Number(counts.in_mpi_ns) +
           ", \"waited_ns\": " + Number(counts.waited_ns) +
           ", \"longest_ns\": " + Number(counts.longest_ns) + ", \"rank\": " + Number(counts.rank) +
           ", \"rank_ns\": " + Number(counts.rank_max_ns) + "}";
  });
}

// Cells without a message are left out.
std::string MatrixObject(const Matrix& matrix) {
  std::string cells;
  for (std::size_t at = 0; at < matrix.cells.size(); ++at) {
    const Traffic& cell = matrix.cells[at];
    if (cell.AllMessages() == 0) continue;
    cells += (cells.empty() ? "\n[" : ",\n[") + Number(at / matrix.width) + ", " +
             Number(at % matrix.width) + ", " + Number(cell.messages) + ", " + Number(cell.bytes) +
             ", " + Number(cell.own_messages) + ", " + Number(cell.own_bytes) + ", " +
             JsonText(cell.carrier) + "]";
  }
  return "{\"ranks_per_cell\": " + Number(matrix.ranks_per_cell) +
         ", \"columns\": [\"from\", \"to\", \"messages\", \"bytes\", \"own_messages\", "
         "\"own_bytes\", \"transport\"], \"cells\": [" +
         cells + "]}";
}

std::string SizeList(const JobProfile& profile) {
  return ListOf(SizesOf(profile), [](const SizeClass& size) {
    return "{\"from_bytes\": " + Number(size.from_bytes) + ", \"eager\": " + Number(size.eager) +
           ", \"eager_bytes\": " + Number(size.eager_bytes) +
           ", \"rendezvous\": " + Number(size.rendezvous) +
           ", \"rendezvous_bytes\": " + Number(size.rendezvous_bytes) + "}";
  });
}

}  // namespace

std::string ProfileJson(const JobProfile& profile) {
  const Balance balance = BalanceOf(profile);
  std::string json =
      "{\n\"command\": " + JsonText(profile.command) +
      ",\n\"version\": " + JsonText(profile.version) + ",\n\"end\": " + JsonText(profile.end) +
      ",\n\"wall_ms\": " + Number(profile.wall_ms) +
      ",\n\"spawned_jobs\": " + Number(profile.spawned_jobs) +
      Format(
          ",\n\"balance\": {\"load\": %.4g, \"communication\": %.4g, "
          "\"parallel\": %.4g, \"busiest\": %zu}",
          balance.load, balance.communication, balance.parallel, balance.busiest) +
      ",\n\"functions\": " + Object(profile.Functions()) +
      ",\n\"sites\": " + List(LargestSites(profile), profile.lines) +
      ",\n\"waiting\": " + WaitingList(profile) + ",\n\"collectives\": " + CollectiveList(profile) +
      ",\n\"regions\": " + RegionList(profile) +
      ",\n\"matrix\": " + MatrixObject(MatrixOf(profile)) + ",\n\"sizes\": " + SizeList(profile) +
      ",\n\"ranks\": [";
  for (std::size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    const RankProfile& its = profile.ranks[rank];
    json += (rank > 0 ? ",\n" : "\n") + ("{\"rank\": " + Number(rank)) +
            ", \"host\": " + JsonText(its.host) +
            ", \"uses_mpi\": " + (its.uses_mpi ? "true" : "false") +
            ", \"wall_ns\": " + Number(its.wall_ns) +
            ", \"computed_ns\": " + Number(its.ComputedNs()) +
            ", \"peak_bytes\": " + Number(its.peak_bytes) + ", \"cpus\": " + JsonText(its.cpus) +
            ", \"ended_in\": " + JsonText(its.open_call) +
            ", \"ended_at\": " + JsonText(NameOf(its.open_place, profile.lines)) +
            ", \"functions\": " + Object(its.functions) + "}";
  }
  return json + "\n]\n}\n";
}

std::string MatrixCsv(const JobProfile& profile) {
  std::string text = "from,to,transport,messages,bytes,own_messages,own_bytes\r\n";
  for (std::size_t from = 0; from < profile.ranks.size(); ++from)
    for (const auto& [to, traffic] : profile.ranks[from].sent)
      text += Number(from) + "," + (to < profile.ranks.size() ? Number(to) : "outside") + "," +
              CsvText(traffic.carrier) + "," + Number(traffic.messages) + "," +
              Number(traffic.bytes) + "," + Number(traffic.own_messages) + "," +
              Number(traffic.own_bytes) + "\r\n";
  return text;
}

}  // namespace lamina::launcher
