// SPDX-License-Identifier: BSD-3-Clause
// This is the bootstrap over the PMI-2 wire protocol, text on the socket PMI_FD as Slurm's `srun
// --mpi=pmi2` serves it. It needs no library.
#pragma once

#include "runtime/base/environment.h"
#include "runtime/bootstrap/bootstrap.h"

namespace lamina::bootstrap {

Result<std::unique_ptr<Bootstrap>> ConnectPmi2(const Environment& environment);

}  // namespace lamina::bootstrap
