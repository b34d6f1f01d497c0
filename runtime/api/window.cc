// SPDX-License-Identifier: BSD-3-Clause
// These are windows: how they are made, described and freed (MPI-5.0, section 12.2).
#include <climits>
#include <cstdint>
#include <cstring>

#include "runtime/api/hints.h"
#include "runtime/api/window_arguments.h"
#include "runtime/core/group.h"
#include "runtime/core/info.h"
#include "runtime/rma/agent.h"

namespace lamina::api {

int BadWin(const Entry& entry, MPI_Win handle) {
  if (handle == MPI_WIN_NULL)
    return core::Raise(nullptr, MPI_ERR_WIN, entry.name(), "the window is MPI_WIN_NULL");
  return core::Raise(nullptr, MPI_ERR_WIN, entry.name(),
                     "the window is %p, which is not a valid handle or has been freed",
                     static_cast<void*>(handle));
}

namespace {

using rma::Window;
using rma::Wish;

// Notes the first thing that is wrong with the arguments. The members still agree, so that all of
// them fail.
void Blame(Wish* wish, bool holds, int error_class, std::string* why, const char* text) {
  if (holds || wish->error != MPI_SUCCESS) return;
  wish->error = error_class;
  *why = text;
}

// False: the last byte would have a smaller address than the first.
bool IsInMemory(const void* base, MPI_Aint size) {
  return static_cast<std::uintptr_t>(size) <= UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(base);
}

// `baseptr` is null where the application brings the memory.
int Create(const Entry& entry, Wish wish, MPI_Info info, MPI_Comm comm, void* baseptr,
           MPI_Win* win) {
  REQUIRE_INITIALIZED(entry);
  core::Comm* over = core::FindComm(comm);
  if (over == nullptr) return BadComm(entry, comm);
  REQUIRE(!over->is_inter(), over, MPI_ERR_COMM, "the communicator is an intercommunicator");
  const core::Info* hints;
  std::string why;
  Blame(&wish, FindHints(info, &hints), MPI_ERR_INFO, &why, "info is no valid handle");
  Blame(&wish, win != nullptr, MPI_ERR_ARG, &why, "win is a null pointer");
  rma::Take(hints, &wish.hints);
  if (wish.flavor != MPI_WIN_FLAVOR_SHARED) wish.hints.noncontiguous = false;
  Blame(&wish, wish.size >= 0, MPI_ERR_SIZE, &why, "size is negative");
  Blame(&wish, wish.disp_unit > 0, MPI_ERR_DISP, &why, "disp_unit is not positive");
  if (wish.flavor == MPI_WIN_FLAVOR_CREATE) {
    Blame(&wish, wish.base != nullptr || wish.size == 0, MPI_ERR_BASE, &why,
          "base is a null pointer, but size is not 0");
    Blame(&wish, IsInMemory(wish.base, wish.size), MPI_ERR_SIZE, &why,
          "base and size lead beyond the last address");
  } else if (wish.flavor != MPI_WIN_FLAVOR_DYNAMIC) {
    Blame(&wish, baseptr != nullptr, MPI_ERR_ARG, &why, "baseptr is a null pointer");
  }
  core::Win* made = nullptr;
  const int error = Window::Create(over, wish, &made, &why);
  REQUIRE(error == MPI_SUCCESS, over, error, "%s", why.c_str());
  if (baseptr != nullptr) std::memcpy(baseptr, &made->base, sizeof made->base);
  *win = made->handle;
  return MPI_SUCCESS;
}

Wish WishFor(int flavor, void* base, MPI_Aint size, MPI_Aint disp_unit) {
  Wish wish;
  wish.flavor = flavor;
  wish.base = base;
  wish.size = size;
  wish.disp_unit = disp_unit;
  return wish;
}

template <class DispUnit>
int Query(const Entry& entry, MPI_Win win, int rank, MPI_Aint* size, DispUnit* disp_unit,
          void* baseptr) {
  REQUIRE_INITIALIZED(entry);
  core::Win* found = core::FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  REQUIRE_OF_WIN(!found->window->is_dynamic(), found, MPI_ERR_RMA_FLAVOR,
                 "the window is dynamic, so its memory is not known");
  REQUIRE_OF_WIN(IsMember(*found, rank) || rank == MPI_PROC_NULL, found, MPI_ERR_RANK,
                 "rank is %d, must be 0..%d or MPI_PROC_NULL", rank, found->comm->size - 1);
  REQUIRE_OF_WIN(size != nullptr && disp_unit != nullptr && baseptr != nullptr, found, MPI_ERR_ARG,
                 "size, disp_unit or baseptr is a null pointer");
  const rma::Mapping mapping = found->window->Query(rank);
  *size = mapping.size;
  *disp_unit = static_cast<DispUnit>(mapping.disp_unit);
  // An int cannot say how large the unit is.
  if (*disp_unit != mapping.disp_unit) *disp_unit = static_cast<DispUnit>(MPI_UNDEFINED);
  std::memcpy(baseptr, &mapping.base, sizeof mapping.base);
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace lamina::api

namespace api = lamina::api;
namespace core = lamina::core;
using api::Entry;
using lamina::Call;
using lamina::rma::AfterCreation;

int PMPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win* win) {
  const AfterCreation after;
  Entry entry(Call::MPI_Win_create);
  return api::Create(entry, api::WishFor(MPI_WIN_FLAVOR_CREATE, base, size, disp_unit), info, comm,
                     nullptr, win);
}
PROFILED(MPI_Win_create);

int PMPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win* win) {
  const AfterCreation after;
  Entry entry(Call::MPI_Win_create_c);
  return api::Create(entry, api::WishFor(MPI_WIN_FLAVOR_CREATE, base, size, disp_unit), info, comm,
                     nullptr, win);
}
PROFILED(MPI_Win_create_c);

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                      MPI_Win* win) {
  const AfterCreation after;
  Entry entry(Call::MPI_Win_allocate);
  return api::Create(entry, api::WishFor(MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit), info,
                     comm, baseptr, win);
}
PROFILED(MPI_Win_allocate);

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void* baseptr, MPI_Win* win) {
  const AfterCreation after;
  Entry entry(Call::MPI_Win_allocate_c);
  return api::Create(entry, api::WishFor(MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit), info,
                     comm, baseptr, win);
}
PROFILED(MPI_Win_allocate_c);

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                             void* baseptr, MPI_Win* win) {
  const AfterCreation after;
  Entry entry(Call::MPI_Win_allocate_shared);
  return api::Create(entry, api::WishFor(MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit), info,
                     comm, baseptr, win);
}
PROFILED(MPI_Win_allocate_shared);

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                               void* baseptr, MPI_Win* win) {
  const AfterCreation after;
  Entry entry(Call::MPI_Win_allocate_shared_c);
  return api::Create(entry, api::WishFor(MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit), info,
                     comm, baseptr, win);
}
PROFILED(MPI_Win_allocate_shared_c);

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  const AfterCreation after;
  Entry entry(Call::MPI_Win_create_dynamic);
  return api::Create(entry, api::WishFor(MPI_WIN_FLAVOR_DYNAMIC, nullptr, 0, 1), info, comm,
                     nullptr, win);
}
PROFILED(MPI_Win_create_dynamic);

