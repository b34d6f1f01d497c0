// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/locks.h"

#include <mpi.h>

#include <cstring>

#include "runtime/base/clock.h"
#include "runtime/p2p/p2p.h"
#include "runtime/rma/request.h"
#include "runtime/rma/service.h"
#include "runtime/rma/tuning.h"

namespace lamina::rma {

void Locks::Set(std::uint32_t bit, bool value) {
  std::atomic<std::uint32_t>& waits = block_->member(self_).waits;
  const bool had = (waits.load(std::memory_order_relaxed) & bit) != 0;
  if (had == value) return;
  if (value) {
    waits.fetch_or(bit);
    header().waiters.fetch_add(1);
  } else {
    waits.fetch_and(~bit);
    header().waiters.fetch_sub(1);
  }
}

void Locks::Sleeps(int change) {
  sleeping_ += change;
  Set(kSleeps, sleeping_ != 0);
}

bool Locks::AnyDead() const {
  for (std::size_t member = 0; member < ranks_.size(); ++member)
    if (member != self_ && !memory::IsRunning(block_->member(member).pid)) return true;
  return false;
}

// A releaser that does not see that this process waits was early, so its release is seen by the
// look that follows.
template <class Done>
int Locks::WaitUntil(const Done& done) {
  struct Wait {
    Locks* self;
    const Done& done;
    std::uint32_t looks = 0;
    std::uint64_t look_around_ms = MonotonicMs() + kLookAroundMs;
    bool died = false;
  } wait{this, done};
  const auto is_over = [](void* argument) {
    auto* it = static_cast<Wait*>(argument);
    if (it->looks < kLooksBeforeSleep && ++it->looks == kLooksBeforeSleep) it->self->Sleeps(1);
    if (it->done()) return true;
    if (it->looks < kLooksBeforeSleep || MonotonicMs() < it->look_around_ms) return false;
    it->look_around_ms = MonotonicMs() + kLookAroundMs;
    it->died = it->self->AnyDead();
    return it->died;
  };
  if (!done()) p2p::WaitUntil(is_over, &wait);
  if (wait.looks == kLooksBeforeSleep) Sleeps(-1);
  return wait.died ? static_cast<int>(MPI_ERR_PROC_ABORTED) : static_cast<int>(MPI_SUCCESS);
}

int Locks::Enter(Side side, bool nested) {
  std::uint16_t phase = 0;
  if (header().word.Enter(side, nested, &phase)) return MPI_SUCCESS;
  return WaitUntil([&] { return header().word.HasCome(phase); });
}

int Locks::Lock(std::size_t member, int type, bool nested) {
  TicketLock& own = lock(member);
  if (type == MPI_LOCK_SHARED) {
    const std::uint32_t ticket = own.Draw();
    bool held = false;
    const int error = WaitUntil([&] { return held = held || own.TryShared(ticket); });
    // The next reader may wait for this one to have looked.
    if (error == MPI_SUCCESS) Announce();
    return error;
  }
  if (const int error = Enter(Side::kExclusive, nested); error != MPI_SUCCESS) return error;
  const std::uint32_t ticket = own.Draw();
  return WaitUntil([&] { return own.TryExclusive(ticket); });
}

int Locks::LockAll() { return Enter(Side::kAll, false); }

void Locks::Unlock(std::size_t member, int type) {
  if (type == MPI_LOCK_SHARED) {
    lock(member).ReleaseShared();
  } else {
    lock(member).ReleaseExclusive();
    header().word.Leave();
  }
  Announce();
}

void Locks::UnlockAll() {
  header().word.Leave();
  Announce();
}

void Locks::Announce() {
  if (header().waiters.load() == 0) return;
  for (std::size_t member = 0; member < ranks_.size(); ++member) {
    const std::uint32_t waits = block_->member(member).waits.load();
    if (member == self_) {
      if ((waits & kFarWaits) != 0 && service_ != nullptr) service_->TryLocks();
      continue;
    }
    if ((waits & kSleeps) != 0) p2p::Nudge(messages_->comm()->peers[ranks_[member]]);
    if ((waits & kFarWaits) != 0) {
      RequestHeader header;
      header.kind = Kind::kLooseLocks;
      const auto* bytes = reinterpret_cast<const std::byte*>(&header);
      messages_->Send(ranks_[member], kRequestTag, {bytes, bytes + sizeof header});
    }
  }
}

}  // namespace lamina::rma
