// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests: operations of the application's own (MPI-5.0, section 13.2).
//
// query_fn fills in the status for a call that completes the request or looks at it. free_fn ends
// the request's life in the call that completed it. If the request was freed, free_fn runs in
// MPI_Request_free or MPI_Grequest_complete, whichever comes last.
#pragma once

#include <mpi.h>

#include "runtime/core/request.h"

namespace lamina::p2p {

struct GeneralizedFunctions {
  MPI_Grequest_query_function* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  void* extra_state;
};

core::Request* StartGeneralized(const GeneralizedFunctions& functions);
// Says that the operation is over. False: the request is no generalized one, or is complete
// already.
bool CompleteGeneralized(core::Request* request);

}  // namespace lamina::p2p
