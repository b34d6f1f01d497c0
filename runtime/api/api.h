// SPDX-License-Identifier: BSD-3-Clause
// Every file of the front door needs this. A function here checks its arguments, finds objects,
// calls one function and turns failure into the error handler; it holds no logic.
//
// Every MPI function is defined under its PMPI_ name and offered under its MPI_ name as a weak
// alias (MPI-5.0, section 15.2), so a profiling tool may define MPI_X and call PMPI_X:
//     int PMPI_Send(...) { ... }
//     PROFILED(MPI_Send);
#pragma once

// Everything is hidden except what mpi.h declares, so mpi.h comes first.
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "runtime/base/call_names.h"
#include "runtime/base/event_ring.h"
#include "runtime/core/comm.h"
#include "runtime/core/errors.h"
#include "runtime/core/process.h"
#include "runtime/trace/trace.h"

#define LAMINA_EXPORT __attribute__((visibility("default")))

// Defines the weak MPI_ name of the PMPI_ function above it, in the same file.
#define PROFILED(name) \
  extern "C" LAMINA_EXPORT decltype(P##name) name __attribute__((weak, alias("P" #name)))

namespace lamina::api {

// The compiler stops inlining what five hundred functions share long before it comes to the short
// path, so functions of the short path are marked always_inline.

// An Entry stands for one MPI call: it remembers the call's name for messages and post-mortems, and
// takes the library lock.
class Entry {
 public:
  [[gnu::always_inline]] explicit Entry(Call call)
      : call_(call), ring_(CurrentEventRing()), guard_(call) {
    ring_->call.store(static_cast<std::uint32_t>(call), std::memory_order_relaxed);
    ring_->inside.store(1, std::memory_order_relaxed);
  }
  [[gnu::always_inline]] ~Entry() { ring_->inside.store(0, std::memory_order_relaxed); }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  const char* name() const { return NameOf(call_); }

 private:
  const Call call_;
  EventRing* const ring_;   // a ring stays mapped when another is adopted
  trace::AfterCall after_;  // before guard_, so that it acts when the lock is free
  core::CallGuard guard_;
};

// Requires that MPI is up; otherwise the error says whether it is too early or too late, and ends
// the process.
#define REQUIRE_INITIALIZED(entry)                               \
  do {                                                           \
    if (__builtin_expect(::lamina::core::process == nullptr, 0)) \
      return ::lamina::api::NotInitialized((entry).name());      \
  } while (false)

[[gnu::cold]] int NotInitialized(const char* call);

inline bool Checking() { return core::process->check_arguments; }

}  // namespace lamina::api
