// SPDX-License-Identifier: BSD-3-Clause
// Binding decided on the host itself, where its CPUs can be seen: what a shepherd does with the
// plan it was sent. Looks at this machine; everything decided is in bind.h.
#pragma once

#include <cstdint>

#include "launcher/plan/plan.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// `host`: the index of this machine in the plan. A topology is loaded only if something is to be
// bound. Fails as BindRanks does.
Status BindHere(std::uint32_t host, Plan* plan);

}  // namespace lamina::launcher
