// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/api/hints.h"

#include "runtime/core/session.h"

namespace lamina::api {
namespace {

using core::Hints;

struct Switch {
  const char* key;
  bool Hints::*value;
};
constexpr Switch kSwitches[] = {
    {"mpi_assert_no_any_tag", &Hints::no_any_tag},
    {"mpi_assert_no_any_source", &Hints::no_any_source},
    {"mpi_assert_exact_length", &Hints::exact_length},
    {"mpi_assert_allow_overtaking", &Hints::allow_overtaking},
    {"mpi_assert_strict_persistent_collective_ordering", &Hints::strict_persistent_ordering},
};
constexpr char kAssertedKinds[] = "mpi_assert_memory_alloc_kinds";
constexpr char kKinds[] = "mpi_memory_alloc_kinds";

}  // namespace

bool FindHints(MPI_Info info, const core::Info** hints) {
  *hints = core::FindInfo(info);
  return *hints != nullptr || info == MPI_INFO_NULL;
}

void TakeHints(core::Comm* comm, const core::Info* hints) {
  if (hints == nullptr) return;
  for (const auto& [key, value] : kSwitches) {
    const std::string* text = hints->Find(key);
    if (text != nullptr && (*text == "true" || *text == "false"))
      comm->hints.*value = *text == "true";
  }
  if (const std::string* kinds = hints->Find(kAssertedKinds); kinds != nullptr)
    comm->hints.memory_kinds = *kinds;
}

void ListHints(const core::Comm& comm, core::Info* hints) {
  for (const auto& [key, value] : kSwitches) hints->Set(key, comm.hints.*value ? "true" : "false");
  if (!comm.hints.memory_kinds.empty()) hints->Set(kAssertedKinds, comm.hints.memory_kinds);
  const core::Session* session = comm.group->session;
  const std::string* granted = session != nullptr ? session->info->Find(kKinds) : nullptr;
  hints->Set(kKinds, granted != nullptr ? *granted : core::GrantedMemoryKinds());
}

}  // namespace lamina::api
