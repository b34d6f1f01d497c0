// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/answer.h"

#include <algorithm>

#include "launcher/supervise/tuning.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

const char* NameOf(HostState::Kind kind) {
  switch (kind) {
    case HostState::Kind::kStarting:
      return "starting";
    case HostState::Kind::kUp:
      return "up";
    case HostState::Kind::kDone:
      return "done";
    case HostState::Kind::kLost:
      return "lost";
  }
  return "?";
}

// Replaces what would break the line, because an argument may contain anything.
std::string OneLine(std::string text) {
  for (char& letter : text)
    if (static_cast<unsigned char>(letter) < ' ' || letter == 127) letter = '?';
  return text;
}

}  // namespace

std::string CommandOf(const Plan& plan) {
  std::string command;
  for (const App& app : plan.apps) {
    command += command.empty() ? "" : " :";
    for (const std::string& word : app.argv) command += (command.empty() ? "" : " ") + word;
  }
  return OneLine(command);
}

std::string DescribeJob(const Plan& plan, const JobNews& news) {
  std::vector<std::uint32_t> ranks(plan.hosts.size(), 0);
  std::vector<std::uint32_t> running(plan.hosts.size(), 0);
  std::uint32_t running_count = 0;
  for (const RankPlan& rank : plan.ranks) {
    ++ranks[rank.host];
    if (rank.rank >= news.running.size() || !news.running[rank.rank]) continue;
    ++running[rank.host];
    ++running_count;
  }
  std::string text =
      Format("lamina %s\njob %s\nage_ms %llu\nspawner %s\nranks %zu\nrunning %u\n", kVersion,
             news.name.c_str(), static_cast<unsigned long long>(news.age_ms),
             plan.options.spawner.c_str(), plan.ranks.size(), running_count);
  if (news.parent != 0) text += Format("parent %d\n", news.parent);
  text += "command " + CommandOf(plan) + "\n";
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    if (ranks[host] == 0) continue;
    const auto state = std::find_if(news.hosts.begin(), news.hosts.end(),
                                    [host](const HostState& each) { return each.host == host; });
    text += Format("host %s %u %u ", plan.hosts[host].name.c_str(), ranks[host], running[host]);
    if (state == news.hosts.end()) {
      text += "here 0 -\n";
      continue;
    }
    text +=
        Format("%s %llu ", NameOf(state->kind), static_cast<unsigned long long>(state->silent_ms));
    text += state->round_trip_us
                ? Format("%llu\n", static_cast<unsigned long long>(*state->round_trip_us))
                : "-\n";
  }
  return text + Describe(news.locks) + "end\n";
}

std::string DescribeUsage(std::string_view host, std::int64_t process, const RankUsage& usage) {
  const auto number = [](std::uint64_t value) { return " " + std::to_string(value); };
  std::string line = Format("rank %u ", usage.rank) + std::string(host) + " " +
                     std::to_string(process) + " " + usage.state + number(usage.taken_ns) +
                     number(usage.cpu_ns) + number(usage.memory_bytes);
  if (usage.counted)
    line += number(usage.sent_messages) + number(usage.sent_bytes) +
            number(usage.received_messages) + number(usage.received_bytes) +
            number(usage.unexpected);
  return line + "\n";
}

std::string StartProgress(const Plan& plan, std::span<const HostState> hosts,
                          std::size_t names_max) {
  std::vector<std::string> awaited;
  for (const HostState& state : hosts)
    if (state.kind == HostState::Kind::kStarting) awaited.push_back(plan.hosts[state.host].name);
  if (awaited.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < awaited.size() && i < names_max; ++i)
    names += (i == 0 ? "" : i + 1 == awaited.size() ? " and " : ", ") + awaited[i];
  if (awaited.size() > names_max) {
    const std::size_t others = awaited.size() - names_max;
    names += Format(" and %zu %s", others, others == 1 ? "other" : "others");
  }
  return Format("%zu of %zu hosts have answered; waiting for %s", hosts.size() - awaited.size(),
                hosts.size(), names.c_str());
}

}  // namespace lamina::launcher
