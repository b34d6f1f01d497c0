// SPDX-License-Identifier: BSD-3-Clause
// Waits at a board while messages go on moving, by the policy of runtime/waiting and with the sleep
// of runtime/p2p. A process that sleeps is woken by a frame without content.
#pragma once

#include "collectives/board/members.h"
#include "collectives/board/participant.h"
#include "runtime/core/comm.h"

namespace lamina::collective::board {

class EngineWaiter final : public BoardWaiter {
 public:
  EngineWaiter(const core::Comm& comm, const Members& members) : comm_(comm), members_(members) {}
  void Wait(const Expectation& expectation) override;
  void Wake(Rank member) override;

 private:
  const core::Comm& comm_;
  const Members& members_;
};

}  // namespace lamina::collective::board
