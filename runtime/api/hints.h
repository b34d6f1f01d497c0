// SPDX-License-Identifier: BSD-3-Clause
// These are the hints of communicators: which are known, and what they are set to (MPI-5.0, section
// 7.4.4 and "Memory Allocation Info"). Unknown hints and values are ignored.
#pragma once

#include <mpi.h>

#include "runtime/core/comm.h"
#include "runtime/core/info.h"

namespace lamina::api {

// Finds hints of the application, which are null for MPI_INFO_NULL. Returns false if the handle is
// no info object.
bool FindHints(MPI_Info info, const core::Info** hints);
// `hints` may be null.
void TakeHints(core::Comm* comm, const core::Info* hints);
// Lists every known hint as it is set, for MPI_Comm_get_info.
void ListHints(const core::Comm& comm, core::Info* hints);

}  // namespace lamina::api
