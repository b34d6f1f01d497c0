// SPDX-License-Identifier: BSD-3-Clause
// Waiting at a board while messages go on moving: the policy of runtime/progress, and the sleep of
// runtime/p2p. A process that sleeps is woken by a frame that says nothing.
#pragma once

#include "collectives/shared/participant.h"
#include "runtime/core/comm.h"

namespace lamina::collective::shared {

class EnginePatience final : public Patience {
 public:
  explicit EnginePatience(const core::Comm& comm) : comm_(comm) {}
  void Wait(const Expectation& expectation) override;
  void Wake(Rank rank) override;

 private:
  const core::Comm& comm_;
};

}  // namespace lamina::collective::shared
