// SPDX-License-Identifier: BSD-3-Clause
// The locks of the members that share a block, as one process takes and releases them.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/rma/block.h"
#include "runtime/rma/messages.h"

namespace lamina::rma {

class Service;

class Locks {
 public:
  // `ranks`: of the members in the window. `self`: this process among them.
  Locks(Block* block, std::vector<Rank> ranks, std::size_t self, Messages* messages)
      : block_(block), ranks_(std::move(ranks)), self_(self), messages_(messages) {}
  void Serve(Service* service) { service_ = service; }

  // These wait until the lock is held. MPI_ERR_PROC_ABORTED: a member has died, and the lock may
  // be held for ever. `nested`: this process holds other locks of the window.
  int Lock(std::size_t member, int type, bool nested);
  int LockAll();
  void Unlock(std::size_t member, int type);
  void UnlockAll();

  // Tells everybody who waits that a lock was released.
  void Announce();
  // This process queues, or no longer queues, for locks of others.
  void SetFarWaits(bool waits) { Set(kFarWaits, waits); }
  BlockHeader& header() { return block_->header(); }
  TicketLock& lock(std::size_t member) { return block_->member(member).lock; }

 private:
  template <class Done>
  int WaitUntil(const Done& done);
  int Enter(Side side, bool nested);
  bool AnyDead() const;
  void Set(std::uint32_t bit, bool value);
  void Sleeps(int change);

  Block* const block_;
  const std::vector<Rank> ranks_;
  const std::size_t self_;
  Messages* const messages_;
  Service* service_ = nullptr;
  int sleeping_ = 0;  // threads of this process that wait for a lock
};

}  // namespace lamina::rma
