// SPDX-License-Identifier: BSD-3-Clause
// The locks of the members that share a block, as one process takes and releases them.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/core/request.h"
#include "runtime/rma/block.h"
#include "runtime/rma/lock_note.h"
#include "runtime/rma/messages.h"
#include "runtime/rma/origin.h"
#include "runtime/rma/request.h"

namespace lamina::rma {

class Service;

class Locks {
 public:
  // `ranks`: of the members in the window. `self`: this process among them. `elsewhere`: one member
  // of each other node.
  Locks(Block* block, std::vector<Rank> ranks, std::size_t self, Messages* messages, Origin* origin,
        std::vector<Rank> elsewhere)
      : block_(block),
        ranks_(std::move(ranks)),
        self_(self),
        messages_(messages),
        origin_(origin),
        elsewhere_(std::move(elsewhere)),
        far_(elsewhere_.size()) {}
  void Serve(Service* service) { service_ = service; }

  // These wait until the lock is held. MPI_ERR_PROC_ABORTED: somebody has died, and the lock may
  // be held for ever. `nested`: this process holds other locks of the window.
  int Lock(std::size_t member, int type, bool nested);
  int LockAll();
  void Unlock(std::size_t member, int type);
  int UnlockAll();
  // The same for the members of this node alone.
  void LeaveNode();

  // Tells everybody who waits that a lock was released.
  void Announce();
  // Finds out whether those live who hold locks of this node or wait for them, with the help of the
  // other members here. It does not wait for what they find; IsBroken then becomes true.
  void LookAround();
  bool IsBroken() const { return header().broken.load() != 0; }
  // Those who wait for a lock of this node get MPI_ERR_PROC_ABORTED.
  void Break();
  // This process queues, or no longer queues, for locks of others.
  void SetFarWaits(bool waits) { Set(kFarWaits, waits); }
  BlockHeader& header() const { return block_->header(); }
  TicketLock& lock(std::size_t member) const { return block_->member(member).lock; }
  // Says who has got the member's exclusive lock.
  void SetHolder(std::size_t member, Rank holder) {
    block_->member(member).holder.store(static_cast<std::uint32_t>(holder + 1),
                                        std::memory_order_relaxed);
  }
  // Tells who keeps others from a lock of that type: of the member, or with kLockAllOfNode of all.
  Keeper KeeperOf(std::size_t member, int type) const;

 private:
  // A lock that lock_all wants: of this node, or of another one by its member in `elsewhere_`.
  struct Wanted {
    bool held = false;
    bool asked = false;
    std::uint16_t phase = 0;           // this node: the phase of its word that lets us in
    core::Request* request = nullptr;  // another node: its answer is expected
    Verdict verdict;
  };

  template <class Done>
  int WaitUntil(int type, Rank target, const Done& done);
  template <class Done>
  bool WaitAWhile(const Done& done);
  void AskForRest();
  bool Came(Wanted* wanted);
  std::size_t CountHeld();
  Rank FirstMissing() const;
  void GiveBack();
  int GiveUp(int error);
  int Enter(Side side, std::size_t member, bool nested);
  void NoteWait(int type, Rank target) const;
  Keeper HolderOfAny() const;
  bool AnyDead() const;
  void AskMember(std::size_t member, Kind kind);
  void Set(std::uint32_t bit, bool value);
  void Sleeps(int change);

  Block* const block_;
  const std::vector<Rank> ranks_;
  const std::size_t self_;
  Messages* const messages_;
  Origin* const origin_;
  const std::vector<Rank> elsewhere_;
  Wanted near_;
  std::vector<Wanted> far_;  // in the order of `elsewhere_`
  int far_error_ = MPI_SUCCESS;
  Service* service_ = nullptr;
  int sleeping_ = 0;  // threads of this process that wait for a lock
};

}  // namespace lamina::rma
