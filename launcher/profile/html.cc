// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/profile/html.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "launcher/profile/text.h"
#include "runtime/base/profile_table.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kCellsWithNumbers = 16;  // a matrix so wide has room for them

std::string Mean(std::uint64_t ns, std::uint64_t calls) {
  return Format("%.4g", static_cast<double>(ns) / 1e3 /
                            static_cast<double>(std::max<std::uint64_t>(1, calls)));
}

std::string RanksOf(std::size_t cell, const Matrix& matrix, std::size_t ranks) {
  const std::size_t first = cell * matrix.ranks_per_cell;
  const std::size_t last = std::min(first + matrix.ranks_per_cell, ranks) - 1;
  return std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
}

std::string CommunicatorName(const CollectivePlace& place) {
  if (place.context == ProfileTable::kOtherContexts) return "further communicators";
  const std::string number =
      Format("communicator %llu", static_cast<unsigned long long>(place.context));
  return place.name.empty() ? number : place.name;
}

}  // namespace

std::string Row(const Cells& cells, const char* tag) {
  std::string row = "<tr>";
  for (const std::string& cell : cells)
    row += std::string("<") + tag + ">" + cell + "</" + tag + ">";
  return row + "</tr>\n";
}

std::string Table(const char* id, const Cells& head, const std::string& rows) {
  return std::string("<div class=\"wide\"><table id=\"") + id + "\"><thead>" + Row(head, "th") +
         "</thead><tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string Section(const char* title, const std::string& content) {
  return std::string("<h2>") + title + "</h2>\n" + content;
}

std::string AtPlace(const CodePlace& place, const JobProfile& profile) {
  const std::string name = NameOf(place, profile.lines);
  return name.empty() ? "" : " at " + name;
}

std::string SitesTable(const JobProfile& profile) {
  std::string rows;
  for (const auto& [site, counts] : LargestSites(profile)) {
    const auto line = profile.lines.find(site.place);
    const std::string& whole = line != profile.lines.end() ? line->second : site.place.file;
    const std::string name = NameOf(site.place, profile.lines);
    const double calls = static_cast<double>(std::max<std::uint64_t>(1, counts.calls));
    rows += Row({"<span title=\"" + HtmlText(whole) + "\">" +
                     HtmlText(name.empty() ? "elsewhere" : name) + "</span>",
                 site.function, std::to_string(counts.calls), Seconds(counts.inside_ns),
                 Percent(counts.waited_ns, counts.inside_ns),
                 Format("%.4g", static_cast<double>(counts.inside_ns) / 1e3 / calls),
                 Format("%.4g", static_cast<double>(counts.longest_ns) / 1e3),
                 SizeName(counts.sent_bytes), SizeName(counts.received_bytes)});
  }
  return Table("sites",
               {"called at", "function", "calls", "s", "% waiting", "mean, µs", "longest, µs",
                "sent", "received"},
               rows);
}

std::string WaitingTable(const JobProfile& profile) {
  std::uint64_t waited_ns = 0;
  for (const RankProfile& rank : profile.ranks) waited_ns += rank.Total().waited_ns;
  std::string rows;
  for (const WaitPattern& pattern : PatternsOf(profile)) {
    Cells cells = {pattern.name, Seconds(pattern.all_ns), Percent(pattern.all_ns, waited_ns)};
    if (pattern.all_ns > 0)
      cells.insert(
          cells.end(),
          {HtmlText(pattern.site.function + AtPlace(pattern.site.place, profile)),
           Seconds(pattern.site_ns), std::to_string(pattern.rank), Seconds(pattern.rank_ns)});
    else
      cells.insert(cells.end(), {"", "", "", ""});
    rows += Row(cells);
  }
  return "<p>A late sender has a rank wait for a message, a late receiver has it wait until what "
         "it "
         "sends is taken, and at a collective those who come first wait for those who come "
         "last.</p>\n" +
         Table("waiting",
               {"waiting for a", "s", "% of waiting", "most of it in", "s there",
                "rank that waits longest", "s it waits"},
               rows);
}

std::string CollectivesTable(const JobProfile& profile) {
  std::string rows;
  for (const auto& [place, counts] : LargestCollectives(profile))
    rows += Row({place.function, HtmlText(CommunicatorName(place)),
                 place.members == 0 ? "" : std::to_string(place.members),
                 HtmlText(AlgorithmsOf(profile, place)), std::to_string(counts.calls),
                 Seconds(counts.inside_ns), Percent(counts.waited_ns, counts.inside_ns),
                 Mean(counts.inside_ns, counts.calls), SizeName(counts.sent_bytes),
                 SizeName(counts.received_bytes)});
  return "<p>Calls, times and bytes are those of all ranks together. Waiting for the request of a "
         "collective that does not block counts here as well.</p>\n" +
         Table("collectives",
               {"function", "communicator", "ranks", "algorithms", "calls", "s", "% waiting",
                "mean, µs", "given", "got"},
               rows);
}

