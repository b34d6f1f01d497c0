// SPDX-License-Identifier: BSD-3-Clause
// Hints of communicators: which are known, and what they are set to (MPI-5.0, section 7.4.4 and
// "Memory Allocation Info"). What is not known, or no value for it, is ignored.
#pragma once

#include <mpi.h>

#include "runtime/core/comm.h"
#include "runtime/core/info.h"

namespace lamina::api {

// Hints of the application, null for MPI_INFO_NULL. False if the handle is no info object.
bool FindHints(MPI_Info info, const core::Info** hints);
// `hints` may be null.
void TakeHints(core::Comm* comm, const core::Info* hints);
// Everything known, as it is set: what MPI_Comm_get_info gives.
void ListHints(const core::Comm& comm, core::Info* hints);

}  // namespace lamina::api
