// SPDX-License-Identifier: BSD-3-Clause
// Collectives in memory that the ranks of one node share: beside the plans, for blocking calls.
//
// Ownership: what a communicator has of this hangs on its Table and goes with it.
// Threads:   the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include "collectives/call/invocation.h"
#include "collectives/select/table.h"

namespace lamina::collective::board {

// Carries a call out over messages. Returns an MPI error class.
using ByMessages = int (*)(const Invocation& invocation);

// Looks at a communicator once: may its members use shared memory, and for which operations? No
// communication.
void Consider(Table* table, core::Comm* comm, ByMessages by_messages);

// For operations that the table's `beside` names: carries out `invocation` in shared memory, or by
// messages where those serve this call better. Returns an MPI error class.
int Run(Table& table, const Invocation& invocation);

// A step at the board of this rank's node, of a plan for a call that has one. Returns an MPI error
// class.
int Meet(Table& table, const Step& step, const datatype::Buffer& from, const datatype::Buffer& to,
         const datatype::Op* op);

// The component that lamina info lists. It offers no plan.
Component Describe();

}  // namespace lamina::collective::board
