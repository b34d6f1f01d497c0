// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/checkpoint_options.h"

#include <csignal>
#include <optional>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher {

Status CheckpointDirectory(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no directory named");
  draft.line.options.checkpoint.directory = value;
  return {};
}

// Collectives go by messages, because what lies in memory that ranks share cannot be saved yet.
Status CheckpointJob(Draft& draft, std::string_view) {
  CheckpointOptions& checkpoint = draft.line.options.checkpoint;
  checkpoint.outside = true;
  if (checkpoint.directory.empty()) checkpoint.directory = "lamina-checkpoint";
  draft.line.settings.emplace_back("collective.board.enable=never");
  return {};
}

Status RequireCheckpoints(Draft& draft, std::string_view) {
  draft.line.options.checkpoint.required = true;
  return CheckpointJob(draft, {});
}

// "90", "90s", "10m", "2h".
Status CheckpointEvery(Draft& draft, std::string_view value) {
  constexpr std::pair<char, std::uint64_t> kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
  std::uint64_t unit_s = 1;
  std::string_view number = value;
  for (const auto& [letter, seconds] : kUnits)
    if (value.ends_with(letter)) {
      unit_s = seconds;
      number.remove_suffix(1);
    }
  const std::optional<std::int64_t> count = ParseInteger(number);
  if (!count || *count < 1 || *count > 1'000'000)
    return Error(Code::kInvalid, "not a time, as in 90s, 10m or 2h");
  draft.line.options.checkpoint.every_ms = static_cast<std::uint64_t>(*count) * unit_s * 1000;
  return RequireCheckpoints(draft, {});
}

// "USR1" or "USR1:end".
Status CheckpointSignal(Draft& draft, std::string_view value) {
  constexpr std::pair<std::string_view, int> kSignals[] = {
      {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"HUP", SIGHUP}};
  CheckpointOptions& checkpoint = draft.line.options.checkpoint;
  const std::size_t colon = value.find(':');
  std::string_view name = value.substr(0, colon);
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const auto& [known, signal] : kSignals)
    if (name == known) checkpoint.signal = signal;
  checkpoint.signal_ends = colon != value.npos;
  if (checkpoint.signal == 0 || (checkpoint.signal_ends && value.substr(colon) != ":end"))
    return Error(Code::kInvalid, "neither USR1, USR2, TERM or HUP, nor one of these and :end");
  return RequireCheckpoints(draft, {});
}

Status ResumeJob(Draft& draft, std::string_view) {
  draft.line.options.checkpoint.resume = true;
  return {};
}

Status Restarts(Draft& draft, std::string_view value) {
  const std::optional<std::int64_t> count = ParseInteger(value);
  if (!count || *count < 0 || *count > 1'000'000)
    return Error(Code::kInvalid, "not a number of restarts");
  draft.line.options.checkpoint.restarts = static_cast<std::uint32_t>(*count);
  return {};
}

}  // namespace lamina::launcher