int PMPI_Win_free(MPI_Win* win) {
  Entry entry(Call::MPI_Win_free);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, win);
  core::Win* found = core::FindWin(*win);
  if (found == nullptr) return BadWin(entry, *win);
  if (found->window->epoch().MayFree() != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "an epoch of this process is still open");
  const int error = TryDeleteAllAttributes(core::Holder::kWin, found->handle, &found->attributes);
  REQUIRE_OF_WIN(error == MPI_SUCCESS, found, error, "an attribute's delete function returned %d",
                 error);
  // The window is gone in any case, so what went wrong is raised on its communicator.
  lamina::Rank gone = -1;
  const int freed = lamina::rma::Window::Free(found, &gone);
  *win = MPI_WIN_NULL;
  REQUIRE(gone < 0, nullptr, freed, "the window is freed, but rank %d of it is gone", gone);
  REQUIRE(freed == MPI_SUCCESS, nullptr, freed,
          "the window is freed, but an access to another process or the last meeting failed");
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_free);

int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  Entry entry(Call::MPI_Win_attach);
  REQUIRE_INITIALIZED(entry);
  core::Win* found = core::FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  REQUIRE_OF_WIN(found->window->is_dynamic(), found, MPI_ERR_RMA_FLAVOR,
                 "the window was not made by MPI_Win_create_dynamic");
  REQUIRE_OF_WIN(size >= 0, found, MPI_ERR_SIZE, "size is %lld, must not be negative",
                 static_cast<long long>(size));
  REQUIRE_OF_WIN(base != nullptr || size == 0, found, MPI_ERR_BASE,
                 "base is a null pointer, but size is %lld", static_cast<long long>(size));
  REQUIRE_OF_WIN(api::IsInMemory(base, size), found, MPI_ERR_SIZE,
                 "%lld bytes at %p lead beyond the last address", static_cast<long long>(size),
                 base);
  REQUIRE_OF_WIN(found->window->Attach(base, size), found, MPI_ERR_RMA_ATTACH,
                 "%lld bytes at %p overlap memory that is attached already",
                 static_cast<long long>(size), base);
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_attach);

