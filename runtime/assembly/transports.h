// SPDX-License-Identifier: BSD-3-Clause
// Starts the transports that a process needs: when it comes up, and again after a checkpoint.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/sharing.h"
#include "runtime/base/status.h"
#include "runtime/core/process.h"
#include "runtime/p2p/lifetime.h"
#include "transports/transport.h"

namespace lamina::assembly {

// What the transports are told beside what the process knows of itself.
struct TransportsStart {
  std::string included;  // the parameter transport.include
  transport::ProcessName self{};
  Sharing sharing = Sharing::kExclusive;
};

// Opens the memory of the node, and adds every transport that can run here and is needed to
// `engine`.
Status StartTransports(const TransportsStart& start, core::Process* process, p2p::Engine* engine);

// Adds the transports that processes of other jobs are reached by, within `reach`, unless they are
// there.
Status WidenTransports(transport::Reach reach, const TransportsStart& start, core::Process* process,
                       p2p::Engine* engine);

// The first rank of each node says on standard error by which transports it reaches this node and
// the others, whose `names` are separated by commas; where there are fewer, numbers take their
// place.
void ReportTransports(std::string_view names, const core::Process& process, p2p::Engine* engine);

}  // namespace lamina::assembly
