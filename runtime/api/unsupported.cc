// SPDX-License-Identifier: BSD-3-Clause
// These MPI functions are not written yet. Each raises MPI_ERR_UNSUPPORTED_OPERATION on
// MPI_COMM_SELF with a text naming itself; delete the line when the function gets a body.
// `runtime/api/status` counts these lines for the table in README.md.
#include "runtime/api/api.h"

using lamina::api::Unsupported;

// The parameters are types without names; a line that differs from mpi.h does not compile.
#define UNSUPPORTED(name, ...)                            \
  int P##name(__VA_ARGS__) { return Unsupported(#name); } \
  PROFILED(name);

// clang-format off

// Environment.

// Groups.

// Communicators.

// Sessions.


// Dynamic processes.
