// SPDX-License-Identifier: BSD-3-Clause
// How the boards of a communicator are opened, one on each node.
//
// The first member of each node makes a board and sends the others an invitation; they open it.
// Then all ranks of the communicator agree by messages, along a tree, whether every rank could.
#pragma once

#include <memory>

#include "collectives/board/board.h"
#include "collectives/board/members.h"
#include "collectives/board/params.h"
#include "collectives/board/participant.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/sharing.h"
#include "runtime/core/comm.h"

namespace lamina::collective::board {

// A member's seat at the board of its node. Both are null where no other member is on the node.
struct Seat {
  std::unique_ptr<Board> board;
  std::unique_ptr<Participant> participant;
};

// What came of an opening, the worst last.
enum class Opened : std::uint8_t {
  kYes,
  kNo,      // Some rank has no board, and says why at level info. All ranks get this answer.
  kFailed,  // A message failed, here or elsewhere; `error_class` says how.
};
struct Opening {
  Opened opened;
  int error_class = MPI_SUCCESS;
  Seat seat;
};

// All ranks of `comm` call this at once. `sharing` is what this process knows of its node; the
// opinion of the first member becomes everybody's. The participant waits by `waiter`.
// `node` may be null.
Opening OpenBoards(core::Comm* comm, const Members& members, const Params& params, Sharing sharing,
                   NodeMemory* node, BoardWaiter* waiter);

// Finds out whether all members can read and write each other's memory, and tells `*reach`: each
// tries its neighbour's. All members call this at once. False: the board is broken.
bool TryReach(const Seat& seat, const Params& params, bool* reach);

}  // namespace lamina::collective::board
