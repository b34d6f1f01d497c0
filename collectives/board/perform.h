// SPDX-License-Identifier: BSD-3-Clause
// An MPI call as operations at a board.
#pragma once

#include "collectives/board/operations.h"
#include "collectives/call/invocation.h"

namespace lamina::collective::board {

// The operations that there are at a board.
inline constexpr OperationSet kOperations{
    Operation::kBarrier,  Operation::kBcast,     Operation::kGather,
    Operation::kScatter,  Operation::kAllgather, Operation::kAllgatherv,
    Operation::kAlltoall, Operation::kReduce,    Operation::kAllreduce};

// Can this call of one of these be carried out at a board? An allgatherv can if all blocks have one
// length. The answer is the same on all members.
bool HasForm(const Invocation& it);

// The length of a call of one of these, which every member counts alike: bytes of the vector, or of
// one block.
std::int64_t BytesOf(const Invocation& it);

// Carries out a call of one of these through the board. False: it is broken.
bool Perform(Participant& self, const Invocation& it);
// Carries out a call for which Way::kDirect is a candidate (ways.h), straight between the buffers.
Outcome PerformDirect(Participant& self, const Invocation& it);

}  // namespace lamina::collective::board
