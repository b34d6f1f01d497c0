// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exec/failure.h"

#include <utility>

#include "collectives/select/table.h"
#include "runtime/base/call_names.h"
#include "runtime/base/event_ring.h"
#include "runtime/core/errors.h"

namespace lamina::collective {

int RaiseFailure(const char* call, core::Comm* comm, int error_class) {
  const char* why = core::ClassText(error_class);
  if (error_class == MPI_ERR_TRUNCATE)
    why =
        "a rank sent more than this one expects: counts or datatypes of the ranks do not agree, or "
        "one of them calls another function";
  if (error_class == MPI_ERR_PROC_ABORTED) why = "the connection to one of the ranks is lost";
  if (error_class == MPI_ERR_UNSUPPORTED_OPERATION) why = "no algorithm is available for this call";
  const Failure failure =
      comm->collectives != nullptr ? std::exchange(comm->collectives->failure, {}) : Failure{};
  if (!failure.text.empty()) why = failure.text.c_str();
  if (!failure.is_news) core::LetOthersSpeak(comm);
  return core::Raise(comm, error_class, call, "%s", why);
}

int EndIfFatal(core::Comm* comm, int error_class) {
  if (!core::EndsJob(comm)) return error_class;
  const std::uint32_t call = CurrentEventRing()->call.load(std::memory_order_relaxed);
  return RaiseFailure(NameOf(static_cast<lamina::Call>(call)), comm, error_class);
}

}  // namespace lamina::collective
