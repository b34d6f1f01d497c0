// SPDX-License-Identifier: BSD-3-Clause
// A collective call with its real arguments, and what plans may know of them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/collective.h"
#include "runtime/core/comm.h"
#include "runtime/datatype/datatype.h"
#include "runtime/datatype/op.h"

namespace lamina::collective {

// The table in collective.h says which fields an operation uses. Arguments that are not significant
// on this rank keep the values they have here. The caller has checked everything. Spans are read
// during Run, Start and Init (collectives/exec/exec.h) only.
struct Invocation {
  Operation operation{};
  core::Comm* comm = nullptr;
  Rank root = 0;          // on an intercommunicator as in Call
  bool in_place = false;  // MPI_IN_PLACE was given on this rank
  bool board = false;     // as in Call

  const void* input = nullptr;
  std::int64_t input_count = 0;  // elements; where there are several blocks, of one block
  const datatype::Datatype* input_type = nullptr;
  std::span<const std::int64_t> input_counts;
  std::span<const std::int64_t> input_displacements;

  void* output = nullptr;
  std::int64_t output_count = 0;
  const datatype::Datatype* output_type = nullptr;  // reductions: the type of both buffers
  std::span<const std::int64_t> output_counts;
  std::span<const std::int64_t> output_displacements;

  // w-forms: the datatype of each block. In place, those of the input are not used.
  std::span<const datatype::Datatype* const> input_types;
  std::span<const datatype::Datatype* const> output_types;

  const datatype::Op* op = nullptr;  // reductions
};

// Holds counts that had to become 0 because their elements have no bytes.
struct CountStore {
  std::vector<std::int64_t> input;
  std::vector<std::int64_t> output;
};
// What plans may know of `invocation`. The call refers to `store`, which may be null if there are
// no counts for each rank.
Call MakeCall(const Invocation& invocation, CountStore* store);
// True if every rank knows that no byte moves, so that nobody needs to do anything.
bool Empty(const Call& call, const core::Comm& comm);

}  // namespace lamina::collective
