// SPDX-License-Identifier: BSD-3-Clause
// A JobAnswer is what a launcher answers about its job (launcher/control/README.md), as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/control/ask.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

struct JobAnswer {
  struct Host {
    std::string name;
    std::uint32_t ranks = 0;
    std::uint32_t running = 0;
    std::string state;
    std::uint64_t silent_ms = 0;
    std::optional<std::uint64_t> round_trip_us;
    friend bool operator==(const Host&, const Host&) = default;
  };
  std::string version;
  std::string job;
  std::string spawner;
  std::string command;
  std::uint64_t age_ms = 0;
  std::uint32_t ranks = 0;
  std::uint32_t running = 0;
  std::vector<Host> hosts;
  friend bool operator==(const JobAnswer&, const JobAnswer&) = default;
};

// kInvalid means that it is not whole.
Result<JobAnswer> DecodeJobAnswer(std::string_view text);

// Has every host that is up answered the last ping?
bool AllAnswered(const JobAnswer& answer);

// `question` is "job" or "ping". Errors are those of control::Ask.
Result<JobAnswer> AskJob(const control::Launcher& launcher, std::string_view question,
                         int timeout_ms);

}  // namespace lamina::launcher
