// SPDX-License-Identifier: BSD-3-Clause
// What is done about a collective call that has failed.
#pragma once

#include "runtime/core/comm.h"

namespace lamina::collective {

// Raises the error of a collective `call` on `comm`, and says why. Returns `error_class` if the
// handler returns.
[[gnu::cold]] int RaiseFailure(const char* call, core::Comm* comm, int error_class);

// Is called in the middle of a blocking call, and returns `error_class` only if errors on `comm` do
// not end the job. Where they do, this rank has nothing right to send any more, and others would
// take what it sends for a result before they are ended.
[[gnu::cold]] int EndIfFatal(core::Comm* comm, int error_class);

}  // namespace lamina::collective
