// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/epoch.h"

#include <cstdlib>

#include "runtime/base/check.h"

namespace lamina::rma {

void Epoch::Free::operator()(std::uint8_t* flags) const { std::free(flags); }

Epoch::Epoch(Rank members)
    : flags_(static_cast<std::uint8_t*>(std::calloc(static_cast<std::size_t>(members), 1))) {
  CHECK(flags_ != nullptr);
}

int Epoch::MayAccessSome(Rank target) const {
  if (access_ == Access::kNone) return MPI_ERR_RMA_SYNC;
  if (target == MPI_PROC_NULL) return MPI_SUCCESS;
  const std::uint8_t wanted =
      access_ == Access::kStart ? kStarted : static_cast<std::uint8_t>(kShared | kExclusive);
  return Require((flags_.get()[target] & wanted) != 0);
}

int Epoch::Fence(int assertion) {
  const bool in_other_epoch = access_ != Access::kNone && access_ != Access::kFence;
  if (in_other_epoch || posted_) return MPI_ERR_RMA_SYNC;
  if ((assertion & MPI_MODE_NOPRECEDE) != 0 && used_) return MPI_ERR_RMA_SYNC;
  access_ = (assertion & MPI_MODE_NOSUCCEED) != 0 ? Access::kNone : Access::kFence;
  used_ = false;
  return MPI_SUCCESS;
}

int Epoch::Start(std::span<const Rank> targets) {
  if (!IsQuiet()) return MPI_ERR_RMA_SYNC;
  access_ = Access::kStart;
  targets_ = targets;
  for (const Rank target : targets) flags_.get()[target] |= kStarted;
  return MPI_SUCCESS;
}

int Epoch::Complete() {
  if (access_ != Access::kStart) return MPI_ERR_RMA_SYNC;
  for (const Rank target : targets_) flags_.get()[target] &= static_cast<std::uint8_t>(~kStarted);
  targets_ = {};
  access_ = Access::kNone;
  used_ = false;
  return MPI_SUCCESS;
}

int Epoch::Post() {
  if (posted_ || (access_ == Access::kFence && used_)) return MPI_ERR_RMA_SYNC;
  posted_ = true;
  if (access_ == Access::kFence) access_ = Access::kNone;
  return MPI_SUCCESS;
}

int Epoch::LockOf(Rank target) const {
  const std::uint8_t flags = flags_.get()[target];
  if ((flags & kExclusive) != 0) return MPI_LOCK_EXCLUSIVE;
  return (flags & kShared) != 0 ? static_cast<int>(MPI_LOCK_SHARED) : 0;
}

int Epoch::Lock(Rank target, int type, int assertion) {
  if ((access_ != Access::kLocks && !IsQuiet()) || LockOf(target) != 0) return MPI_ERR_RMA_SYNC;
  access_ = Access::kLocks;
  ++locks_;
  flags_.get()[target] |= type == MPI_LOCK_EXCLUSIVE ? kExclusive : kShared;
  if ((assertion & MPI_MODE_NOCHECK) != 0) flags_.get()[target] |= kUnchecked;
  return MPI_SUCCESS;
}

int Epoch::Unlock(Rank target) {
  if (access_ != Access::kLocks || LockOf(target) == 0) return MPI_ERR_RMA_SYNC;
  flags_.get()[target] &= static_cast<std::uint8_t>(~(kShared | kExclusive | kUnchecked));
  if (--locks_ == 0) access_ = Access::kNone;
  used_ = locks_ != 0;
  return MPI_SUCCESS;
}

int Epoch::LockAll(int assertion) {
  if (!IsQuiet()) return MPI_ERR_RMA_SYNC;
  access_ = Access::kLockAll;
  lock_all_unchecked_ = (assertion & MPI_MODE_NOCHECK) != 0;
  return MPI_SUCCESS;
}

int Epoch::UnlockAll() {
  if (access_ != Access::kLockAll) return MPI_ERR_RMA_SYNC;
  access_ = Access::kNone;
  used_ = false;
  return MPI_SUCCESS;
}

}  // namespace lamina::rma
