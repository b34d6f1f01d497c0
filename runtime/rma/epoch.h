// SPDX-License-Identifier: BSD-3-Clause
// Which epochs of a window this process is in (MPI-5.0, section 12.5), and so what a call may do.
// This is pure: it knows no memory, no messages, and does not wait.
//
//   access    none ─ fence ─ start ─ locks ─ lock_all      one of them at a time
//   exposure  none ─ posted                                besides; a fence opens both
//
// A fence opens an epoch that counts only once it is used, so lock, start and post may follow it.
// Every function returns MPI_SUCCESS, or an error class and has changed nothing then.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/base/ids.h"

namespace lamina::rma {

class Epoch {
 public:
  explicit Epoch(Rank members);

  // Is a call of communication allowed to this target? MPI_PROC_NULL is a target of every epoch.
  int MayAccess(Rank target) const {
    if (access_ == Access::kFence || access_ == Access::kLockAll) return MPI_SUCCESS;
    return MayAccessSome(target);
  }
  // The same for the request forms, which only passive epochs have.
  int MayRequest(Rank target) const {
    return IsPassive() ? MayAccess(target) : static_cast<int>(MPI_ERR_RMA_SYNC);
  }
  // A call of communication is made, so that the epoch that a fence opened is one.
  void Use() { used_ = true; }

  int Fence(int assertion);
  // `targets` are ranks of the window and stay valid until Complete().
  int Start(std::span<const Rank> targets);
  int Complete();
  int Post();
  int MayWait() const { return Require(posted_); }
  void Waited() { posted_ = false; }
  int Lock(Rank target, int type, int assertion);
  int Unlock(Rank target);
  int LockAll(int assertion);
  int UnlockAll();
  int MayFlush(Rank target) const { return MayRequest(target); }
  int MayFlushAll() const { return Require(IsPassive()); }
  int MayFree() const { return Require(IsQuiet() && !posted_); }

  bool IsPassive() const { return access_ == Access::kLocks || access_ == Access::kLockAll; }
  // How the target is locked: MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE, or 0 if it is not.
  int LockOf(Rank target) const;
  // True if the user said that no conflicting lock is held.
  bool Unchecked(Rank target) const { return (flags_.get()[target] & kUnchecked) != 0; }
  bool lock_all_unchecked() const { return lock_all_unchecked_; }
  int locks() const { return locks_; }
  std::span<const Rank> targets() const { return targets_; }

 private:
  enum class Access : std::uint8_t { kNone, kFence, kStart, kLocks, kLockAll };
  static constexpr std::uint8_t kShared = 1, kExclusive = 2, kStarted = 4, kUnchecked = 8;

  static int Require(bool holds) {
    return holds ? static_cast<int>(MPI_SUCCESS) : static_cast<int>(MPI_ERR_RMA_SYNC);
  }
  // No access epoch is open that counts.
  bool IsQuiet() const { return access_ == Access::kNone || (access_ == Access::kFence && !used_); }
  int MayAccessSome(Rank target) const;

  struct Free {
    void operator()(std::uint8_t* flags) const;
  };

  Access access_ = Access::kNone;
  bool used_ = false;
  bool posted_ = false;
  bool lock_all_unchecked_ = false;
  int locks_ = 0;
  std::span<const Rank> targets_;
  std::unique_ptr<std::uint8_t, Free> flags_;  // by rank; pages of ranks that are not used are none
};

}  // namespace lamina::rma
