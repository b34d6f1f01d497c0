// SPDX-License-Identifier: BSD-3-Clause
// This starts and shuts down the world model (MPI-5.0, sections 11.2 and 11.6).
#include <pthread.h>

#include <algorithm>

#include "runtime/api/arguments.h"
#include "runtime/assembly/lifecycle.h"
#include "runtime/base/log.h"
#include "runtime/trace/profile.h"

namespace lamina::api {
namespace {

constinit pthread_t main_thread{};
constinit int initialized_level = MPI_THREAD_SINGLE;

// Has the profile count MPI_Finalize, which takes no lock of its own for all of it.
class CountedFinalize {
 public:
  CountedFinalize() : began_ns_(trace::BeginCall()) {
    const core::Guard guard;
    if (began_ns_ != 0)
      trace::EnterCall(Call::MPI_Finalize, __builtin_return_address(0), began_ns_);
  }
  ~CountedFinalize() {
    if (began_ns_ != 0) trace::LeaveCall();
  }
  CountedFinalize(const CountedFinalize&) = delete;
  CountedFinalize& operator=(const CountedFinalize&) = delete;

 private:
  const std::uint64_t began_ns_;
};

int Initialize(Call call, int required, int* provided) {
  Entry entry(call);
  if (core::life != core::Life::kBefore)
    return core::Raise(core::self_comm, MPI_ERR_OTHER, entry.name(),
                       core::life == core::Life::kFinalized
                           ? "called after MPI_Finalize; MPI can be initialised only once"
                           : "called twice");
  const int level = std::clamp(required, static_cast<int>(MPI_THREAD_SINGLE),
                               static_cast<int>(MPI_THREAD_MULTIPLE));
  if (Status status = assembly::OpenWorld(level); !status.ok())
    return core::Raise(nullptr, status, entry.name());
  if (trace::profile != nullptr) DescribeWaits();
  main_thread = pthread_self();
  initialized_level = level;
  if (provided != nullptr) *provided = level;
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace lamina::api

using lamina::Call;
namespace api = lamina::api;
namespace core = lamina::core;

int PMPI_Init(int*, char***) { return api::Initialize(Call::MPI_Init, MPI_THREAD_SINGLE, nullptr); }
PROFILED(MPI_Init);

int PMPI_Init_thread(int*, char***, int required, int* provided) {
  return api::Initialize(Call::MPI_Init_thread, required, provided);
}
PROFILED(MPI_Init_thread);

int PMPI_Finalize(void) {
  lamina::CurrentEventRing()->call.store(static_cast<std::uint32_t>(Call::MPI_Finalize),
                                         std::memory_order_relaxed);
  if (core::process == nullptr) return api::NotInitialized("MPI_Finalize");
  const api::CountedFinalize counted;
  if (lamina::Status status = lamina::assembly::CloseWorld(); !status.ok())
    lamina::Log(lamina::Level::kWarn, "finalize", "%s", std::string(status.message()).c_str());
  return MPI_SUCCESS;
}
PROFILED(MPI_Finalize);

constexpr char kNullFlag[] = "flag is a null pointer";

int PMPI_Initialized(int* flag) {
  if (flag == nullptr) return core::Raise(nullptr, MPI_ERR_ARG, "MPI_Initialized", kNullFlag);
  *flag = core::life != core::Life::kBefore ? 1 : 0;
  return MPI_SUCCESS;
}
PROFILED(MPI_Initialized);

int PMPI_Finalized(int* flag) {
  if (flag == nullptr) return core::Raise(nullptr, MPI_ERR_ARG, "MPI_Finalized", kNullFlag);
  *flag = core::life == core::Life::kFinalized ? 1 : 0;
  return MPI_SUCCESS;
}
PROFILED(MPI_Finalized);

int PMPI_Query_thread(int* provided) {
  api::Entry entry(Call::MPI_Query_thread);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, provided);
  *provided = api::initialized_level;
  return MPI_SUCCESS;
}
PROFILED(MPI_Query_thread);

int PMPI_Is_thread_main(int* flag) {
  api::Entry entry(Call::MPI_Is_thread_main);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, flag);
  *flag = pthread_equal(api::main_thread, pthread_self()) ? 1 : 0;
  return MPI_SUCCESS;
}
PROFILED(MPI_Is_thread_main);

int PMPI_Abort(MPI_Comm, int errorcode) {
  lamina::CurrentEventRing()->call.store(static_cast<std::uint32_t>(Call::MPI_Abort),
                                         std::memory_order_relaxed);
  core::AbortJob(errorcode, "MPI_Abort was called");
}
PROFILED(MPI_Abort);
