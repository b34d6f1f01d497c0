// SPDX-License-Identifier: BSD-3-Clause
// A Meeting carries blocking calls of one communicator out without messages.
//
// The executor asks the meeting of a communicator, if there is one, before it looks for a plan. A
// meeting either carries out the whole call, or has the executor run a plan by messages, or has it
// run a plan in which the ranks of each node meet (Call::board): such a plan has steps kTell and
// kFold, which the executor hands back to the meeting.
//
// Ownership: the table of a communicator owns its meeting; both go with the communicator.
// Threads:   the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstdint>
#include <string>

#include "collectives/call/invocation.h"
#include "collectives/collective.h"
#include "collectives/hierarchy.h"
#include "runtime/core/comm.h"
#include "runtime/datatype/datatype.h"
#include "runtime/datatype/op.h"

namespace lamina::collective {

enum class Served : std::uint8_t {
  kDone,
  kFailed,      // Place::failure says why.
  kByMessages,  // Nothing was done. A plan by messages serves this call.
  kBySteps,     // Nothing was done. A plan serves this call, and Step its steps at a board.
};

// Why a collective call failed, beyond its error class.
struct Failure {
  int error_class = MPI_SUCCESS;
  std::string text;     // empty: the error class says it all
  bool is_news = true;  // false: another rank reports the same, and sooner
};

class Meeting {
 public:
  virtual ~Meeting() = default;
  // Is asked for every blocking call of the communicator.
  virtual Served Run(const Invocation& invocation) = 0;
  // Carries out one step kTell or kFold of a plan. `from` and `to` are the step's slices. Returns
  // an MPI error class, and fills in Place::failure if that is not MPI_SUCCESS.
  virtual int Step(const collective::Step& step, const datatype::Buffer& from,
                   const datatype::Buffer& to, const datatype::Op* op) = 0;
};

// A communicator, and what its meeting is asked for.
struct Place {
  core::Comm* comm;
  const Partition& nodes;   // its ranks by node; valid while the meeting is convened
  bool spans_jobs;          // what the launcher says of this job is not true of all ranks
  OperationSet operations;  // blocking calls of these; all others go by messages
  OperationSet named;       // those of `operations` for which a parameter names the component
  Failure* failure;         // is to be filled in when a call fails
  // Carries a call out by messages and returns an MPI error class, for a meeting that measures how
  // long that takes.
  int (*by_messages)(const Invocation& invocation);
};

}  // namespace lamina::collective
