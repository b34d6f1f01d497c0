// SPDX-License-Identifier: BSD-3-Clause
// This is the bootstrap of a job on one node, through the memory that our launcher shares with its
// ranks (runtime/base/roster.h). PMIx is opened only for what the roster does not know.
#pragma once

#include "runtime/base/environment.h"
#include "runtime/bootstrap/bootstrap.h"

namespace lamina::bootstrap {

Result<std::unique_ptr<Bootstrap>> ConnectRoster(const Environment& environment);

}  // namespace lamina::bootstrap
