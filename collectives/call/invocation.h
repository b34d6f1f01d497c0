// SPDX-License-Identifier: BSD-3-Clause
// A collective call with its real arguments, and what plans may know of it.
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

// Which fields an operation uses is the table in collective.h. What is not significant on this rank
// stays as it is here. The caller has checked everything; spans are read during
// Run, Start and Init (collectives/exec/exec.h) only.
struct Invocation {
  Operation operation{};
  core::Comm* comm = nullptr;
  Rank root = 0;          // on an intercommunicator as in Call
  bool in_place = false;  // MPI_IN_PLACE was given on this rank
  bool board = false;     // as in Call

  const void* input = nullptr;
  std::int64_t input_count = 0;  // of one block where there are several
  const datatype::Datatype* input_type = nullptr;
  std::span<const std::int64_t> input_counts;
  std::span<const std::int64_t> input_displacements;

  void* output = nullptr;
  std::int64_t output_count = 0;
  const datatype::Datatype* output_type = nullptr;  // reductions: of both buffers
  std::span<const std::int64_t> output_counts;
  std::span<const std::int64_t> output_displacements;

  // w-forms: by block. The input's are not used in place.
  std::span<const datatype::Datatype* const> input_types;
  std::span<const datatype::Datatype* const> output_types;

  const datatype::Op* op = nullptr;  // reductions
};

// What plans may know of `invocation`. `store` holds counts that had to be made 0 because their
// elements have no bytes; the call refers to it. It may be null where there are no counts by rank.
struct CountStore {
  std::vector<std::int64_t> input;
  std::vector<std::int64_t> output;
};
Call MakeCall(const Invocation& invocation, CountStore* store);
// Every rank knows that no byte moves, so that nobody needs to do anything.
bool Empty(const Call& call, const core::Comm& comm);

}  // namespace lamina::collective
