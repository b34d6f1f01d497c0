// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survey/job_answer.h"

#include <algorithm>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

std::uint64_t Number(std::string_view text) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(ParseInteger(text).value_or(0), 0));
}

JobAnswer::Host DecodeHost(const std::vector<std::string_view>& words) {
  JobAnswer::Host host;
  host.name = words[1];
  host.ranks = static_cast<std::uint32_t>(Number(words[2]));
  host.running = static_cast<std::uint32_t>(Number(words[3]));
  host.state = words[4];
  host.silent_ms = Number(words[5]);
  if (words[6] != "-") host.round_trip_us = Number(words[6]);
  return host;
}

}  // namespace

Result<JobAnswer> DecodeJobAnswer(std::string_view text) {
  JobAnswer answer;
  for (const std::string_view line : Split(text, '\n')) {
    if (line == "end") return answer;
    const auto words = Split(line, ' ');
    const std::string_view rest = line.substr(std::min(words[0].size() + 1, line.size()));
    if (words[0] == "lamina") answer.version = rest;
    if (words[0] == "job") answer.job = rest;
    if (words[0] == "spawner") answer.spawner = rest;
    if (words[0] == "command") answer.command = rest;
    if (words[0] == "age_ms") answer.age_ms = Number(rest);
    if (words[0] == "ranks") answer.ranks = static_cast<std::uint32_t>(Number(rest));
    if (words[0] == "running") answer.running = static_cast<std::uint32_t>(Number(rest));
    if (words[0] == "host" && words.size() >= 7) answer.hosts.push_back(DecodeHost(words));
  }
  return Error(Code::kInvalid, "an answer was cut short");
}

bool AllAnswered(const JobAnswer& answer) {
  return std::all_of(answer.hosts.begin(), answer.hosts.end(), [](const auto& host) {
    return host.state != "up" || host.round_trip_us.has_value();
  });
}

Result<JobAnswer> AskJob(const control::Launcher& launcher, std::string_view question,
                         int timeout_ms) {
  Result<std::string> text = control::Ask(launcher, question, timeout_ms);
  if (!text.ok()) return std::move(text).status();
  return DecodeJobAnswer(*text);
}

}  // namespace lamina::launcher
