// SPDX-License-Identifier: BSD-3-Clause
// How this process comes to rest for a checkpoint: the parts of it, in the order in which they are
// let go, and taken up in reverse.
//
// Threads: the agent's (runtime/quiesce/agent.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/assembly/transports.h"
#include "runtime/base/status.h"
#include "runtime/core/process.h"
#include "runtime/p2p/rest.h"
#include "runtime/quiesce/agent.h"
#include "runtime/quiesce/timers.h"

namespace lamina::assembly {

class RestingProcess final : public quiesce::Library {
 public:
  // `process` has come up; `has_left` tells whether it has left the bootstrap. The library lock
  // guards both.
  RestingProcess(core::Process* process, TransportsStart transports, const bool* has_left);

  void Enter() override { rest_.TakeLibrary(); }
  void Leave() override { rest_.GiveLibrary(); }
  std::string WhyNot() override;
  Sums Settle(const quiesce::Cut& cut) override;
  Status LetGo() override;
  Status TakeUp(std::span<const std::string> changes) override;

 private:
  void Change(std::span<const std::string> changes);

  core::Process* const process_;
  const TransportsStart transports_;
  const bool* const has_left_;
  p2p::Rest rest_;
  quiesce::Timers timers_;
  std::uint32_t epoch_ = 0;  // of the last checkpoint
  bool still_ = false;
  bool let_go_ = false;
};

}  // namespace lamina::assembly
