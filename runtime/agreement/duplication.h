// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_idup agrees on contexts without waiting (MPI-5.0, section 7.4.2):
//
//   intra  root ─ word ─> children ─ word ─> ...
//   inter  leader <─ swap ─> leader, then each along its own tree
//
// The new communicator exists from the beginning, with its attributes; only its contexts are
// missing until the request completes.
#pragma once

#include "runtime/core/comm.h"
#include "runtime/core/request.h"

namespace lamina::agreement {

// Begins to give `made`, a duplicate of `parent`, its contexts. The request completes when it has
// them.
core::Request* StartDuplication(core::Comm* parent, core::Comm* made);

}  // namespace lamina::agreement
