// SPDX-License-Identifier: BSD-3-Clause
// Runs an errand of `lamina` once on every host of a plan, many at a time, in the way in which a
// job would be started there: the same spawner, agent, shepherd and messages. A host that cannot be
// reached spoils nothing for the others, because each is a job of its own.
//
// Threads: none may run; it forks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/supervise/run.h"

namespace lamina::launcher {

struct HostAnswer {
  std::uint32_t host = 0;     // index into Plan::hosts
  int status = 0;             // of the job there, as mpiexec would return it
  std::string out, err;       // at most 1 MiB each
  std::int64_t asked_us = 0;  // by the clock of the day
  std::int64_t answered_us = 0;
};

struct EachHostLimits {
  std::uint32_t hosts_at_once = 32;
  std::uint64_t timeout_ms = 60'000;  // of one host
};

// `words` are the errand, see node_word.h. Hosts that are not schedulable are left out. `on_answer`
// is called as answers come.
void AskEachHost(const Plan& plan, const std::vector<std::string>& words, const RunContext& context,
                 const EachHostLimits& limits, const std::function<void(HostAnswer)>& on_answer);

}  // namespace lamina::launcher
