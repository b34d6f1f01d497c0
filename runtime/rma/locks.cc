// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/locks.h"

#include <mpi.h>

#include <algorithm>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/event_ring.h"
#include "runtime/p2p/awaited.h"
#include "runtime/p2p/p2p.h"
#include "runtime/rma/request.h"
#include "runtime/rma/service.h"
#include "runtime/rma/tuning.h"
#include "runtime/trace/trace.h"

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

// Waits until `done`, or for kLookAroundMs. A releaser that does not see that this process waits
// was early, so its release is seen by the look that follows.
template <class Done>
bool Locks::WaitAWhile(const Done& done) {
  struct Wait {
    Locks* self;
    const Done& done;
    std::uint32_t looks = 0;
    std::uint64_t until_ms = MonotonicMs() + kLookAroundMs;
    bool is_done = false;
  } wait{this, done};
  const auto is_over = [](void* argument) {
    auto* it = static_cast<Wait*>(argument);
    if (it->looks < kLooksBeforeSleep && ++it->looks == kLooksBeforeSleep) it->self->Sleeps(1);
    it->is_done = it->done();
    return it->is_done || (it->looks == kLooksBeforeSleep && MonotonicMs() >= it->until_ms);
  };
  p2p::WaitUntil(is_over, &wait);
  if (wait.looks == kLooksBeforeSleep) Sleeps(-1);
  return wait.is_done;
}

Keeper Locks::HolderOfAny() const {
  for (std::size_t member = 0; member < ranks_.size(); ++member)
    if (const std::uint32_t holder = block_->member(member).holder.load(); holder != 0)
      return {static_cast<Rank>(holder - 1), 0};
  return {};
}

Keeper Locks::KeeperOf(std::size_t member, int type) const {
  if (type == kLockAllOfNode) return HolderOfAny();
  if (const std::uint32_t readers = lock(member).Readers(); readers != 0) return {kNobody, readers};
  if (lock(member).IsTaken())
    return {static_cast<Rank>(block_->member(member).holder.load()) - 1, 0};
  if (const std::uint32_t all = header().word.Inside(Side::kAll); all != 0) return {kNobody, all};
  return HolderOfAny();
}

void Locks::NoteWait(int type, Rank target) const {
  const auto near = std::ranges::lower_bound(ranks_, target);
  const bool is_near = near != ranks_.end() && *near == target;
  Note(&CurrentEventRing()->waits, *messages_->comm(), type, target,
       is_near ? KeeperOf(static_cast<std::size_t>(near - ranks_.begin()), type) : Keeper{});
}

// The lock of `target` is waited for, or one that lock_all takes by it.
template <class Done>
int Locks::WaitUntil(int type, Rank target, const Done& done) {
  if (done()) return MPI_SUCCESS;
  trace::Count(trace::Counter::kLockWaits);
  const p2p::OneWait one_wait;
  int error = MPI_SUCCESS;
  std::uint64_t ask_ms = MonotonicMs() + kAskAroundMs;
  while (!WaitAWhile(done)) {
    NoteWait(type, target);
    if (AnyDead()) Break();
    if (IsBroken()) {
      error = MPI_ERR_PROC_ABORTED;
      break;
    }
    if (MonotonicMs() < ask_ms) continue;
    ask_ms = MonotonicMs() + kAskAroundMs;
    LookAround();
    for (std::size_t i = 0; i < far_.size(); ++i)
      if (far_[i].request != nullptr) origin_->AskToLookAround(elsewhere_[i]);
  }
  Forget(&CurrentEventRing()->waits, *messages_->comm());
  return error;
}

void Locks::AskMember(std::size_t member, Kind kind) {
  RequestHeader header;
  header.kind = kind;
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  messages_->Send(ranks_[member], kRequestTag, {bytes, bytes + sizeof header});
}

// Each member alone knows for which processes of other nodes it keeps locks.
void Locks::LookAround() {
  if (AnyDead()) Break();
  if (elsewhere_.empty() || service_ == nullptr || IsBroken()) return;
  service_->LookAround();
  for (std::size_t member = 0; member < ranks_.size(); ++member)
    if (member != self_) AskMember(member, Kind::kLookAround);
}

void Locks::Break() {
  if (header().broken.exchange(1) == 0) Announce();
}

int Locks::Enter(Side side, std::size_t member, bool nested) {
  std::uint16_t phase = 0;
  if (header().word.Enter(side, nested, &phase)) return MPI_SUCCESS;
  const int type = side == Side::kAll ? kLockAllOfNode : static_cast<int>(MPI_LOCK_EXCLUSIVE);
  return WaitUntil(type, ranks_[member], [&] { return header().word.HasCome(phase); });
}

