// SPDX-License-Identifier: BSD-3-Clause
// These begin and end epochs of windows (MPI-5.0, section 12.5).
#include <algorithm>
#include <atomic>
#include <vector>

#include "runtime/api/window_arguments.h"
#include "runtime/core/group.h"

namespace lamina::api {

int RaiseEpoch(const Entry& entry, core::Win* win, const char* why) {
  return core::RaiseOn(win, MPI_ERR_RMA_SYNC, entry.name(), "%s", why);
}

int RaiseSynchronization(const Entry& entry, core::Win* win, int error_class) {
  const char* why = core::ClassText(error_class);
  if (error_class == MPI_ERR_PROC_ABORTED) {
    if (const Rank gone = win->window->FindGone(win->comm->rank); gone >= 0)
      return core::RaiseOn(win, error_class, entry.name(), "rank %d of the window is gone", gone);
    why = "a process of the window is gone";
  }
  if (error_class == MPI_ERR_RMA_RANGE)
    why =
        "an earlier access to another process was not within its window, or to memory there that "
        "cannot be accessed so";
  return core::RaiseOn(win, error_class, entry.name(), "%s", why);
}

namespace {

int CheckAssertion(const Entry& entry, core::Win* win, int assertion, int allowed) {
  REQUIRE_OF_WIN((assertion & ~allowed) == 0, win, MPI_ERR_ASSERT,
                 "assert is %d, of which %d is not an assertion of this call", assertion,
                 assertion & ~allowed);
  return MPI_SUCCESS;
}

int CheckRank(const Entry& entry, core::Win* win, int rank) {
  REQUIRE_OF_WIN(IsMember(*win, rank), win, MPI_ERR_RANK, "rank is %d, must be 0..%d", rank,
                 win->comm->size - 1);
  return MPI_SUCCESS;
}

int CheckLocks(const Entry& entry, core::Win* win) {
  if (!win->window->hints().no_locks) return MPI_SUCCESS;
  return RaiseEpoch(entry, win, "the window was made with the hint no_locks");
}

// Finds the ranks in the window of the members of a group. The rank of a process is often its
// number in the job, so that place is looked at first.
int FindRanks(const Entry& entry, core::Win* win, MPI_Group handle, std::vector<Rank>* ranks) {
  const core::Group* group = core::FindGroup(handle);
  REQUIRE_OF_WIN(group != nullptr, win, MPI_ERR_GROUP,
                 "the group is MPI_GROUP_NULL, has been freed, or is not a group");
  const core::Comm& comm = *win->comm;
  for (const PeerId peer : group->peers) {
    const std::uint32_t guess = Index(peer);
    const bool guessed = guess < static_cast<std::uint32_t>(comm.size) && comm.peers[guess] == peer;
    const PeerId* const found =
        guessed ? comm.peers + guess : std::find(comm.peers, comm.peers + comm.size, peer);
    REQUIRE_OF_WIN(found != comm.peers + comm.size, win, MPI_ERR_GROUP,
                   "a member of the group is not a member of the window");
    ranks->push_back(static_cast<Rank>(found - comm.peers));
  }
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace lamina::api

namespace api = lamina::api;
namespace core = lamina::core;
using api::Entry;
using lamina::Call;
using lamina::Rank;
using lamina::rma::Epoch;
using lamina::rma::Window;

// Finds the window of a function that has an Entry called `entry`, or leaves it.
#define FIND_WIN(found, win)             \
  REQUIRE_INITIALIZED(entry);            \
  core::Win* found = core::FindWin(win); \
  if (found == nullptr) return BadWin(entry, win)
// Leaves the function if a check has raised an error.
#define CHECKED(check) \
  if (const int error = check; error != MPI_SUCCESS) return error

int PMPI_Win_fence(int assert, MPI_Win win) {
  Entry entry(Call::MPI_Win_fence);
  FIND_WIN(found, win);
  CHECKED(api::CheckAssertion(
      entry, found, assert,
      MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED));
  if (found->window->epoch().Fence(assert) != MPI_SUCCESS)
    return api::RaiseEpoch(
        entry, found,
        "an epoch of another kind is open, or MPI_MODE_NOPRECEDE was given after "
        "accesses");
  return api::Synchronized(entry, found, found->window->Fence(assert));
}
PROFILED(MPI_Win_fence);

int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
  Entry entry(Call::MPI_Win_start);
  FIND_WIN(found, win);
  CHECKED(api::CheckAssertion(entry, found, assert, MPI_MODE_NOCHECK));
  std::vector<Rank> targets;
  CHECKED(api::FindRanks(entry, found, group, &targets));
  if (found->window->Start(std::move(targets), assert) != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "another access epoch is open");
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_start);

int PMPI_Win_complete(MPI_Win win) {
  Entry entry(Call::MPI_Win_complete);
  FIND_WIN(found, win);
  if (found->window->epoch().Complete() != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "MPI_Win_start was not called");
  return api::Synchronized(entry, found, found->window->Complete());
}
PROFILED(MPI_Win_complete);

int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
  Entry entry(Call::MPI_Win_post);
  FIND_WIN(found, win);
  CHECKED(api::CheckAssertion(entry, found, assert,
                              MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT));
  std::vector<Rank> origins;
  CHECKED(api::FindRanks(entry, found, group, &origins));
  if (found->window->epoch().Post() != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "an exposure epoch is open");
  return api::Synchronized(entry, found, found->window->Post(origins, assert));
}
PROFILED(MPI_Win_post);

int PMPI_Win_wait(MPI_Win win) {
  Entry entry(Call::MPI_Win_wait);
  FIND_WIN(found, win);
  if (found->window->epoch().MayWait() != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "MPI_Win_post was not called");
  const int error = found->window->Wait();
  found->window->epoch().Waited();
  return api::Synchronized(entry, found, error);
}
PROFILED(MPI_Win_wait);

int PMPI_Win_test(MPI_Win win, int* flag) {
  Entry entry(Call::MPI_Win_test);
  FIND_WIN(found, win);
  REQUIRE_OF_WIN(flag != nullptr, found, MPI_ERR_ARG, "flag is a null pointer");
  if (found->window->epoch().MayWait() != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "MPI_Win_post was not called");
  *flag = found->window->Test() ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  const int error = found->window->Wait();
  found->window->epoch().Waited();
  return api::Synchronized(entry, found, error);
}
PROFILED(MPI_Win_test);

int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
  Entry entry(Call::MPI_Win_lock);
  FIND_WIN(found, win);
  REQUIRE_OF_WIN(lock_type == MPI_LOCK_EXCLUSIVE || lock_type == MPI_LOCK_SHARED, found,
                 MPI_ERR_LOCKTYPE, "lock_type is %d, must be MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED",
                 lock_type);
  CHECKED(api::CheckRank(entry, found, rank));
  CHECKED(api::CheckAssertion(entry, found, assert, MPI_MODE_NOCHECK));
  CHECKED(api::CheckLocks(entry, found));
  Epoch& epoch = found->window->epoch();
  if (epoch.Lock(rank, lock_type, assert) != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found,
                           "the target is locked already, or another access epoch is open");
  if (epoch.Unchecked(rank)) return MPI_SUCCESS;
  const int error = found->window->Lock(rank, lock_type);
  if (error != MPI_SUCCESS) static_cast<void>(epoch.Unlock(rank));
  return api::Synchronized(entry, found, error);
}
PROFILED(MPI_Win_lock);

