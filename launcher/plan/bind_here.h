// SPDX-License-Identifier: BSD-3-Clause
// Binds on the host itself, where its CPUs can be seen. A shepherd does this with the plan it was
// sent. It looks at this machine; bind.h decides.
#pragma once

#include <cstdint>

#include "launcher/plan/plan.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// `host` is the index of this machine in the plan. This process keeps to the plan's set of CPUs
// from then on. A topology is loaded only if something is to be bound. It fails as BindRanks and
// KeepToCpus do.
Status BindHere(std::uint32_t host, Plan* plan);

}  // namespace lamina::launcher
