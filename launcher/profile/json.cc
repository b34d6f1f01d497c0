// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>

#include "launcher/profile/report.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text)
    if (letter == '"' || letter == '\\')
      quoted += std::string("\\") + letter;
    else if (static_cast<unsigned char>(letter) < ' ' || letter == '<')
      quoted += Format("\\u%04x", static_cast<unsigned>(letter));
    else
      quoted += letter;
  return quoted + '"';
}

std::string Number(std::uint64_t number) { return std::to_string(number); }

// The key of each number is what CallCounts calls it.
std::string Object(const CallCounts& counts) {
  return "{\"calls\": " + Number(counts.calls) + ", \"inside_ns\": " + Number(counts.inside_ns) +
         ", \"waited_ns\": " + Number(counts.waited_ns) +
         ", \"longest_ns\": " + Number(counts.longest_ns) +
         ", \"sent_bytes\": " + Number(counts.sent_bytes) +
         ", \"received_bytes\": " + Number(counts.received_bytes) + "}";
}

std::string Object(const CountsByFunction& functions) {
  std::string object = "{";
  for (const auto& [name, counts] : functions)
    object += (object.size() > 1 ? ", " : "") + Quoted(name) + ": " + Object(counts);
  return object + "}";
}

}  // namespace

std::string ProfileJson(const JobProfile& profile) {
  const Balance balance = BalanceOf(profile);
  std::string json =
      "{\n\"command\": " + Quoted(profile.command) + ",\n\"version\": " + Quoted(profile.version) +
      ",\n\"end\": " + Quoted(profile.end) + ",\n\"wall_ms\": " + Number(profile.wall_ms) +
      Format(
          ",\n\"balance\": {\"load\": %.4g, \"communication\": %.4g, "
          "\"parallel\": %.4g, \"busiest\": %zu}",
          balance.load, balance.communication, balance.parallel, balance.busiest) +
      ",\n\"functions\": " + Object(profile.Functions()) + ",\n\"ranks\": [";
  for (std::size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    const RankProfile& its = profile.ranks[rank];
    json +=
        (rank > 0 ? ",\n" : "\n") + ("{\"rank\": " + Number(rank)) +
        ", \"host\": " + Quoted(its.host) + ", \"uses_mpi\": " + (its.uses_mpi ? "true" : "false") +
        ", \"wall_ns\": " + Number(its.wall_ns) + ", \"computed_ns\": " + Number(its.ComputedNs()) +
        ", \"ended_in\": " + Quoted(its.open_call) + ", \"functions\": " + Object(its.functions) +
        "}";
  }
  return json + "\n]\n}\n";
}

}  // namespace lamina::launcher
