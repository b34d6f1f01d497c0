// SPDX-License-Identifier: BSD-3-Clause
// Two groups that share nothing yet become an intercommunicator. Their roots have a stream between
// them; what one root finds out is told to all of its group, so that nobody waits in vain.
//
//   members ── where each is ──> root            everybody makes the transports that are needed
//   root <══ hello ══> other root                members ── cards ──> root
//   root ── verdict ──> members                  root <══ rolls, contexts ══> other root ──>
//   members
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/comm.h"
#include "runtime/dynamic/stream.h"
#include "transports/transport.h"

namespace lamina::dynamic {

// What the root has brought about before the meeting.
struct Arrangement {
  int error_class = MPI_SUCCESS;
  std::string why;         // of the error
  std::vector<int> codes;  // one for each process that was to be started
  bool meets = true;       // false: there is nobody to meet, and that is right
  std::optional<Stream> stream;
  // Returns a better reason for the end of the stream than this one; null: there is none.
  std::function<std::string(std::string why)> explain = nullptr;
};

struct Encounter {
  int error_class = MPI_SUCCESS;
  std::string why;
  std::vector<int> codes;
  core::Comm* made = nullptr;
};

// Collective over `comm`, an intracommunicator. `arrange` is called at `root` alone, and
// `failure_class` is what a meeting that fails on the way raises.
Encounter Meet(core::Comm* comm, int root, int failure_class,
               const std::function<Arrangement()>& arrange);

// Makes the transports that reach so far, unless they are there. runtime/assembly sets it.
extern Status (*widen)(transport::Reach reach);

}  // namespace lamina::dynamic
