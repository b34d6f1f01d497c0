// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication (MPI-5.0, chapter 4).
//
// The sender takes a channel, which is a matching context that nobody else uses, and tells the
// receiver about it in one message that is matched in the order of initialisation. From then on
// each partition of the sender is a message in that channel, tagged with its number: it leaves when
// it is ready and is received into its place. The receiver's partitions may have other sizes than
// the sender's. One has arrived when all messages that overlap it have.
//
//   Psend_init ── Setup {channel, partitions, bytes} ──> Precv_init
//   Start, Pready(p) ── message p in the channel ──────> posted by Start; Parrived
//
// Allocation: everything at initialisation and when the setup arrives; none per round.
#pragma once

#include "runtime/p2p/p2p.h"

namespace lamina::p2p {

// The arguments of one side. The context of `peer` is Comm::PartitionedContext(), and its rank may
// be MPI_PROC_NULL.
struct Partitioned {
  Envelope peer;
  void* address;
  int partitions;      // at least 1
  std::int64_t count;  // elements in a partition
  const datatype::Datatype* type;
};

// Both make a persistent request that is not started.
core::Request* MakePartitionedSend(const Partitioned& arguments);
core::Request* MakePartitionedReceive(const Partitioned& arguments);

// How many partitions the request has. -1: it is no partitioned send, or no partitioned receive.
int SendPartitions(const core::Request& request);
int ReceivePartitions(const core::Request& request);

// True if partition `partition` of an active send has been marked ready. The partition must exist.
bool IsReady(const core::Request& request, int partition);
// Marks the partition ready, once, so that it may leave.
void MarkReady(core::Request* request, int partition);
// True if partition `partition` of an active receive has arrived. Progresses once if not.
bool HasArrived(core::Request* request, int partition);

}  // namespace lamina::p2p
