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
  // A rank that waits for a lock of a window.
  struct Lock {
    std::uint32_t rank = 0;
    std::string kind;
    std::uint64_t window = 0;
    std::uint32_t target = 0;
    std::optional<std::uint32_t> holder;
    std::uint32_t sharers = 0;
    friend bool operator==(const Lock&, const Lock&) = default;
  };
  std::string version;
  std::string job;
  std::string spawner;
  std::string command;
  std::uint32_t parent = 0;  // the process that has spawned the job, or its mpiexec; 0: none
  std::uint64_t age_ms = 0;
  std::uint32_t ranks = 0;
  std::uint32_t running = 0;
  std::vector<Host> hosts;
  std::vector<Lock> locks;
  friend bool operator==(const JobAnswer&, const JobAnswer&) = default;
};

// kInvalid means that it is not whole.
Result<JobAnswer> DecodeJobAnswer(std::string_view text);

// Has every host that is up answered the last ping?
bool AllAnswered(const JobAnswer& answer);

// "rank 2 waits for an exclusive lock of rank 0 in window 5, which rank 1 holds". `ranks`: of the
// job; who has a higher number is of another one.
std::string Sentence(const JobAnswer::Lock& lock, std::uint32_t ranks);

// `question` is "job" or "ping". Errors are those of control::Ask.
Result<JobAnswer> AskJob(const control::Launcher& launcher, std::string_view question,
                         int timeout_ms);

// Has every host asked whether it is there, by "ping" or "ping usage", and waits until all that are
// up have answered, or the time is over. Returns the last answer.
Result<JobAnswer> AwaitPings(const control::Launcher& launcher, std::string_view ping = "ping");

}  // namespace lamina::launcher