int PMPI_Win_detach(MPI_Win win, const void* base) {
  Entry entry(Call::MPI_Win_detach);
  REQUIRE_INITIALIZED(entry);
  core::Win* found = core::FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  REQUIRE_OF_WIN(found->window->is_dynamic(), found, MPI_ERR_RMA_FLAVOR,
                 "the window was not made by MPI_Win_create_dynamic");
  REQUIRE_OF_WIN(found->window->Detach(base), found, MPI_ERR_RMA_ATTACH,
                 "no memory that begins at %p is attached", base);
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_detach);

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* baseptr) {
  Entry entry(Call::MPI_Win_shared_query);
  return api::Query(entry, win, rank, size, disp_unit, baseptr);
}
PROFILED(MPI_Win_shared_query);

int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit,
                            void* baseptr) {
  Entry entry(Call::MPI_Win_shared_query_c);
  return api::Query(entry, win, rank, size, disp_unit, baseptr);
}
PROFILED(MPI_Win_shared_query_c);

int PMPI_Win_get_group(MPI_Win win, MPI_Group* group) {
  Entry entry(Call::MPI_Win_get_group);
  REQUIRE_INITIALIZED(entry);
  core::Win* found = core::FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  REQUIRE_OF_WIN(group != nullptr, found, MPI_ERR_ARG, "group is a null pointer");
  Retain(found->comm->group);
  *group = HandleOf(found->comm->group);
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_get_group);

int PMPI_Win_set_info(MPI_Win win, MPI_Info info) {
  Entry entry(Call::MPI_Win_set_info);
  REQUIRE_INITIALIZED(entry);
  core::Win* found = core::FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  const core::Info* hints;
  REQUIRE_OF_WIN(api::FindHints(info, &hints), found, MPI_ERR_INFO,
                 "the info is not a valid handle or has been freed");
  lamina::rma::TakeLater(hints, &found->window->hints());
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_set_info);

int PMPI_Win_get_info(MPI_Win win, MPI_Info* info_used) {
  Entry entry(Call::MPI_Win_get_info);
  REQUIRE_INITIALIZED(entry);
  core::Win* found = core::FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  REQUIRE_OF_WIN(info_used != nullptr, found, MPI_ERR_ARG, "info_used is a null pointer");
  auto* used = new core::Info;
  lamina::rma::List(found->window->hints(), found->flavor, used);
  *info_used = core::ToHandle<MPI_Info>(used);
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_get_info);

int PMPI_Win_set_name(MPI_Win win, const char* win_name) {
  Entry entry(Call::MPI_Win_set_name);
  REQUIRE_INITIALIZED(entry);
  core::Win* found = core::FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  REQUIRE_OF_WIN(win_name != nullptr, found, MPI_ERR_ARG, "win_name is a null pointer");
  found->name.assign(win_name, strnlen(win_name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_set_name);

int PMPI_Win_get_name(MPI_Win win, char* win_name, int* resultlen) {
  Entry entry(Call::MPI_Win_get_name);
  REQUIRE_INITIALIZED(entry);
  if (win == MPI_WIN_NULL && win_name != nullptr && resultlen != nullptr) {
    api::CopyText("MPI_WIN_NULL", win_name, MPI_MAX_OBJECT_NAME, resultlen);
    return MPI_SUCCESS;
  }
  core::Win* found = core::FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  REQUIRE_OF_WIN(win_name != nullptr && resultlen != nullptr, found, MPI_ERR_ARG,
                 "win_name or resultlen is a null pointer");
  api::CopyText(found->name.c_str(), win_name, MPI_MAX_OBJECT_NAME, resultlen);
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_get_name);