int PMPI_Win_unlock(int rank, MPI_Win win) {
  Entry entry(Call::MPI_Win_unlock);
  FIND_WIN(found, win);
  CHECKED(api::CheckRank(entry, found, rank));
  Epoch& epoch = found->window->epoch();
  const int type = epoch.LockOf(rank);
  const bool unchecked = epoch.Unchecked(rank);
  if (epoch.Unlock(rank) != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "the target is not locked by MPI_Win_lock");
  return api::Synchronized(entry, found, found->window->Unlock(rank, type, unchecked));
}
PROFILED(MPI_Win_unlock);

int PMPI_Win_lock_all(int assert, MPI_Win win) {
  Entry entry(Call::MPI_Win_lock_all);
  FIND_WIN(found, win);
  CHECKED(api::CheckAssertion(entry, found, assert, MPI_MODE_NOCHECK));
  CHECKED(api::CheckLocks(entry, found));
  Epoch& epoch = found->window->epoch();
  if (epoch.LockAll(assert) != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "another access epoch is open");
  if (epoch.lock_all_unchecked()) return MPI_SUCCESS;
  const int error = found->window->LockAll();
  if (error != MPI_SUCCESS) static_cast<void>(epoch.UnlockAll());
  return api::Synchronized(entry, found, error);
}
PROFILED(MPI_Win_lock_all);

int PMPI_Win_unlock_all(MPI_Win win) {
  Entry entry(Call::MPI_Win_unlock_all);
  FIND_WIN(found, win);
  Epoch& epoch = found->window->epoch();
  if (epoch.UnlockAll() != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "MPI_Win_lock_all was not called");
  return api::Synchronized(entry, found, found->window->UnlockAll(epoch.lock_all_unchecked()));
}
PROFILED(MPI_Win_unlock_all);

namespace {

int FlushOne(const Entry& entry, int rank, MPI_Win win, int (Window::*flush)(Rank)) {
  FIND_WIN(found, win);
  CHECKED(api::CheckRank(entry, found, rank));
  if (found->window->epoch().MayFlush(rank) != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "the target is not locked");
  return api::Synchronized(entry, found, (found->window->*flush)(rank));
}

int FlushAll(const Entry& entry, MPI_Win win, int (Window::*flush)()) {
  FIND_WIN(found, win);
  if (found->window->epoch().MayFlushAll() != MPI_SUCCESS)
    return api::RaiseEpoch(entry, found, "no target is locked");
  return api::Synchronized(entry, found, (found->window->*flush)());
}

}  // namespace

int PMPI_Win_flush(int rank, MPI_Win win) {
  Entry entry(Call::MPI_Win_flush);
  return FlushOne(entry, rank, win, &Window::Flush);
}
PROFILED(MPI_Win_flush);

int PMPI_Win_flush_all(MPI_Win win) {
  Entry entry(Call::MPI_Win_flush_all);
  return FlushAll(entry, win, &Window::FlushAll);
}
PROFILED(MPI_Win_flush_all);

int PMPI_Win_flush_local(int rank, MPI_Win win) {
  Entry entry(Call::MPI_Win_flush_local);
  return FlushOne(entry, rank, win, &Window::FlushLocal);
}
PROFILED(MPI_Win_flush_local);

int PMPI_Win_flush_local_all(MPI_Win win) {
  Entry entry(Call::MPI_Win_flush_local_all);
  return FlushAll(entry, win, &Window::FlushLocalAll);
}
PROFILED(MPI_Win_flush_local_all);

// It orders this process's loads and stores and makes no progress.
int PMPI_Win_sync(MPI_Win win) {
  Entry entry(Call::MPI_Win_sync);
  FIND_WIN(found, win);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_sync);
