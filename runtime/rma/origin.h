// SPDX-License-Identifier: BSD-3-Clause
// The origin's side of access to members that this process does not reach itself: by messages, or
// by a device (device.h). Data that goes out by message is copied into requests at once, so only
// data that comes back is ever waited for.
//
// Functions return an MPI error class. What a target finds wrong is known with the next flush.
//
// Threads:    the caller holds the library lock at MPI_THREAD_MULTIPLE.
// Allocation: for every request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "runtime/core/activity.h"
#include "runtime/core/request.h"
#include "runtime/rma/device.h"
#include "runtime/rma/goal.h"
#include "runtime/rma/messages.h"
#include "runtime/rma/place.h"
#include "runtime/rma/request.h"

namespace lamina::rma {

// Data of one operation that comes back, in one or more answers.
class Fetch final : public core::Activity {
 public:
  // `owner` finishes when all is there; it may be null. The type of `into` is held.
  Fetch(Messages* messages, Rank target, const Buffer& into, core::Request* owner);
  ~Fetch() override;

  // Expects the next `bytes` bytes of the data with this tag.
  void Expect(int tag, std::int64_t bytes);
  // No more answers are expected.
  void Seal();
  void Advance() override;

  Rank target() const { return target_; }
  bool done() const { return done_; }
  int error() const { return error_; }

 private:
  struct Answer {
    core::Request* request;
    std::int64_t position;
    std::int64_t bytes;
    std::vector<std::byte> staging;
  };

  Messages* const messages_;
  const Rank target_;
  const Buffer into_;
  core::Request* owner_;
  std::list<Answer> answers_;
  std::int64_t expected_ = 0;
  bool sealed_ = false;
  bool done_ = false;
  int error_ = MPI_SUCCESS;
};

class Origin {
 public:
  explicit Origin(Messages* messages) : messages_(messages), device_(messages) {}
  // From now on a device is used where there is one.
  void UseDevice() { uses_device_ = true; }

  // `stays`: the data is not changed before the next flush.
  int Put(const Goal& goal, const Buffer& from, bool stays);
  // `owner` as in Fetch.
  int Get(const Goal& goal, const Buffer& into, core::Request* owner);
  int Accumulate(const Goal& goal, const Accumulation& it, core::Request* owner);
  int CompareAndSwap(const Goal& goal, const Swap& it);

  // Waits until the lock is held.
  int Lock(Rank target, int type, bool nested);
  // Asks for the lock. It is held when the request has completed and the verdict is good; both are
  // the caller's.
  core::Request* AskForLock(Rank target, int type, bool nested, Verdict* verdict) {
    return Question(Kind::kLock, target, type, nested, verdict);
  }
  // Asks whether those live who hold locks of the target's node or wait for them. If not, the
  // answers to what was asked for there say so.
  void AskToLookAround(Rank target);
  // What was done to the target is complete on both sides before the lock is released.
  int Unlock(Rank target);
  // The same for several targets to which nothing was done since the last flush.
  int UnlockAll(std::span<const Rank> targets) { return AskAndWait(Kind::kUnlock, targets); }
  // Releases it without waiting. The caller will ask the target for another lock.
  void ReleaseLock(Rank target);
  // Completes what was done to one target, or to all.
  int Flush(Rank target);
  int FlushAll();
  // Completes it here only.
  int FlushLocal(Rank target) { return FlushTouched(target); }
  int FlushLocalAll() { return FlushTouched(kEveryone); }

 private:
  static constexpr Rank kEveryone = -1;

  int NextTag() { return kFirstAnswerTag + static_cast<int>(next_tag_++ % kAnswerTags); }
  void Touch(Rank target);
  Device::Target* ReachByDevice(const Goal& goal, std::int64_t* offset);
  bool MustFlush(Rank target);
  int AskForFlush(std::span<const Rank> targets);
  void Ask(Rank target, RequestHeader header, std::span<const datatype::Run> runs,
           std::span<const Buffer> data, std::int64_t position, std::int64_t bytes);
  Fetch* NewFetch(Rank target, const Buffer& into, core::Request* owner);
  int WaitForFetches(Rank target);
  int FlushTouched(Rank target);
  core::Request* Question(Kind kind, Rank target, int lock_type, bool nested, Verdict* verdict);
  int AskAndWait(Kind kind, std::span<const Rank> targets);

  Messages* const messages_;
  Device device_;
  bool uses_device_ = false;
  std::uint32_t next_tag_ = 0;
  std::vector<Rank> touched_;   // targets of which something is not flushed
  std::vector<Rank> flushing_;  // targets that threads wait for in a flush
  std::list<std::unique_ptr<Fetch>> fetches_;
};

}  // namespace lamina::rma
