// SPDX-License-Identifier: BSD-3-Clause
// From nothing to MPI_COMM_WORLD and back. Called by MPI_Init*, MPI_Finalize and nobody else.
#pragma once

#include "runtime/base/status.h"

namespace lamina::assembly {

// Brings the process up: parameters, bootstrap, transports, world and self. On failure nothing is
// left behind that a second try would trip over.
Status Initialize(int thread_level);

// Completes what is pending, says goodbye, takes everything down.
Status Finalize();

}  // namespace lamina::assembly
