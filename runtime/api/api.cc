// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/api/api.h"

namespace lamina::api {

int NotInitialized(const char* call) {
  return core::Raise(nullptr, MPI_ERR_OTHER, call,
                     core::life == core::Life::kFinalized
                         ? "called after MPI_Finalize"
                         : "called before MPI_Init; initialise MPI first");
}

}  // namespace lamina::api