int Locks::Lock(std::size_t member, int type, bool nested) {
  TicketLock& own = lock(member);
  if (type == MPI_LOCK_SHARED) {
    const std::uint32_t ticket = own.Draw();
    bool held = false;
    const int error =
        WaitUntil(type, ranks_[member], [&] { return held = held || own.TryShared(ticket); });
    // The next reader may wait for this one to have looked.
    if (error == MPI_SUCCESS) Announce();
    return error;
  }
  if (const int error = Enter(Side::kExclusive, member, nested); error != MPI_SUCCESS) return error;
  const std::uint32_t ticket = own.Draw();
  const int error = WaitUntil(type, ranks_[member], [&] { return own.TryExclusive(ticket); });
  if (error == MPI_SUCCESS) SetHolder(member, ranks_[self_]);
  return error;
}

// Asks for the locks that are neither held nor asked for yet.
void Locks::AskForRest() {
  const bool nested = CountHeld() != 0;
  if (!std::exchange(near_.asked, true))
    near_.held = header().word.Enter(Side::kAll, nested, &near_.phase);
  for (std::size_t i = 0; i < far_.size(); ++i)
    if (!std::exchange(far_[i].asked, true))
      far_[i].request = origin_->AskForLock(elsewhere_[i], kLockAllOfNode, true, &far_[i].verdict);
}

bool Locks::Came(Wanted* wanted) {
  if (wanted->held || !wanted->asked) return wanted->held;
  if (wanted == &near_) return near_.held = header().word.HasCome(near_.phase);
  if (!wanted->request->complete) return false;
  int error = wanted->request->error;
  if (error == MPI_SUCCESS) error = wanted->verdict.error_class;
  core::FreeRequest(std::exchange(wanted->request, nullptr));
  if (error != MPI_SUCCESS) far_error_ = error;
  wanted->asked = wanted->held = error == MPI_SUCCESS;
  return wanted->held;
}

std::size_t Locks::CountHeld() {
  std::size_t held = Came(&near_) ? 1 : 0;
  for (Wanted& wanted : far_) held += Came(&wanted) ? 1 : 0;
  return held;
}

void Locks::GiveBack() {
  if (std::exchange(near_.held, false)) {
    near_.asked = false;
    LeaveNode();
  }
  for (std::size_t i = 0; i < far_.size(); ++i)
    if (std::exchange(far_[i].held, false)) {
      far_[i].asked = false;
      origin_->ReleaseLock(elsewhere_[i]);
    }
}

// Somebody has died. What comes of the rest is given back as it comes.
int Locks::GiveUp(int error) {
  GiveBack();
  for (Wanted& wanted : far_) {
    if (wanted.request == nullptr) continue;
    if (!wanted.request->complete && !p2p::Cancel(wanted.request)) p2p::Wait(wanted.request);
    core::FreeRequest(std::exchange(wanted.request, nullptr));
    wanted.asked = false;
  }
  if (near_.asked &&
      WaitUntil(kLockAllOfNode, ranks_[self_], [this] { return Came(&near_); }) == MPI_SUCCESS)
    GiveBack();
  near_.asked = false;
  far_error_ = MPI_SUCCESS;
  return error;
}

// One member of a node that has not answered yet.
Rank Locks::FirstMissing() const {
  for (std::size_t i = 0; i < far_.size(); ++i)
    if (far_[i].asked && !far_[i].held) return elsewhere_[i];
  return ranks_[self_];
}

// All nodes are asked at once. Whoever holds an exclusive lock on one node may wait for this
// process on another, so what is held is given back if the rest does not come soon. The places in
// the queues of the rest are kept, and once one of them has come, the others are asked for again.
int Locks::LockAll() {
  if (far_.empty()) return Enter(Side::kAll, self_, false);
  const std::size_t all = far_.size() + 1;
  for (std::uint64_t patience_ms = kPatienceMs;; patience_ms *= 2) {
    AskForRest();
    const std::uint64_t until_ms = MonotonicMs() + patience_ms;
    while (CountHeld() < all && far_error_ == MPI_SUCCESS && MonotonicMs() < until_ms)
      if (!p2p::Progress()) p2p::TestedInVain();
    if (far_error_ != MPI_SUCCESS) return GiveUp(far_error_);
    if (CountHeld() == all) return MPI_SUCCESS;
    GiveBack();
    const int error = WaitUntil(kLockAllOfNode, FirstMissing(),
                                [this] { return CountHeld() != 0 || far_error_ != MPI_SUCCESS; });
    if (error != MPI_SUCCESS) return GiveUp(error);
  }
}

void Locks::Unlock(std::size_t member, int type) {
  if (type == MPI_LOCK_SHARED) {
    lock(member).ReleaseShared();
  } else {
    SetHolder(member, kNobody);
    lock(member).ReleaseExclusive();
    header().word.Leave();
  }
  Announce();
}

int Locks::UnlockAll() {
  near_ = {};
  for (Wanted& wanted : far_) wanted = {};
  LeaveNode();
  return origin_->UnlockAll(elsewhere_);
}

void Locks::LeaveNode() {
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
    if ((waits & kFarWaits) != 0) AskMember(member, Kind::kLooseLocks);
  }
}

}  // namespace lamina::rma
