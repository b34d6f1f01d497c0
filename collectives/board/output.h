// SPDX-License-Identifier: BSD-3-Clause
// How members write their outputs.
#pragma once

#include <cstdint>

#include "collectives/board/participant.h"
#include "runtime/memory/streaming.h"

namespace lamina::collective::board {

// Where each member gets a block of `bytes` from each: streaming stores if the outputs of all
// members together are too long for the caches.
inline memory::Stores StoresOfOutput(const Participant& self, std::int64_t bytes) {
  return bytes * self.ranks() * self.ranks() < kStreamedOutputBytesMin ? memory::Stores::kOrdinary
                                                                       : memory::Stores::kStreaming;
}

}  // namespace lamina::collective::board
