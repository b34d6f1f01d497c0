// SPDX-License-Identifier: BSD-3-Clause
// These are generalized requests (MPI-5.0, section 13.2).
#include "runtime/api/arguments.h"
#include "runtime/p2p/generalized.h"

namespace core = lamina::core;
namespace p2p = lamina::p2p;
using lamina::Call;
using lamina::api::Entry;

int PMPI_Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                        MPI_Grequest_cancel_function* cancel_fn, void* extra_state,
                        MPI_Request* request) {
  Entry entry(Call::MPI_Grequest_start);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, request);
  *request = core::ToHandle<MPI_Request>(
      p2p::StartGeneralized({query_fn, free_fn, cancel_fn, extra_state}));
  return MPI_SUCCESS;
}
PROFILED(MPI_Grequest_start);

int PMPI_Grequest_complete(MPI_Request handle) {
  Entry entry(Call::MPI_Grequest_complete);
  REQUIRE_INITIALIZED(entry);
  core::Request* request = core::FromHandle<core::Request>(handle);
  REQUIRE(request != nullptr && p2p::CompleteGeneralized(request), nullptr, MPI_ERR_REQUEST,
          "request is not a generalized request or is complete already");
  return MPI_SUCCESS;
}
PROFILED(MPI_Grequest_complete);
