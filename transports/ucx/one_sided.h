// SPDX-License-Identifier: BSD-3-Clause
// Memory of peers, reached by UCX: put, get and flush of UCP.
//
// It has a context and a worker of its own, which the first use makes, because a worker that takes
// puts takes them from whoever reaches it: the secret of frames does not protect memory.
//
// Threads: like the transport's.
#pragma once

#include <memory>

#include "transports/one_sided.h"
#include "transports/transport.h"
#include "transports/ucx/params.h"

namespace lamina::ucx {

// True if windows are to use this: transport.ucx.one_sided says so, or leaves it to what there is.
bool WantsOneSided(const Params& params);
// Says by which way windows put and get, and why.
const char* ExplainOneSided(const Params& params);

class OneSidedWorker : public transport::OneSided {
 public:
  // Costs nothing yet.
  static std::unique_ptr<OneSidedWorker> Make(const Params& params,
                                              const transport::Context& context);
  // These are for the transport. Before the first use they do nothing.
  virtual std::uint32_t Progress() = 0;
  // Readable when there is something to progress, or -1 before the first use.
  virtual int descriptor() const = 0;
  // kAgain: something has arrived meanwhile.
  virtual Code Arm() = 0;
};

}  // namespace lamina::ucx
