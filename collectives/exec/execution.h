// SPDX-License-Identifier: BSD-3-Clause
// One schedule being run without blocking.
//
//   Start ──> round 0 ──> round 1 ──> ... ──> Finish(request)
//              post all; when all have ended: copies and reductions, and on to the next
//
// Advance moves it as far as it will go and never waits. Poll advances all that are under way.
//
// Ownership: an execution belongs to itself: it holds references to what the user may free
// meanwhile
//            (communicator through its request, datatypes, operation) and deletes itself at its
//            end.
#pragma once

#include <memory>
#include <vector>

#include "collectives/exec/binding.h"
#include "collectives/exec/invocation.h"
#include "collectives/exec/packed_bcast.h"
#include "collectives/select/plan_cache.h"
#include "runtime/core/request.h"

namespace lamina::collective {

struct Execution {
  // `owner` completes at the end. Takes over the caller's reference to `plan`.
  Execution(const Invocation& invocation, PackedBcast packed, Plan* plan, core::Request* owner,
            int tag);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // Memory for the plan's scratch; false: there is none.
  bool Prepare();
  // Posts the sends and receives of the current round.
  void Post();
  // Are those under way done? Notes errors.
  bool Arrived();
  // As far as it will go. True: the schedule is complete.
  bool Advance(bool* moved);

  core::Request* const owner;
  Plan* const plan;
  const int tag;
  int error = MPI_SUCCESS;  // the first one; the schedule runs on, so that no peer is left waiting

  std::vector<const datatype::Datatype*> input_types;  // alltoallw's, by rank
  std::vector<const datatype::Datatype*> output_types;
  Invocation held;  // the arguments, without what only planning reads
  PackedBcast packed;
  Binding binding;
  std::unique_ptr<std::byte[]> scratch;
  std::vector<core::Request> transfers;
  std::uint32_t round = 0;
  std::uint32_t under_way = 0;     // transfers of this round
  std::uint32_t next_pending = 0;  // those before it are complete

  // Links of the list of all that are under way.
  Execution* previous = nullptr;
  Execution* next = nullptr;
};

}  // namespace lamina::collective