std::string RegionsTable(const JobProfile& profile) {
  std::string rows;
  for (const auto& [name, counts] : LargestRegions(profile))
    rows +=
        Row({HtmlText(name), std::to_string(counts.ranks), std::to_string(counts.times),
             Seconds(counts.inside_ns), Percent(counts.in_mpi_ns, counts.inside_ns),
             Percent(counts.waited_ns, counts.inside_ns), Mean(counts.inside_ns, counts.times),
             Mean(counts.longest_ns, 1), std::to_string(counts.rank), Seconds(counts.rank_max_ns)});
  if (rows.empty())
    return "<p>The program names none. <code>lamina_region_begin(\"solve\")</code> and "
           "<code>lamina_region_end(\"solve\")</code> of <code>lamina/region.h</code> name a part "
           "of "
           "it.</p>\n";
  return Table("regions",
               {"region", "ranks", "times", "s", "% in MPI", "% waiting", "mean, µs", "longest, µs",
                "rank that is in it longest", "s it is"},
               rows);
}

namespace {

// The more bytes, the darker the cell.
std::string OneMatrix(const char* id, const Matrix& matrix, std::size_t ranks) {
  std::uint64_t most = 0;
  for (const Traffic& cell : matrix.cells) most = std::max(most, cell.AllBytes());
  Cells head = {"from \\ to"};
  for (std::size_t to = 0; to < matrix.width; ++to) head.push_back(RanksOf(to, matrix, ranks));
  std::string rows;
  for (std::size_t from = 0; from < matrix.width; ++from) {
    rows += "<tr><th>" + RanksOf(from, matrix, ranks) + "</th>";
    for (std::size_t to = 0; to < matrix.width; ++to) {
      const Traffic& cell = matrix.cells[from * matrix.width + to];
      if (cell.AllMessages() == 0) {
        rows += "<td></td>";
        continue;
      }
      const double share =
          most == 0 ? 0 : static_cast<double>(cell.AllBytes()) / static_cast<double>(most);
      const std::string words =
          std::to_string(cell.AllMessages()) + " messages, " + SizeName(cell.AllBytes());
      rows += Format("<td style=\"background:rgba(47,111,183,%.2f)\" title=\"", 0.1 + 0.7 * share) +
              RanksOf(from, matrix, ranks) + " to " + RanksOf(to, matrix, ranks) + ": " + words +
              "\">" + (matrix.width <= kCellsWithNumbers ? SizeName(cell.AllBytes()) : "") +
              "</td>";
    }
    rows += "</tr>\n";
  }
  return Table(id, head, rows);
}

}  // namespace

std::string MatrixTable(const JobProfile& profile) {
  const std::size_t ranks = profile.ranks.size();
  const Matrix matrix = MatrixOf(profile);
  std::string text =
      "<p>Bytes of messages, those of collectives among them. Collectives in memory that ranks of "
      "a "
      "host share send none.</p>\n";
  if (matrix.outside.AllMessages() > 0)
    text += "<p>To other jobs went " + std::to_string(matrix.outside.AllMessages()) +
            " messages, " + SizeName(matrix.outside.AllBytes()) + ".</p>\n";
  const std::map<std::string, Traffic> carriers = CarriersOf(profile);
  std::string rows;
  for (const auto& [name, traffic] : carriers)
    rows += Row({HtmlText(name), std::to_string(traffic.messages), SizeName(traffic.bytes),
                 std::to_string(traffic.own_messages), SizeName(traffic.own_bytes)});
  text +=
      Table("transports",
            {"transport", "messages of the program", "bytes", "of the library", "bytes"}, rows) +
      OneMatrix("matrix", matrix, ranks);
  if (carriers.size() < 2) return text;
  std::size_t shown = 0;
  for (const auto& [name, traffic] : carriers) {
    const std::string id = Format("matrix%zu", ++shown);
    text += "<p>By " + HtmlText(name) + " alone:</p>\n" +
            OneMatrix(id.c_str(), MatrixOf(profile, name), ranks);
  }
  return text;
}

std::string SizesTable(const JobProfile& profile) {
  const std::vector<SizeClass> sizes = SizesOf(profile);
  std::uint64_t most = 0;
  for (const SizeClass& size : sizes) most = std::max(most, size.eager + size.rendezvous);
  const auto bar = [most](std::size_t color, std::uint64_t messages) {
    return Format("<span class=\"c%zu\" style=\"width:%.4g%%\"></span>", color,
                  100 * static_cast<double>(messages) / static_cast<double>(most));
  };
  std::string rows;
  for (const SizeClass& size : sizes)
    rows += Row({size.from_bytes == 0 ? "0 B" : "from " + SizeName(size.from_bytes),
                 "<div class=\"bar\">" + bar(1, size.eager) + bar(2, size.rendezvous) + "</div>",
                 std::to_string(size.eager), SizeName(size.eager_bytes),
                 std::to_string(size.rendezvous), SizeName(size.rendezvous_bytes)});
  return "<p><span class=\"key c1\"></span>eager: sent at once<span class=\"key c2\"></span>"
         "rendezvous: the receiver is asked first</p>\n" +
         Table("sizes", {"size", "messages", "eager", "bytes", "rendezvous", "bytes"}, rows);
}

}  // namespace lamina::launcher
