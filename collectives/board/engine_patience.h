// SPDX-License-Identifier: BSD-3-Clause
// Waiting at a board while messages go on moving: the policy of runtime/waiting, and the sleep of
// runtime/p2p. A process that sleeps is woken by a frame that says nothing.
#pragma once

#include <vector>

#include "collectives/board/participant.h"
#include "runtime/core/comm.h"

namespace lamina::collective::board {

class EnginePatience final : public Patience {
 public:
  // `members`: their ranks in `comm`, filled in later.
  EnginePatience(const core::Comm& comm, const std::vector<Rank>& members)
      : comm_(comm), members_(members) {}
  void Wait(const Expectation& expectation) override;
  void Wake(Rank rank) override;

 private:
  const core::Comm& comm_;
  const std::vector<Rank>& members_;
};

}  // namespace lamina::collective::board
