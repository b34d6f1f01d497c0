// SPDX-License-Identifier: BSD-3-Clause
// Which transports a job needs, decided by what they reach and never by their names.
#pragma once

#include "transports/transport.h"

namespace lamina::assembly {

// `apart`: transports that reach the node probably reach nobody, because this process is in a
// namespace of its own or must not be opened by others, and has no memory in common with them.
// `node_is_reached`: another transport that reaches the node was started.
inline bool IsNeeded(const transport::Facts& facts, const transport::Context& job, bool apart,
                     bool node_is_reached) {
  switch (facts.reach) {
    case transport::Reach::kProcess:
      return true;
    case transport::Reach::kNode:
      return job.local_ranks > 1;
    case transport::Reach::kNetwork:
      break;
  }
  if (job.job_ranks == 1) return false;
  const bool one_node = job.local_ranks == job.job_ranks;
  return !one_node || apart || !node_is_reached || !facts.costs_to_start;
}

}  // namespace lamina::assembly
