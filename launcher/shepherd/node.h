// SPDX-License-Identifier: BSD-3-Clause
// A host as the launcher sees it while a job runs there: its agent, its stream, its ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "launcher/shepherd/agent.h"
#include "launcher/wire/stream.h"

namespace lamina::launcher {

struct Node {
  //  waiting ──> starting ──> herding ──> done      said goodbye
  //     ^           │  │          │
  //     └── retry ──┘  └──────────┴─────> lost      its ranks have been reported
  enum class State { kWaiting, kStarting, kHerding, kDone, kLost };

  std::uint32_t host = 0;  // index into the plan's
  std::string name;
  bool here = false;  // this machine: no agent in between
  std::vector<std::uint32_t> ranks;
  State state = State::kWaiting;
  std::unique_ptr<Agent> agent;  // none where shepherds dial back
  std::unique_ptr<wire::Stream> stream;
  std::vector<std::string> letters;  // that came before it was up
  std::uint32_t attempts = 0;
  std::uint64_t due_ms = 0;      // waiting: start not before; starting: greeting until
  std::uint64_t heard_ms = 0;    // herding: when last
  std::uint64_t failing_ms = 0;  // the stream has ended: when to stop waiting for the reason
  std::string failure;           // as far as it is known

  bool over() const { return state == State::kDone || state == State::kLost; }
};

}  // namespace lamina::launcher
