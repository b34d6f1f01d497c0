// SPDX-License-Identifier: BSD-3-Clause
// A Node is a host as seen by the process that starts its shepherd: its agent, its stream, and the
// hosts that are reached through it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launcher/shepherd/agent.h"
#include "launcher/wire/messages.h"
#include "launcher/wire/stream.h"

namespace lamina::launcher {

struct Node {
  //  waiting ──> starting ──> herding ──> done      said goodbye
  //     ^           │  │          │
  //     └── retry ──┘  └──────────┴─────> lost      its owner has been told
  enum class State { kWaiting, kStarting, kHerding, kDone, kLost };

  std::uint32_t edge = 0;  // index into the nodes of its Shepherds
  std::uint32_t host = 0;  // index into the plan's
  std::string name;
  bool here = false;                 // this machine: no agent in between
  std::vector<std::string> command;  // what starts it; none: it calls
  std::vector<wire::Below> below;    // what it shall start in turn
  State state = State::kWaiting;
  bool ready = false;            // it, and what is below it, can start its ranks
  std::unique_ptr<Agent> agent;  // none where shepherds dial back
  std::unique_ptr<wire::Stream> stream;
  std::vector<std::pair<wire::Kind, std::string>> held;  // for it, before it was up
  std::uint32_t attempts = 0;
  std::uint64_t due_ms = 0;      // waiting: start not before; starting: greeting until
  std::uint64_t heard_ms = 0;    // herding: when last
  std::uint64_t failing_ms = 0;  // the stream has ended: when to stop waiting for the reason
  std::string failure;           // as far as it is known

  // Returns the host itself and those below it.
  std::vector<std::uint32_t> hosts() const {
    std::vector<std::uint32_t> hosts = {host};
    for (const wire::Below& each : below) hosts.push_back(each.host);
    return hosts;
  }
  bool over() const { return state == State::kDone || state == State::kLost; }
};

}  // namespace lamina::launcher
