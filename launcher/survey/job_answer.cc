// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survey/job_answer.h"

#include <poll.h>

#include <algorithm>

#include "launcher/survey/tuning.h"
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

JobAnswer::Lock DecodeLock(const std::vector<std::string_view>& words) {
  const auto number = [&](std::size_t word) {
    return static_cast<std::uint32_t>(Number(words[word]));
  };
  JobAnswer::Lock lock{number(1), std::string(words[2]), Number(words[3]), number(4), {},
                       number(6)};
  if (words[5] != "-") lock.holder = number(5);
  return lock;
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
    if (words[0] == "parent") answer.parent = static_cast<std::uint32_t>(Number(rest));
    if (words[0] == "age_ms") answer.age_ms = Number(rest);
    if (words[0] == "ranks") answer.ranks = static_cast<std::uint32_t>(Number(rest));
    if (words[0] == "running") answer.running = static_cast<std::uint32_t>(Number(rest));
    if (words[0] == "host" && words.size() >= 7) answer.hosts.push_back(DecodeHost(words));
    if (words[0] == "lock" && words.size() >= 7) answer.locks.push_back(DecodeLock(words));
  }
  return Error(Code::kInvalid, "an answer was cut short");
}

bool AllAnswered(const JobAnswer& answer) {
  return std::all_of(answer.hosts.begin(), answer.hosts.end(), [](const auto& host) {
    return host.state != "up" || host.round_trip_us.has_value();
  });
}

std::string Sentence(const JobAnswer::Lock& lock, std::uint32_t ranks) {
  const auto name = [ranks](std::uint32_t rank) {
    return rank < ranks ? Format("rank %u", rank) : std::string("a process of another job");
  };
  const bool of_all = lock.kind == "all";
  std::string text = name(lock.rank) + " waits for ";
  if (of_all)
    text += "locks of all ranks";
  else
    text += (lock.kind == "exclusive" ? "an exclusive lock of " : "a shared lock of ") +
            name(lock.target);
  text += Format(" in window %llu, ", static_cast<unsigned long long>(lock.window));
  if (lock.holder)
    text += (of_all ? "one of which " : "which ") + name(*lock.holder) + " holds";
  else if (lock.sharers != 0)
    text += Format("which %u %s", lock.sharers,
                   lock.sharers == 1 ? "process shares" : "processes share");
  else
    text += "held by somebody who is not known";
  return text;
}

Result<JobAnswer> AskJob(const control::Launcher& launcher, std::string_view question,
                         int timeout_ms) {
  Result<std::string> text = control::Ask(launcher, question, timeout_ms);
  if (!text.ok()) return std::move(text).status();
  return DecodeJobAnswer(*text);
}

Result<JobAnswer> AwaitPings(const control::Launcher& launcher, std::string_view ping) {
  if (Result<JobAnswer> first = AskJob(launcher, ping, kAnswerMs); !first.ok()) return first;
  for (int waited = 0;; waited += kAskAgainMs) {
    Result<JobAnswer> answer = AskJob(launcher, "job", kAnswerMs);
    if (!answer.ok() || AllAnswered(*answer) || waited >= kPingMs) return answer;
    poll(nullptr, 0, kAskAgainMs);
  }
}

}  // namespace lamina::launcher
