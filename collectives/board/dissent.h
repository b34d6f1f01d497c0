// SPDX-License-Identifier: BSD-3-Clause
// A contradiction in words: what to say when the ranks of a node make different calls.
#pragma once

#include "collectives/board/board.h"
#include "collectives/board/members.h"
#include "collectives/call/meeting.h"

namespace lamina::collective::board {

// Why a call failed that the broken board could not carry out. `contradiction` is what some member
// found, or null if a member died.
Failure FailureOf(const Contradiction* contradiction, const Members& members);

}  // namespace lamina::collective::board
