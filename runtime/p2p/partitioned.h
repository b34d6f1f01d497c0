// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication (MPI-5.0, chapter 4).
//
// The sender numbers a channel of its own, a matching context nobody else uses, and tells the
// receiver in one message that is matched in the order of initialisation. From then on a partition
// of the sender is a message in that channel, tagged with its number: it leaves when it is ready
// and is received into its place. The receiver's partitions need not be the sender's: one has
// arrived when all messages that overlap it have.
//
//   Psend_init ── Setup {channel, partitions, bytes} ──> Precv_init
//   Start, Pready(p) ── message p in the channel ──────> posted by Start; Parrived
//
// Allocation: everything at initialisation and when the setup arrives; none per round.
#pragma once

#include "runtime/p2p/p2p.h"

namespace lamina::p2p {

// One side's arguments. `peer` has the context Comm::PartitionedContext(); its rank may be
// MPI_PROC_NULL.
struct Partitioned {
  Envelope peer;
  void* address;
  int partitions;      // at least 1
  std::int64_t count;  // elements in a partition
  const datatype::Datatype* type;
};

// A persistent request, not started.
core::Request* MakePartitionedSend(const Partitioned& arguments);
core::Request* MakePartitionedReceive(const Partitioned& arguments);

// How many partitions a partitioned send has; -1: the request is none.
int SendPartitions(const core::Request& request);
int ReceivePartitions(const core::Request& request);

// Partition `partition` (in range) of an active send may leave. False: it has been marked before.
bool IsReady(const core::Request& request, int partition);
void MarkReady(core::Request* request, int partition);
// Has `partition` (in range) of an active receive arrived? Progresses once.
bool HasArrived(core::Request* request, int partition);

}  // namespace lamina::p2p
