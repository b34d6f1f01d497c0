// SPDX-License-Identifier: BSD-3-Clause
// This is the bootstrap over PMIx: our launcher, srun --mpi=pmix, or any other conforming server.
//
// libpmix is opened at run time, so a singleton neither needs nor loads it.
#pragma once

#include "runtime/base/environment.h"
#include "runtime/bootstrap/bootstrap.h"

namespace lamina::bootstrap {

// `epoch` is that of the last checkpoint, as for Bootstrap::Return().
Result<std::unique_ptr<Bootstrap>> ConnectPmix(const Environment& environment, std::uint32_t epoch);

}  // namespace lamina::bootstrap
