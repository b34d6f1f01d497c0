// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/lock_note.h"

#include <mpi.h>

namespace lamina::rma {
namespace {

std::uint64_t NumberOf(const core::Comm& window) { return Index(window.context) / kPlanes; }

LockNote::Kind KindOf(int type) {
  if (type == MPI_LOCK_SHARED) return LockNote::kShared;
  return type == MPI_LOCK_EXCLUSIVE ? LockNote::kExclusive : LockNote::kAll;
}

}  // namespace

void Note(LockNote* note, const core::Comm& window, int type, Rank target, const Keeper& keeper) {
  const auto in_job = [&window](Rank rank) { return Index(window.peers[rank]); };
  note->target.store(in_job(target), std::memory_order_relaxed);
  note->window.store(NumberOf(window), std::memory_order_relaxed);
  note->holder.store(keeper.holder == kNobody ? 0 : in_job(keeper.holder) + 1,
                     std::memory_order_relaxed);
  note->sharers.store(keeper.sharers, std::memory_order_relaxed);
  note->kind.store(KindOf(type), std::memory_order_release);
}

void Forget(LockNote* note, const core::Comm& window) {
  if (note->window.load(std::memory_order_relaxed) == NumberOf(window))
    note->kind.store(LockNote::kNone, std::memory_order_release);
}

}  // namespace lamina::rma
